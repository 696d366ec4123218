import { expect, test, vi } from 'vitest'
import { openFillable } from '../../../test/drill/fillable-stage.ts'
import { obedient } from '../../../test/drill/obedient-role.ts'
import { RUN } from '../../../test/drill/stage.ts'
import { openMemoryJournal } from '../../../test/simulation/memory-journal.ts'
import { agentIdOf } from '../../agents/team/protocol.ts'
import type { Health } from '../../runtime/runtime.ts'
import { closeEngine } from './closing.ts'
import { supervise } from './supervision.ts'

const ARCHITECT = agentIdOf(RUN, 'architect-1')

/** The parts of an engine, which note that they are closed; those that are named fail in it. */
function engine(failing: readonly string[], health: Health) {
  const closed: string[] = []
  const closing = (part: string) => ({
    close: async () => {
      closed.push(part)
      if (failing.includes(part)) throw new Error(`the ${part} cannot be closed`)
    },
  })
  const team = { ...closing('team'), runtime: { ...closing('runtime'), health: () => health } }
  const leaving = new AbortController()
  const parts = { team, server: closing('server'), leaving, supervising: Promise.resolve() }
  return { parts, closed }
}

test('every part of an engine is closed, whatever comes of the others', async () => {
  const { parts, closed } = engine(['server', 'team'], { state: 'well' })
  await expect(closeEngine(parts)).rejects.toThrow('the server cannot be closed')
  expect(closed).toEqual(['server', 'runtime', 'team'])
  expect(parts.leaving.signal.aborted).toBe(true)
})

test('an engine that has failed says nothing else at its end', async () => {
  const failed: Health = { state: 'failed', error: 'the disk is gone' }
  const { parts, closed } = engine(['server', 'runtime', 'team'], failed)
  await closeEngine(parts)
  expect(closed).toEqual(['server', 'runtime', 'team'])
})

test('an engine ends also while a halted agent waits on a full disk to be revived', async () => {
  const { stage, fill, isWaiting } = await openFillable(obedient({ name: 'architect@D' }))
  const { runtime } = stage
  await runtime.createAgent({ id: ARCHITECT, run: RUN, role: 'architect@D' })
  await stage.deliver('do', { move: { event: 'no_such_event', to: 'DONE' } }, ARCHITECT)
  expect(stage.agent(ARCHITECT).halted).toBe(true)
  fill()
  const leaving = new AbortController()
  const ground = { runtime, journal: openMemoryJournal(stage.disk) }
  const supervising = supervise(ground, leaving.signal)
  await vi.waitUntil(isWaiting, { timeout: 20_000 })
  const team = { runtime, close: () => runtime.close() }
  await closeEngine({ team, server: { close: async () => {} }, leaving, supervising })
  expect(runtime.health()).toEqual({ state: 'failed', error: 'the disk is full' })
})
