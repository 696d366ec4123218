/**
 * A real process on a real state folder, to be killed at any moment. It goes on with what the
 * journal holds, delivers events of its own, and says on standard output what was acknowledged.
 * `node worker.js <folder> <first event> <events>`; with 0 events it comes to rest and ends.
 */
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentId, EventId, RunId } from '../../src/agents/values.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { MACHINES } from '../../src/machines/catalog.ts'
import { type Clock, systemClock } from '../../src/runtime/clock.ts'
import type { EffectHandler } from '../../src/runtime/effect-handler.ts'
import { openEmbeddedRuntime } from '../../src/runtime/embedded-runtime.ts'
import { DRILL_ONCE, drillRole } from '../drill/drill-role.ts'

const RUN = 'run-1' as RunId
const EPOCH_MS = 1_700_000_000_000
/** A timer of a minute is due after some milliseconds. */
const SPEED = 10_000
const AGENTS_PER_MACHINE = 5

const [folder = '', first = '0', events = '0'] = process.argv.slice(2)
const say = (line: string) => writeSync(1, `${line}\n`)

const fastClock: Clock = {
  nowMs: () => EPOCH_MS + (systemClock.nowMs() - EPOCH_MS) * SPEED,
  wakeAt: (timeMs, wake) =>
    systemClock.wakeAt(Math.ceil(EPOCH_MS + (timeMs - EPOCH_MS) / SPEED), wake),
}

const log = join(folder, 'carried-out.log')
const blobs = openBlobFiles(join(folder, 'blobs'))
const carryOut: EffectHandler = {
  policy: { timeoutMs: 600_000 * SPEED },
  async run(effect) {
    const large = effect.id.endsWith('7.0')
    const blob = large ? await blobs.put(`transcript of ${effect.id} `.repeat(100)) : {}
    appendFileSync(log, `${effect.id}\n`)
    return { ok: true, value: { ...blob } }
  },
}

/** What was done outside is known outside, also to the next process. */
const carryOutOnce: EffectHandler = {
  ...carryOut,
  async recognise({ id }) {
    const done = existsSync(log) && readFileSync(log, 'utf8').includes(`${id}\n`)
    return done ? { ok: true, value: null } : undefined
  },
}

const journal = await openSqliteJournal(folder)
const runtime = await openEmbeddedRuntime({
  journal,
  blobs,
  roles: MACHINES.map((machine) => drillRole(machine, machine.id !== 'architect')),
  handlers: { drill: carryOut, [DRILL_ONCE]: carryOutOnce, clean_up: carryOut },
  clock: fastClock,
  newId: () => crypto.randomUUID(),
  random: Math.random,
  limits: { restartsMax: Infinity, residentsMax: 4 },
})
say('ready')

await runtime.createRun(RUN, {})
const agents: AgentId[] = []
for (const machine of MACHINES) {
  for (let i = 0; i < AGENTS_PER_MACHINE; i += 1) {
    const id = `agent-${machine.name}-${i}` as AgentId
    agents.push(id)
    await runtime.createAgent({ id, run: RUN, role: `drill-${machine.name}` })
  }
}

const last = Number(first) + Number(events)
for (let number = Number(first); number < last; number += 1) {
  const agent = agents[number % agents.length] as AgentId
  const peer = agents[(number + 1) % agents.length] as AgentId
  const id = `event-${number}` as EventId
  await runtime.deliver({ id, agent, type: 'start', payload: { seed: number, peer } })
  say(`ack ${id}`)
  if (number % agents.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
}
if (last > Number(first)) await new Promise(() => {})

// Timers are still to come: rest is when nothing is armed any more.
while ((await journal.nextDueMs()) !== null) {
  await new Promise((resolve) => setTimeout(resolve, 20))
}
await runtime.idle()
await runtime.close()
await journal.close()
say('rested')
