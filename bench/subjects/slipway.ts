import { join } from 'node:path'
import type { AgentId, EventId, RunId } from '../../src/agents/values.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { openEmbeddedRuntime } from '../../src/runtime/embedded-runtime.ts'
import type { Journal } from '../../src/runtime/journal.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { type DurableSubject, keepDelivering } from '../rounds.ts'
import { ANSWERED_KIND, walker } from './walk.ts'

/** The run that all agents of a benchmark belong to. */
const RUN = 'run-1' as RunId

/** The runtime on the journal of a folder, as the product opens it, with walkers as its agents. */
export function openWalkers(folder: string, journal: Journal): Promise<Runtime> {
  return openEmbeddedRuntime({
    journal,
    blobs: openBlobFiles(join(folder, 'blobs')),
    roles: [walker],
    handlers: {},
    answeredKinds: [ANSWERED_KIND],
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    random: Math.random,
  })
}

/** The name of the i-th agent. */
export function agentId(i: number): AgentId {
  return `agent-${i}` as AgentId
}

/** Creates agents by their numbers, all of them in one run. */
export async function createWalkers(
  runtime: Runtime,
  first: number,
  count: number,
): Promise<AgentId[]> {
  await runtime.createRun(RUN, {})
  const ids = Array.from({ length: count }, (_, i) => agentId(first + i))
  await Promise.all(ids.map((id) => runtime.createAgent({ id, run: RUN, role: walker.name })))
  return ids
}

/** The product: each agent keeps `window` deliveries outstanding, and each makes one transition. */
export async function openSlipway(
  folder: string,
  agents: number,
  window: number,
): Promise<DurableSubject> {
  const journal = await openSqliteJournal(folder)
  const runtime = await openWalkers(folder, journal)
  const ids = await createWalkers(runtime, 0, agents)
  const written = countRows(journal)
  let number = 0
  return {
    async run(roundMs) {
      const before = written.moved
      const round = await keepDelivering(agents * window, roundMs, (lane) => {
        number += 1
        const agent = ids[lane % agents] as AgentId
        return runtime.deliver({ id: eventId(number), agent, type: 'advance', payload: null })
      })
      await runtime.idle()
      if (written.moved - before !== round.transitions) {
        throw new Error(`${round.transitions} events made ${written.moved - before} transitions`)
      }
      return { ...round, rowsPerCommit: written.moved / written.commits }
    },
    async close() {
      await runtime.close()
      await journal.close()
    },
  }
}

/** The id of the n-th event: every subject that stores ids stores these. */
export function eventId(number: number): EventId {
  return `event-${number}` as EventId
}

function countRows(journal: Journal) {
  const written = { moved: 0, commits: 0 }
  const commit = journal.commit.bind(journal)
  journal.commit = (batch) => {
    for (const row of batch.rows) if (row.kind === 'moved') written.moved += 1
    written.commits += 1
    return commit(batch)
  }
  return written
}
