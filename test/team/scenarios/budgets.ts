import { expect } from 'vitest'
import { changeBudget } from '../../../src/cli/engine/budget.ts'
import { RUN } from '../parts.ts'
import { call, decides, PLAIN, reply, story, submit, writes } from '../replies.ts'
import { BOTH, NEW, scenario } from '../scenario.ts'
import type { TeamWorld } from '../world.ts'

const HELLO = submit(story('hello', { criteria: ['1', '2'] }))
const ENOUGH = { run: { iterationsMax: 100 }, story: { iterationsMax: 100 } }
const criteria = [{ id: '1', text: 'It greets.' }]
const DRAFT = call('submit_spec', { title: 'Greeter', body: 'A greeter.', criteria })
const GREET = submit(story('hello', { criteria: ['1'] }))

/** Waits until somebody cannot go on for want of a budget, and gives more. */
async function raise(world: TeamWorld, cause: object): Promise<void> {
  const { input } = await world.question()
  expect(input).toMatchObject({ cause, choices: expect.arrayContaining(['again']) })
  const { limits, resumed } = await changeBudget(world.team(), RUN, ENOUGH)
  expect(limits).toMatchObject({ ...ENOUGH, allowUnpriced: false })
  expect(resumed).toBeGreaterThan(0)
}

for (const scope of ['run', 'story'] as const) {
  scenario(`whoever stopped because the ${scope} has spent it goes on`, BOTH, async (open) => {
    const world = await open({
      replies: [HELLO, writes('hello'), decides('continue'), ...PLAIN],
      budget: { [scope]: { iterationsMax: 2 } },
    })
    await raise(world, { scope, what: 'iterations', limit: 2 })
    await world.untilOver()
    expect(world.log()).toEqual(['Add hello', 'init'])
    const asks = (await world.rows()).flatMap(({ body }) => body.effects ?? [])
    expect(asks.filter(({ kind }) => kind === 'ask_human')).toHaveLength(1)
    // The architect decided it after all: nothing was sent back.
    const moves = (await world.moves('coder-1')).join('\n')
    expect(moves).not.toMatch(/review_changes_requested|budget_escalated/)
  })
}

scenario('a limit in dollars stops models without a price until allowed', BOTH, async (open) => {
  const world = await open({
    replies: [HELLO, writes('hello'), decides('continue'), ...PLAIN],
    isUnpriced: true,
    budget: { run: { microdollarsMax: 20_000_000, iterationsMax: 2 }, allowUnpriced: true },
  })
  await world.question()
  const dollars = { run: { microdollarsMax: 50_000_000, iterationsMax: 100 }, story: {} }
  const { limits } = await changeBudget(world.team(), RUN, dollars)
  expect(limits).toEqual({ ...dollars, allowUnpriced: false })
  const { input } = await world.question()
  expect(input).toMatchObject({ cause: { scope: 'run', what: 'unpriced' } })
  await changeBudget(world.team(), RUN, { run: {}, story: {}, allowUnpriced: true })
  const later = await changeBudget(world.team(), RUN, dollars)
  expect(later.limits.allowUnpriced).toBe(true)
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('only who has a model without a price waits for it', BOTH, async (open) => {
  const world = await open({
    replies: [HELLO, writes('hello'), decides('continue'), ...PLAIN],
    isUnpriced: 'coder',
    budget: {
      run: { microdollarsMax: 20_000_000 },
      story: { iterationsMax: 1 },
      allowUnpriced: true,
    },
  })
  // By then the coder has been asked without a price.
  await world.question()
  const dollars = { run: { microdollarsMax: 50_000_000 }, story: { iterationsMax: 100 } }
  await changeBudget(world.team(), RUN, dollars)
  const { input } = await world.question()
  expect(input).toMatchObject({
    question: expect.stringContaining('nobody knows the price'),
    cause: { scope: 'run', what: 'unpriced' },
    choices: expect.arrayContaining(['again']),
  })
  await changeBudget(world.team(), RUN, { run: {}, story: {}, allowUnpriced: true })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
  const asks = (await world.rows()).flatMap(({ body }) => body.effects ?? [])
  expect(asks.filter(({ kind }) => kind === 'ask_human')).toHaveLength(2)
  expect(await world.moves('ledger')).toEqual([])
})

/** A product manager who may not think at all at first, by what was brought. */
const BROUGHT: readonly [state: string, isWish: boolean][] = [
  ['DRAFTING', false],
  ['INTERVIEWING', true],
]

for (const [state, isWish] of BROUGHT) {
  scenario(`a product manager in ${state} waits for a budget`, NEW, async (open) => {
    const ends = call('end_interview', { summary: 'Greet.' })
    const world = await open({
      replies: [
        reply({ role: 'pm', state: 'INTERVIEWING' }, ends),
        ...[reply({ role: 'pm' }, DRAFT), GREET, writes('hello'), ...PLAIN],
      ],
      budget: { run: { iterationsMax: 0 } },
      spec: 'Greet.',
      isWish,
    })
    await raise(world, { scope: 'run', what: 'iterations', limit: 0 })
    await world.untilOver()
    expect(world.log()).toEqual(['Add hello', 'init'])
  })
}

scenario('a product manager in REVISING waits for a budget', NEW, async (open) => {
  const world = await open({
    replies: [reply({ role: 'pm' }, DRAFT), GREET, writes('hello'), ...PLAIN],
    budget: { run: { iterationsMax: 1 } },
    spec: 'Greet.',
    preview: 'human',
  })
  await world.answer({ choice: 'change', text: 'Shorter.' })
  await world.until((found) => found.get('pm')?.state === 'INTERVIEWING')
  await raise(world, { scope: 'run', what: 'iterations', limit: 1 })
  await world.untilIn('pm', 'PREVIEW')
  await world.answer({ choice: 'approve' })
  await world.untilOver()
  expect(await world.moves('pm')).toContain('REVISING budget_exhausted INTERVIEWING')
  expect(world.log()).toEqual(['Add hello', 'init'])
})
