import type { Role } from '../../src/agents/role.ts'
import { type Journal, JournalError } from '../../src/runtime/journal.ts'
import { openMemoryJournal } from '../simulation/memory-journal.ts'
import { Stage } from './stage.ts'

/** An open stage whose disk can be filled: from then on nothing more can be stored. */
export async function openFillable(role: Role) {
  let isFull = false
  const stage: Stage = new Stage(role, {
    journal: new Proxy({} as Journal, {
      get: (_, name: keyof Journal) => {
        if (name !== 'commit' || !isFull) return openMemoryJournal(stage.disk)[name]
        return () => Promise.reject(new JournalError('full', 'the disk is full'))
      },
    }),
  })
  await stage.open()
  const fill = () => {
    isFull = true
  }
  return { stage, fill, isWaiting: () => stage.runtime.health().state === 'waiting_for_journal' }
}
