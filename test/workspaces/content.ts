import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { contentOf } from '../git/world.ts'

/** A hash over all files and folders of a workspace, with those of repositories inside. */
export function hashOf(folder: string): string {
  const parts = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== '.git')
  const lines = parts.flatMap((entry) => {
    if (!entry.isDirectory()) return []
    const path = join(folder, entry.name)
    return [...foldersIn(path), ...contentOf(path, [])].map((line) => `${entry.name}/${line}`)
  })
  const all = [...contentOf(folder), ...lines.sort()]
  return createHash('sha256').update(all.join('\n')).digest('hex')
}

function foldersIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  const below = entries.flatMap((entry) =>
    entry.isDirectory()
      ? foldersIn(join(folder, entry.name)).map((path) => `${entry.name}/${path}`)
      : [],
  )
  return ['', ...below]
}
