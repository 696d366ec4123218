import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Ended } from '../process/command.ts'
import type { Processes } from '../process/processes.ts'
import { ObjectFinder } from './object-finder.ts'

/** Git did not do what it was asked to. */
export class GitError extends Error {
  override readonly name = 'GitError'
  readonly exitCode: number | null
  /** What it printed besides its complaint. */
  readonly output: string

  constructor(command: string, ended: Ended) {
    const said = ended.stderr.toString().trim() || ended.how
    super(`git ${command}: ${said.slice(0, 2_000)}`)
    this.exitCode = ended.exitCode
    this.output = ended.stdout.toString()
  }
}

export interface GitOptions {
  /** The repository; without one the command makes its own, as `clone` and `init` do. */
  readonly repository?: string
  readonly workTree?: string
  readonly index?: string
  readonly stdin?: string | Uint8Array
  /** Exit codes that are answers and not failures; 0 alone when absent. */
  readonly accept?: readonly number[]
  /** How other repositories may be reached; by path alone when absent. */
  readonly protocols?: string
  /** Configuration for this command that is secret, and so belongs on no command line. */
  readonly secretConfig?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Ten minutes when absent. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

interface GitAnswer {
  readonly exitCode: number
  readonly stdout: Buffer
  /** The output without its last line end. */
  readonly text: string
}

/** Git, and nothing that a repository, a user or a machine has configured to run beside it. */
export interface Git {
  /** Runs one command to its end. Rejects with a GitError when git does. */
  run(args: readonly string[], options?: GitOptions): Promise<GitAnswer>
  /** The ids of objects by the names that git knows them under; undefined for what is not there. */
  find(repository: string, names: readonly string[]): Promise<readonly (string | undefined)[]>
}

const TIMEOUT_MS = 600_000
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024

/** Of one that is asked again and again, only what it complains of is kept. */
const HELD_OPEN = {
  timeoutMs: Infinity,
  outputBytesMax: 4_096,
  printedBytesMax: Number.MAX_SAFE_INTEGER,
}

/**
 * What git might run or change on its own. A repository that we made has none of this in its own
 * configuration; these win over one that somebody else made.
 */
const CONFIG: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.autocrlf=false',
  'core.safecrlf=false',
  // Names that lead into .git on the file systems of other machines are plain names on Linux.
  ...(process.platform === 'linux' ? ['core.protectHFS=false', 'core.protectNTFS=false'] : []),
  'core.sshCommand=ssh -oBatchMode=yes',
  'core.askPass=true',
  'core.pager=cat',
  'core.fsync=committed',
  'core.fsyncMethod=batch',
  'credential.helper=',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'diff.ignoreSubmodules=all',
  'commit.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'safe.directory=*',
  'advice.detachedHead=false',
]

/**
 * The commands that start others to do their work. The rest is left none to find: a `git add` would
 * run `git status` in each repository inside a workspace, and with it what that one configures.
 */
const STARTS_OTHERS: ReadonlySet<string> = new Set([
  'clone',
  'fetch',
  'ls-remote',
  'push',
  'repack',
])
const NOWHERE = '/nonexistent'

export const AUTHOR = { name: 'Slipway', email: 'slipway@localhost' }

export function openGit(processes: Processes): Git {
  const path = searchPath()
  const program = findProgram('git', path)
  const commandFor = (args: readonly string[], options: GitOptions) => {
    const search = STARTS_OTHERS.has(commandOf(args))
      ? { PATH: path.join(':') }
      : { PATH: NOWHERE, GIT_EXEC_PATH: NOWHERE }
    return {
      argv: [program, ...CONFIG.flatMap((setting) => ['-c', setting]), ...args] as const,
      cwd: options.workTree ?? options.repository ?? '/',
      env: { ...search, ...environmentFor(options), ...options.env },
    }
  }
  const finder = new ObjectFinder((repository, stdin, onStdout) => {
    const command = commandFor(['cat-file', '--batch-check=%(objectname)'], { repository })
    return processes.run({ ...command, ...HELD_OPEN, stdin, onStdout }, 'trusted')
  })
  return {
    find: (repository, names) => finder.find(repository, names),
    async run(args, options = {}) {
      const stdin = options.stdin === undefined ? {} : { stdin: options.stdin }
      const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
      const signal = options.signal === undefined ? {} : { signal: options.signal }
      const bounds = { timeoutMs, outputBytesMax: OUTPUT_BYTES_MAX, ...signal }
      const command = { ...commandFor(args, options), ...stdin, ...bounds }
      const ended = await processes.run(command, 'trusted')
      const { exitCode, stdout } = ended
      if (exitCode === null || !(options.accept ?? [0]).includes(exitCode)) {
        throw new GitError(commandOf(args), ended)
      }
      return {
        exitCode,
        stdout,
        get text() {
          return stdout.toString().replace(/\n$/, '')
        },
      }
    },
  }
}

/** An entry that is not absolute would be looked up in the folder that git works in. */
function searchPath(): readonly string[] {
  return (process.env.PATH ?? '/usr/bin:/bin').split(':').filter(isAbsolute)
}

function findProgram(name: string, path: readonly string[]): string {
  const isProgram = (file: string) => {
    try {
      accessSync(file, constants.X_OK)
      return statSync(file).isFile()
    } catch {
      return false
    }
  }
  return path.map((folder) => join(folder, name)).find(isProgram) ?? name
}

/** The command among the arguments, which may begin with settings. */
function commandOf(args: readonly string[]): string {
  let i = 0
  while (args[i] === '-c') i += 2
  return args[i] ?? ''
}

function environmentFor(options: GitOptions): Record<string, string> {
  const { repository, workTree, index, protocols, secretConfig = {} } = options
  const env: Record<string, string> = {
    HOME: NOWHERE,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ALLOW_PROTOCOL: protocols ?? 'file',
    GIT_AUTHOR_NAME: AUTHOR.name,
    GIT_AUTHOR_EMAIL: AUTHOR.email,
    GIT_COMMITTER_NAME: AUTHOR.name,
    GIT_COMMITTER_EMAIL: AUTHOR.email,
  }
  if (repository !== undefined) env.GIT_DIR = repository
  if (workTree !== undefined) env.GIT_WORK_TREE = workTree
  if (index !== undefined) env.GIT_INDEX_FILE = index
  const secrets = Object.entries(secretConfig)
  env.GIT_CONFIG_COUNT = String(secrets.length)
  for (const [i, [key, value]] of secrets.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = key
    env[`GIT_CONFIG_VALUE_${i}`] = value
  }
  return env
}
