import { join } from 'node:path'
import { createActor, createMachine } from 'xstate'
import { openDatabase } from '../../src/journal/sqlite/driver.ts'
import { type DurableSubject, keepWorking } from '../rounds.ts'
import { PRAGMAS } from '../subjects/raw-sqlite.ts'
import { ONWARD } from '../subjects/walk.ts'

/**
 * XState actors whose snapshot is stored after every transition, with the driver and the pragmas
 * of the journal. Each is a transaction of its own, because that is what storing after each
 * transition means: the next event may be sent when the snapshot is durable. The machine has the
 * states of the walk alone, which costs XState nothing.
 */
export async function openXstate(folder: string, agents: number): Promise<DurableSubject> {
  const database = await openDatabase(join(folder, 'snapshots.db'))
  database.exec(PRAGMAS)
  database.exec('CREATE TABLE snapshots (id INTEGER PRIMARY KEY, snapshot TEXT NOT NULL) STRICT')
  const put = database.prepare(
    `INSERT INTO snapshots VALUES (?, ?)
     ON CONFLICT (id) DO UPDATE SET snapshot = excluded.snapshot`,
  )
  const moves = Object.entries(ONWARD)
  const states = moves.map(([from, { event, to }]) => [from, { on: { [event]: to } }])
  const logic = createMachine({ initial: 'WAITING', states: Object.fromEntries(states) })
  const actors = Array.from({ length: agents }, () => createActor(logic).start())
  let turn = 0
  const sendNext = () => {
    const lane = turn % agents
    turn += 1
    const actor = actors[lane] as (typeof actors)[number]
    const state = String(actor.getSnapshot().value)
    actor.send({ type: ONWARD[state]?.event ?? '' })
    put.run(lane, JSON.stringify(actor.getPersistedSnapshot()))
  }
  return {
    // The driver is synchronous: more than one event at a time would only wait for each other.
    run: async (roundMs) => keepWorking(roundMs, 1, sendNext),
    async close() {
      for (const actor of actors) actor.stop()
      database.close()
    },
  }
}
