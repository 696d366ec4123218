import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Role } from '../../src/agents/role.ts'
import type { AgentId, EventId, Json, RunId } from '../../src/agents/values.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { coderF } from '../../src/machines/tables/coder-f.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { EffectHandler } from '../../src/runtime/effect-handler.ts'
import { openEmbeddedRuntime } from '../../src/runtime/embedded-runtime.ts'

export const RUN = 'run-1' as RunId
const AGENT = 'agent-1' as AgentId

/** Remembers what it is told, and has done what it is asked to do. */
const notebook: Role = {
  name: 'notebook',
  machine: coderF,
  recycles: false,
  initialData: {},
  handle: (_, event) => ({
    set: { last: event.payload },
    effects: event.type === 'do' ? [{ kind: 'work', input: null }] : [],
  }),
}

/** A folder for one test, and how to get rid of it. */
export function makeFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-disk-'))
  return { folder, remove: () => rmSync(folder, { recursive: true }) }
}

/** The real runtime on a real state folder, with one agent that takes notes and works. */
export async function openState(folder: string, work?: EffectHandler) {
  const journal = await openSqliteJournal(folder)
  const runtime = await openEmbeddedRuntime({
    journal,
    blobs: openBlobFiles(join(folder, 'blobs')),
    roles: [notebook],
    handlers: work === undefined ? {} : { work },
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    random: Math.random,
  })
  await runtime.createRun(RUN, {})
  await runtime.createAgent({ id: AGENT, run: RUN, role: 'notebook' })
  return {
    runtime,
    note: (id: string, payload: Json) =>
      runtime.deliver({ id: id as EventId, agent: AGENT, type: 'note', payload }),
    work: () => runtime.deliver({ id: 'do' as EventId, agent: AGENT, type: 'do', payload: null }),
    /** What the agent was told last. */
    last: async () => (await journal.readAgents(RUN))[0]?.data.last,
    close: async () => {
      await runtime.close()
      await journal.close()
    },
  }
}
