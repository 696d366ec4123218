import { expect } from 'vitest'
import type { RunId } from '../../../src/agents/values.ts'
import { controlOf } from '../../../src/cli/engine/engine.ts'
import type { Isolation } from '../../../src/effects/sandbox/sandbox.ts'
import { RUN } from '../parts.ts'
import { reply } from '../replies.ts'
import { NEW, scenario } from '../scenario.ts'

/** The isolation of a machine on which nothing could confine a command. */
const unconfined = (isolation: Isolation): Isolation => ({
  ...isolation,
  level: 'none',
  shortfall: 'bubblewrap is not installed',
})

const REFUSED = /^run-1 began with its commands confined \(bubblewrap\).*is not installed/

async function unwanted(): Promise<void> {
  throw new Error('nobody wants that')
}

scenario('what began confined is not gone on with unconfined', NEW, async (open) => {
  const world = await open({
    replies: [reply({ role: 'architect' }, { hang: true })],
    isolation: 'bubblewrap',
  })
  await expect(world.reopen({ isolate: unconfined })).rejects.toThrow(REFUSED)
  await world.team().runtime.pause(RUN as RunId)
  // What rests is in nobody's way, until it is to go on.
  await world.reopen({ isolate: unconfined })
  const control = controlOf({
    team: world.team(),
    takeIn: unwanted,
    start: unwanted,
    startTask: unwanted,
    bring: unwanted,
    clean: (text) => text,
  })
  const brought = { text: 'More', mode: 'proposal', isConfirmed: true } as const
  const ways = [
    () => control.resume(RUN),
    () => control.bring(RUN, { document: '# More', isWish: false }),
    () => control.followUp(RUN, brought),
    () => control.confirm(RUN),
  ]
  for (const way of ways) await expect(way()).rejects.toThrow(REFUSED)
  expect(await control.runs()).toMatchObject([{ id: RUN, status: 'paused' }])
})
