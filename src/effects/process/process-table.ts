import { execFile } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { hasLimitIn, limitRangeOf } from './limit-mark.ts'

/** A living process, as the kernel shows it. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly session: number
  /** When it started, in the kernel's ticks since the machine did; 0 where that is not known. */
  readonly startedTick: number
  /** Whether its environment carries the text, or one of its limits the number of it. */
  readonly marked: boolean
}

const run = promisify(execFile)
const page = Buffer.alloc(4_096)

/**
 * Every living process; one that has ended and was not yet waited for is not living. The
 * marks of processes that started before `sinceTick` are not looked at.
 */
export async function readProcessTable(
  mark: string,
  sinceTick = 0,
): Promise<readonly ProcessEntry[]> {
  if (process.platform !== 'linux') return readWithPs(mark)
  const range = limitRangeOf(mark)
  const isMarked = (pid: number) =>
    readEnvironment(pid).includes(mark) || (range !== undefined && hasLimitIn(pid, range))
  return readStatuses().map((status) => {
    const { pid, startedTick } = status
    return { ...status, marked: startedTick >= sinceTick && isMarked(pid) }
  })
}

/** What the kernel says of a process itself. */
export type ProcessStatus = Omit<ProcessEntry, 'marked'>

/** Every living process, on Linux. */
function readStatuses(): readonly ProcessStatus[] {
  // Read at once and in place: 0.7 ms for 80 processes and 6 ms for 600, where as many promises
  // took 9 and 157.
  return readdirSync('/proc').flatMap((name) => {
    const status = isNumber(name) ? readStatus(Number(name)) : undefined
    return status ?? []
  })
}

/** One process, or undefined when it is not living. */
export function readStatus(pid: number): ProcessStatus | undefined {
  const stat = readStart(`/proc/${pid}/stat`)
  // The name of the command may hold spaces and brackets; what follows the last one does not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, , session] = fields
  if (stat === '' || state === 'Z' || state === 'X') return undefined
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    startedTick: Number(fields[19]),
  }
}

/** When a process started, also when it has ended since and nobody has waited for it. */
export function readStartedTick(pid: number): number {
  const stat = readStart(`/proc/${pid}/stat`)
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 0)
}

function isNumber(name: string): boolean {
  const first = name.charCodeAt(0)
  return first >= 48 && first <= 57
}

function readStart(path: string): string {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    return page.toString('latin1', 0, readSync(file, page, 0, page.length, 0))
  } catch {
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

/** macOS has no /proc; its ps shows environments of one's own processes, and groups for sessions. */
async function readWithPs(mark: string): Promise<readonly ProcessEntry[]> {
  const args = ['-axEwwo', 'pid=,ppid=,pgid=,stat=,command=']
  const { stdout } = await run('ps', args, { maxBuffer: 64 * 1024 * 1024 })
  return stdout.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line)
    if (match === null || match[4]?.startsWith('Z')) return []
    const [, pid, parent, session] = match.map(Number) as [number, number, number, number]
    return [{ pid, parent, session, startedTick: 0, marked: match[5]?.includes(mark) ?? false }]
  })
}
