import { setTimeout as sleep } from 'node:timers/promises'
import { type ProcessEntry, readProcessTable } from './process-table.ts'

/** What belongs to one owner: a session, all whose environment has the mark, and descendants. */
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
  const excluded = new Set([process.pid, ...markedPids(spared)])
  const members = new Set(markedPids(table))
  for (const { pid, session, startedTick } of table) {
    // A session's number is given to nobody else while one process of it lives, unlike a leader's.
    if (leader !== undefined && session === leader.pid && startedTick >= sinceTick) members.add(pid)
  }
  for (const pid of excluded) members.delete(pid)
  addDescendants(members, table, excluded)
  return [...members]
}

function markedPids(table: readonly ProcessEntry[]): readonly number[] {
  return table.filter((entry) => entry.marked).map((entry) => entry.pid)
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
