import { expect } from 'vitest'
import type { Forge } from '../../../src/effects/forge/forge.ts'
import {
  APPROVES,
  BUILDS,
  building,
  DONE,
  once,
  PLAIN,
  reviewing,
  TESTS,
  testing,
} from '../replies.ts'
import { NEW, OLD, scenario } from '../scenario.ts'

const LOSSES = [
  ['network', 'provider_network_error', 2],
  ['timeout', 'provider_timeout', 2],
  ['auth', 'provider_auth_error', 1],
  ['quota', 'provider_auth_error', 1],
] as const

for (const [kind, outcome, count] of LOSSES) {
  scenario(`a provider that fails by ${kind} for good ends the task`, NEW, async (open) => {
    const world = await open({
      replies: [building({}, { fail: kind, message: 'the author of this is a wall' })],
      isUp: () => false,
      suspensionMs: 100,
    })
    expect(await world.outcome()).toBe(outcome)
    const end = (await world.rows()).findLast(({ move }) => move === outcome)
    expect(end).toMatchObject({ to: 'finalize', body: { retry: { count } } })
    expect(end?.body.retry?.reason).toContain(`${kind}: `)
    expect(world.told.some(({ who }) => who === 'reviewer')).toBe(false)
  })
}

scenario(
  'a lost provider has no row in the older table: the task is given up',
  OLD,
  async (open) => {
    const world = await open({
      replies: [building({}, { fail: 'auth' })],
      isUp: () => false,
      suspensionMs: 100,
    })
    expect(await world.outcome()).toBe('max_iterations_reached')
    expect(await world.work()).toMatchObject({
      isSpent: false,
      cause: 'provider_auth_error',
      why: expect.stringContaining('auth'),
    })
    expect((await world.moves()).slice(-3)).toEqual([
      'build service_unavailable SUSPEND',
      'SUSPEND suspension_timed_out ERROR',
      'ERROR max_iterations_reached finalize',
    ])
  },
)

scenario('an outage is waited out in every state that thinks', NEW, async (open) => {
  const out = { fail: 'network' }
  let isUp = false
  const world = await open({
    replies: [
      ...[1, 2].map(() => once(building({}, out))),
      ...[1, 2].map(() => once(reviewing(out))),
      ...[1, 2].map(() => once(testing(out))),
      ...PLAIN,
    ],
    isUp: () => isUp,
  })
  for (const state of ['build', 'review', 'test']) {
    await world.until(
      ({ state: now, suspendedFrom }) => now === 'SUSPEND' && suspendedFrom === state,
    )
    isUp = true
    await world.until(({ state: now }) => now !== 'SUSPEND')
    isUp = false
  }
  expect(await world.outcome()).toBe('approved')
  const lost = (await world.rows()).filter(({ move }) => move === 'service_unavailable')
  expect(lost.map(({ body }) => body.retry)).toEqual(
    Array(3).fill({ count: 2, reason: 'network: the scenario says network' }),
  )
})

scenario('a suspended task can be stopped', OLD, async (open) => {
  const world = await open({
    replies: [building({}, { fail: 'network' })],
    isUp: () => false,
  })
  await world.untilIn('SUSPEND')
  await world.abort()
  expect(await world.outcome()).toBe('canceled')
  expect((await world.moves()).at(-1)).toBe('SUSPEND aborted_by_operator finalize')
})

/** A forge that does not answer while something is handed in. */
const deaf = (local: Forge): Forge => ({
  ...local,
  kind: 'github',
  publish: async () => ({
    ok: false,
    error: { code: 'network', message: 'no route', retry: 'later' },
  }),
})

scenario('what is approved stays approved, though the forge cannot be told', NEW, async (open) => {
  const world = await open({
    replies: [BUILDS, DONE, APPROVES, TESTS],
    forge: deaf,
    isUp: () => false,
    suspensionMs: 100,
  })
  await world.until(({ state, data }) => state === 'finalize' && data.delivery !== undefined)
  expect(await world.work()).toMatchObject({
    outcome: 'approved',
    delivery: { error: expect.stringContaining('no route'), cause: 'forge_lost' },
  })
  expect(await world.moves()).toContain('finalize service_unavailable SUSPEND')
})
