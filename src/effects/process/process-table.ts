import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** A living process, as the kernel shows it. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Whether its environment carries the text. */
  readonly marked: boolean
}

const run = promisify(execFile)

/** Every living process; one that has ended and was not yet waited for is not living. */
export async function readProcessTable(mark: string): Promise<readonly ProcessEntry[]> {
  if (process.platform !== 'linux') return readWithPs(mark)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const entries = await Promise.all(pids.map((pid) => readEntry(pid, mark)))
  return entries.filter((entry) => entry !== undefined)
}

async function readEntry(pid: string, mark: string): Promise<ProcessEntry | undefined> {
  try {
    const [stat, environment] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
    ])
    // The name of the command may hold spaces and brackets; what follows the last one does not.
    const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      marked: environment.includes(mark),
    }
  } catch {
    return undefined
  }
}

/** macOS has no /proc; its ps shows environments of one's own processes. */
async function readWithPs(mark: string): Promise<readonly ProcessEntry[]> {
  const args = ['-axEwwo', 'pid=,ppid=,pgid=,stat=,command=']
  const { stdout } = await run('ps', args, { maxBuffer: 64 * 1024 * 1024 })
  return stdout.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line)
    if (match === null || match[4]?.startsWith('Z')) return []
    const [, pid, parent, group] = match.map(Number) as [number, number, number, number]
    return [{ pid, parent, group, marked: match[5]?.includes(mark) ?? false }]
  })
}
