import { setTimeout as sleep } from 'node:timers/promises'
import { type ProcessEntry, readProcessTable } from './process-table.ts'

/** What belongs to one owner: a group, its descendants, and all whose environment has the mark. */
export interface Tree {
  readonly pid?: number
  readonly mark: string
}

const ENDING_MS_MAX = 5_000

/**
 * Ends every process of a tree, and those that it starts meanwhile. False when some are still alive
 * after five seconds, such as one that waits for a broken disk.
 */
export async function endTree(tree: Tree): Promise<boolean> {
  const deadlineMs = performance.now() + ENDING_MS_MAX
  for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, 100)) {
    const members = membersOf(tree, await readProcessTable(tree.mark))
    if (members.length === 0) return true
    if (performance.now() > deadlineMs) return false
    // Stopped first: what is killed one by one can start others in between.
    for (const pid of members) signal(pid, 'SIGSTOP')
    for (const pid of members) signal(pid, 'SIGKILL')
    await sleep(waitMs)
  }
}

function membersOf({ pid, mark }: Tree, table: readonly ProcessEntry[]): readonly number[] {
  if (mark === '') throw new Error('an empty mark would end every process')
  const members = new Set<number>()
  for (const entry of table) {
    if (entry.marked || entry.pid === pid || entry.group === pid) members.add(entry.pid)
  }
  for (let before = -1; before !== members.size; ) {
    before = members.size
    for (const entry of table) if (members.has(entry.parent)) members.add(entry.pid)
  }
  members.delete(process.pid)
  return [...members]
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended by itself.
  }
}
