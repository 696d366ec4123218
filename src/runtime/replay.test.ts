import { expect, test } from 'vitest'
import { obedient, openStage, THINK } from '../../test/drill/obedient-role.ts'
import { AGENT, RUN, type Stage } from '../../test/drill/stage.ts'
import { openMemoryJournal } from '../../test/simulation/memory-journal.ts'
import type { AgentId, EventId } from '../agents/values.ts'
import { replay } from './replay.ts'

/** An agent that went through every way in which an event comes to be. */
async function openBusyStage(): Promise<Stage> {
  const { stage } = await openStage(obedient())
  const send = [AGENT, 'nobody' as AgentId].map((to) => ({ to, type: 'note', payload: null }))
  await stage.deliver('do', THINK)
  await stage.deliver('do', { send })
  await stage.deliver('do', { timers: { nap: stage.clock.nowMs() + 10 } })
  stage.serviceUp = false
  await stage.deliver('do', THINK)
  await stage.pass(60_000)
  stage.serviceUp = true
  await stage.pass(60_000)
  await stage.runtime.pause(RUN)
  await stage.deliver('note')
  return stage
}

const differencesOf = async ({ disk }: Stage) =>
  (await replay(openMemoryJournal(disk), RUN)).differences

test('what the runtime says to agents itself was never accepted from outside', async () => {
  const stage = await openBusyStage()
  const types = new Set(stage.disk.contents.rows.map(({ eventType }) => eventType))
  for (const type of ['born', 'note', 'undeliverable', 'timer_fired', 'effect_finished']) {
    expect(types).toContain(type)
  }
  expect(types).toContain('service_unavailable')
  expect(stage.disk.contents.inbox.size).toBe(1)
  expect(await differencesOf(stage)).toEqual([])
})

test('an event that was never accepted is named: a repeated one would be handled again', async () => {
  const stage = await openBusyStage()
  stage.disk.contents.accepted.delete('e2' as EventId)
  const { seq } = stage.disk.contents.rows.find(({ eventId }) => eventId === 'e2') ?? {}
  expect(await differencesOf(stage)).toEqual([
    `row ${seq} is of event e2, which was never accepted`,
  ])
})

test('an event that was accepted and is nowhere is named', async () => {
  const stage = await openBusyStage()
  stage.disk.contents.inbox.clear()
  stage.disk.contents.accepted.add('foreign' as EventId)
  expect(await differencesOf(stage)).toEqual([
    'event e5 was accepted, and is in no row and no inbox',
    'event foreign was accepted, and is in no row and no inbox',
  ])
})
