import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/**
 * A second mark of processes, on Linux: a limit that a process hands down to all that it starts,
 * whatever they do with their parent, their session and their environment. The kernel has not
 * looked at the limit of file locks since 2.4, so that its value is free to carry a number. One may
 * lower it, and so get rid of it, but nothing does so by chance.
 */
const COUNT_BITS = 22n
const SELF_BITS = 16n
const FOLDER_BITS = 24n

/** The numbers of all marks that begin with a text such as `NAME=<folder>.<self>.<count>.`. */
export interface LimitRange {
  readonly first: bigint
  readonly last: bigint
}

/** Undefined for a text that is no mark. */
export function limitRangeOf(mark: string): LimitRange | undefined {
  const [, folder, self, count] =
    /^\w+=([0-9a-f]{16})\.(?:([0-9a-f]{12})\.)?(?:(\d+)\.)?$/.exec(mark) ?? []
  if (folder === undefined) return undefined
  const parts = [
    [BigInt(`0x${folder}`), FOLDER_BITS],
    [self === undefined ? undefined : BigInt(`0x${self}`), SELF_BITS],
    [count === undefined ? undefined : BigInt(count), COUNT_BITS],
  ] as const
  // The highest bit tells them from limits that anybody else would set.
  let first = 1n
  let last = 1n
  for (const [value, bits] of parts) {
    first = (first << bits) | (value === undefined ? 0n : BigInt.asUintN(Number(bits), value))
    last = (last << bits) | BigInt.asUintN(Number(bits), value ?? -1n)
  }
  return { first, last }
}

/** Whether a process has a limit in the range. */
export function hasLimitIn(pid: number | 'self', { first, last }: LimitRange): boolean {
  const limit = readLimit(pid)
  return limit !== undefined && limit >= first && limit <= last
}

/** Undefined where there is none, or it cannot be read. */
function readLimit(pid: number | 'self'): bigint | undefined {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'latin1')
    const digits = /^Max file locks +\S+ +(\d+)/m.exec(limits)?.[1]
    return digits === undefined ? undefined : BigInt(digits)
  } catch {
    return undefined
  }
}

const SETTERS = ['/usr/bin/prlimit', '/bin/prlimit', '/usr/local/bin/prlimit']

/** Puts a program before a command that gives it the mark, or nothing where that is impossible. */
export type SetMark = (
  argv: readonly [string, ...string[]],
  mark: string,
  where: Where,
) => readonly [string, ...string[]]

interface Where {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** What marks commands here. One who has such a limit already cannot give others a higher one. */
export function openLimitMarks(): SetMark {
  const isFree = process.platform === 'linux' && readLimit('self') === undefined
  const setter = isFree ? SETTERS.find(isProgram) : undefined
  return (argv, mark, where) => {
    const range = limitRangeOf(mark)
    // One that does not exist is to fail by itself, and not in our name.
    if (setter === undefined || range === undefined || !canStart(argv[0], where)) return argv
    return [setter, `--locks=${range.first}:${range.first}`, '--', ...argv]
  }
}

function canStart(program: string, { cwd, env }: Where): boolean {
  if (program.includes('/')) return isProgram(isAbsolute(program) ? program : join(cwd, program))
  const folders = (env.PATH ?? '').split(':').filter(isAbsolute)
  return folders.some((folder) => isProgram(join(folder, program)))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
