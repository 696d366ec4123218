import { setTimeout as sleep } from 'node:timers/promises'
import { type ProcessEntry, readProcessTable } from './process-table.ts'

/** What belongs to one owner: all whose environment has the mark, their sessions, descendants. */
export interface Tree {
  readonly mark: string
  /** The first process, which leads a session of its own, and when it started. */
  readonly leader?: { readonly pid: number; readonly startedTick: number }
  /** Another mark, whose processes are somebody else's although they carry the first. */
  readonly sparedMark?: string
}

const ENDING_MS_MAX = 5_000

/**
 * Ends every process of a tree, and those that it starts meanwhile. Never rejects. False when some
 * are still alive after five seconds, such as one that waits for a broken disk, or cannot be seen.
 */
export async function endTree(tree: Tree): Promise<boolean> {
  if (tree.mark === '') throw new Error('an empty mark would end every process')
  const deadlineMs = performance.now() + ENDING_MS_MAX
  for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, 100)) {
    const members = await findMembers(tree).catch(() => undefined)
    if (members?.length === 0) return true
    if (performance.now() > deadlineMs) return false
    // Stopped first: what is killed one by one can start others in between.
    for (const name of ['SIGSTOP', 'SIGKILL'] as const) {
      for (const pid of members ?? []) signal(pid, name)
    }
    await sleep(waitMs)
  }
}

async function findMembers({ mark, leader, sparedMark }: Tree): Promise<readonly number[]> {
  const sinceTick = leader?.startedTick ?? 0
  const table = await readProcessTable(mark, sinceTick)
  const spared = sparedMark === undefined ? [] : await readProcessTable(sparedMark)
  // Whatever a mark says: what we run under is not ours to end.
  const excluded = new Set([...ancestorsOf(table), ...markedOf(spared).map(({ pid }) => pid)])
  const marked = markedOf(table).filter(({ pid }) => !excluded.has(pid))
  // Only sessions that a process of ours leads: one that merely takes part in somebody else's, as
  // everything that was started without a terminal does, must not take them all along.
  const ours = new Set(marked.map(({ pid }) => pid))
  if (leader !== undefined) ours.add(leader.pid)
  const sessions = new Set([leader?.pid, ...marked.map(({ session }) => session)])
  for (const id of sessions) if (id === undefined || id <= 1 || !ours.has(id)) sessions.delete(id)
  const inSession = table.filter(
    ({ pid, session, startedTick }) =>
      sessions.has(session) && startedTick >= sinceTick && !excluded.has(pid),
  )
  const members = new Set([...marked, ...inSession].map(({ pid }) => pid))
  addDescendants(members, table, excluded)
  return [...members]
}

/** This process and those above it, up to the first of the machine. */
function ancestorsOf(table: readonly ProcessEntry[]): readonly number[] {
  const parents = new Map(table.map(({ pid, parent }) => [pid, parent]))
  const line = [1, process.pid]
  for (let pid = parents.get(process.pid); pid !== undefined && pid > 1; pid = parents.get(pid)) {
    line.push(pid)
  }
  return line
}

function markedOf(table: readonly ProcessEntry[]): readonly ProcessEntry[] {
  return table.filter((entry) => entry.marked)
}

function addDescendants(
  members: Set<number>,
  table: readonly ProcessEntry[],
  excluded: ReadonlySet<number>,
): void {
  for (let before = -1; before !== members.size; ) {
    before = members.size
    for (const { pid, parent } of table) {
      if (members.has(parent) && !excluded.has(pid)) members.add(pid)
    }
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended by itself.
  }
}
