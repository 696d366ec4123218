import { relative } from 'node:path'
import { findConfigFile, type ReadFile, readConfigFile } from './config-file.ts'
import { type Merged, mergeLayers } from './layers.ts'
import {
  type Environment,
  findRepository,
  type RepositoryPlace,
  userConfigFolder,
} from './place.ts'
import { isTrusted } from './trust-file.ts'

/** The name of a repository's file, before its ending. */
export const CONFIG_STEM = 'slipway.config'

/** The configuration that holds in a folder, and where it came from. */
export interface LoadedConfig extends Merged {
  readonly repository: RepositoryPlace | undefined
  readonly userFile: ReadFile | undefined
  readonly repositoryFile: ReadFile | undefined
  /** True also where the repository has no file. */
  readonly isTrusted: boolean
}

/**
 * Reads the configuration that holds in a folder: defaults, the user's file, the repository's. It
 * starts nothing and asks nobody. Throws a usage error when a file cannot be used.
 */
export async function loadConfig(folder: string, environment: Environment): Promise<LoadedConfig> {
  const repository = findRepository(folder)
  const userFile = await readUserFile(environment)
  const repositoryFile = repository && (await readRepositoryFile(repository))
  const trusted = repositoryFile === undefined || (await isTrusted(repositoryFile, environment))
  const merged = mergeLayers({
    user: userFile?.content ?? {},
    repository: repositoryFile?.content ?? {},
    isTrusted: trusted,
  })
  return { ...merged, repository, userFile, repositoryFile, isTrusted: trusted }
}

async function readUserFile(environment: Environment): Promise<ReadFile | undefined> {
  const path = await findConfigFile(userConfigFolder(environment), 'config')
  return path === undefined ? undefined : readConfigFile(path, path, 'user')
}

async function readRepositoryFile({ root }: RepositoryPlace): Promise<ReadFile | undefined> {
  const path = await findConfigFile(root, CONFIG_STEM)
  return path === undefined ? undefined : readConfigFile(path, relative(root, path), 'repository')
}

/** What the user should know about parts that are not heard, in one line for each; or nothing. */
export function describeIgnored({ ignored, repositoryFile }: LoadedConfig): readonly string[] {
  if (ignored.length === 0 || repositoryFile === undefined) return []
  const keys = ignored.map(({ key }) => key).join(', ')
  return [
    `${repositoryFile.name} is not trusted, so these parts of it are ignored: ${keys}.`,
    '`slipway config trust` shows what they would set, and trusts them.',
  ]
}
