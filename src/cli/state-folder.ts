import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { findRepository } from './config/place.ts'
import { UsageError } from './usage-error.ts'

export interface StateOptions {
  readonly state?: string
}

/** The repository that a command is about, and where its runs are kept. */
export function findPlace({ state }: StateOptions): { root: string; stateFolder: string } {
  const repository = findRepository(process.cwd())
  if (repository === undefined && state === undefined) {
    throw new UsageError('This is not a git repository. Go to one, or make one with git init.')
  }
  const root = repository?.root ?? process.cwd()
  return { root, stateFolder: state === undefined ? join(root, '.slipway') : resolve(state) }
}

/** Makes a state folder that git ignores by a file of its own. */
export async function prepareStateFolder(stateFolder: string): Promise<void> {
  await mkdir(stateFolder, { recursive: true, mode: 0o700 })
  const ignore = join(stateFolder, '.gitignore')
  if (!existsSync(ignore)) await writeFile(ignore, '*\n')
}
