import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { realFolder } from '../effects/process/real-folder.ts'
import {
  makeStateFolder,
  refuseUnwritable,
  toStateFolderError,
  writeOwnFile,
} from '../journal/file-system.ts'
import { findRepository } from './config/place.ts'
import { UsageError } from './usage-error.ts'

export interface StateOptions {
  readonly state?: string
}

/** The repository that a command is about, and where its runs are kept, by its one real path. */
export function findPlace({ state }: StateOptions): { root: string; stateFolder: string } {
  const repository = findRepository(process.cwd())
  if (repository === undefined && state === undefined) {
    throw new UsageError('This is not a git repository. Go to one, or make one with git init.')
  }
  const root = repository?.root ?? process.cwd()
  return { root, stateFolder: realFolder(state ?? join(root, '.slipway')) }
}

/** Makes a state folder that git ignores by a file of its own, and that something can begin in. */
export function prepareStateFolder(stateFolder: string): void {
  makeStateFolder(stateFolder)
  refuseUnwritable(stateFolder)
  const ignore = join(stateFolder, '.gitignore')
  try {
    if (!existsSync(ignore)) writeOwnFile(ignore, '*\n')
  } catch (error) {
    throw toStateFolderError(error, stateFolder)
  }
}
