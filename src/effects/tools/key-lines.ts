import { readBytes } from './read-tools.ts'
import type { ToolContext } from './tool.ts'

/** A line that was found, and is of a private key for all that can be seen of it. */
const FOUND = /^(.{1,4096}?):(\d{1,9}):[ \t]*[A-Za-z0-9+/=]{24,128}\r?$/
const KEY = 'PRIVATE KEY-----'

/** So many files are looked at; whoever has more such lines has no keys, but data. */
const FILES_MAX = 100

/**
 * What a search has found, without lines of private keys: by themselves they look like any other, so
 * the files that they are from are looked at.
 */
export async function withoutKeyLines(
  found: string,
  { workspace, outputs }: Pick<ToolContext, 'workspace' | 'outputs'>,
): Promise<string> {
  const files = new Map<string, readonly string[]>()
  const shown: string[] = []
  for (const line of found.split('\n')) {
    const [, path, number] = FOUND.exec(line) ?? []
    if (path !== undefined && !files.has(path) && files.size < FILES_MAX) {
      const text = (await readBytes(workspace, path).catch(() => '')).toString()
      files.set(path, text.includes(KEY) ? outputs.cleanByLine(text).split('\n') : [])
    }
    const clean = path === undefined ? undefined : files.get(path)?.[Number(number) - 1]
    shown.push(clean === undefined ? line : `${path}:${number}:${clean}`)
  }
  return shown.join('\n')
}
