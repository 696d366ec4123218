import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'

/** The variables of a user's environment. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The user's repository. */
export interface RepositoryPlace {
  /** The folder with the user's files. */
  readonly root: string
  /** Its `.git`, a folder or, for a further work tree, a file. */
  readonly git: string
}

/** The repository that a folder lies in, found without starting git. */
export function findRepository(folder: string): RepositoryPlace | undefined {
  for (let root = resolve(folder); ; root = dirname(root)) {
    const git = join(root, '.git')
    if (existsSync(git)) return { root, git }
    if (root === dirname(root)) return undefined
  }
}

/** Where the user's own configuration is: a file `config.yaml`, `.yml` or `.json`. */
export function userConfigFolder(environment: Environment): string {
  return join(xdgFolder(environment, 'XDG_CONFIG_HOME', '.config'), 'slipway')
}

/** Where it is remembered which files of repositories the user trusts. */
export function trustFilePath(environment: Environment): string {
  return join(xdgFolder(environment, 'XDG_STATE_HOME', '.local/state'), 'slipway', 'trust.json')
}

/** By the XDG specification a path that is not absolute counts as none. */
function xdgFolder(environment: Environment, variable: string, otherwise: string): string {
  const named = environment[variable]
  if (named !== undefined && isAbsolute(named)) return named
  return join(environment.HOME || homedir(), otherwise)
}
