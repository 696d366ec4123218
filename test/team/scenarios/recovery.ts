import { expect } from 'vitest'
import type { RunId } from '../../../src/agents/values.ts'
import type { Forge, ForgeAnswer } from '../../../src/effects/forge/forge.ts'
import { RUN, SPEC } from '../parts.ts'
import { call, decides, PLAIN, PLAN, reply, story, submit, working, writes } from '../replies.ts'
import { BOTH, NEW, scenario } from '../scenario.ts'

const HELLO = submit(story('hello', { criteria: ['1', '2'] }))

scenario('a process that ends is followed by another, again and again', BOTH, async (open) => {
  const stories = [story('a'), story('b', { criteria: ['2'], depends_on: ['a'] }), story('c')]
  const world = await open({
    replies: [submit(...stories), ...['a', 'b', 'c'].map((name) => writes(name)), ...PLAIN],
    coders: 2,
  })
  const pausesMs = Array.from({ length: 8 }, () => Math.floor(Math.random() * 400))
  for (const pauseMs of pausesMs) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    await world.reopen()
  }
  const agents = await world.untilOver()
  for (const name of ['a', 'b', 'c']) {
    expect(agents.get(`story/${name}`), `after ${pausesMs}`).toMatchObject({ state: 'MERGED' })
    expect(world.target(`${name}.sh`)).toBe(`echo ${name}`)
  }
  expect(world.log().toSorted()).toEqual(['Add a', 'Add b', 'Add c', 'init'])
})

scenario('whoever is cut off from the dispatcher comes back', BOTH, async (open) => {
  const slow = reply({ role: 'coder', state: 'PLANNING' }, { wait_ms: 500 }, ...PLAN.do)
  const world = await open({
    replies: [HELLO, slow, writes('hello'), ...PLAIN],
    preview: 'human',
  })
  await world.question()
  for (const place of ['coder-1', 'architect-1']) await world.deliver(place, 'channel_closed')
  await world.answer({ choice: 'approve' })
  await world.untilIn('coder-1', 'PLANNING')
  await world.untilIn('architect-1', 'MONITORING')
  await world.deliver('architect-1', 'channel_closed')
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a product manager who is cut off before a spec came ends', NEW, async (open) => {
  const world = await open({ replies: [HELLO, writes('hello'), ...PLAIN] })
  await world.untilOver()
  await world.bring(null, 'pm-2')
  await world.deliver('pm-2', 'channel_closed')
  await world.untilIn('pm-2', 'DONE')
  expect(await world.moves('pm-2')).toEqual([
    'WAITING channel_closed ERROR',
    'ERROR cleaned_up DONE',
  ])
})

scenario('further specs come to the same team', BOTH, async (open) => {
  const more = call('submit_stories', { stories: [story('more', { criteria: ['1', '2'] })] })
  const world = await open({
    replies: [
      reply({ role: 'architect', contains: 'The run has a story hello already' }, more),
      reply(
        { role: 'architect', contains: 'Farewell' },
        call('submit_stories', {
          stories: [story('hello', { title: 'Another', criteria: ['1', '2'] })],
        }),
      ),
      HELLO,
      writes('hello'),
      writes('more'),
      ...PLAIN,
    ],
  })
  await world.untilOver()
  await world.bring(SPEC, 'pm-2')
  await world.untilIn('pm-2', 'DONE')
  await world.untilIn('architect-1', 'DONE')
  expect(world.log()).toEqual(['Add hello', 'init'])
  await world.bring(SPEC.replace('Greeter', 'Farewell'), 'pm-3')
  await world.untilIn('pm-3', 'DONE')
  await world.untilOver()
  expect(world.log()).toEqual(['Add more', 'Add hello', 'init'])
  expect(await world.moves('dispatcher')).toEqual([
    'OPEN all_stories_completed CLOSED',
    'CLOSED stories_queued OPEN',
    'OPEN all_stories_completed CLOSED',
  ])
})

const broken: ForgeAnswer<never> = {
  ok: false,
  error: { code: 'storage', message: 'the disk is broken', retry: 'never' },
}
/** The forge, with one call of its target that comes to nothing. */
const failsAt =
  (call: number) =>
  (local: Forge): Forge => {
    let calls = 0
    return {
      ...local,
      async readTarget(target) {
        calls += 1
        return calls === call ? broken : local.readTarget(target)
      },
    }
  }

scenario('a workspace that cannot be made fails the attempt', BOTH, async (open, { architect }) => {
  const world = await open({
    replies: [HELLO, writes('hello'), ...PLAIN],
    forge: failsAt(architect === 'I' ? 2 : 1),
  })
  const agents = await world.untilOver()
  expect(await world.moves('coder-1')).toContain('SETUP setup_failed ERROR')
  expect(agents.get('story/hello')?.data.attempts).toBe(1)
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('an architect without a workspace says so', NEW, async (open) => {
  const world = await open({ replies: [HELLO], forge: failsAt(1), coders: 0 })
  await world.untilIn('pm', 'DONE')
  expect(await world.moves('architect-1')).toContain('SETUP setup_failed ERROR')
})

scenario('a merge that cannot be done is tried another way', BOTH, async (open, { coder }) => {
  let merges = 0
  const world = await open({
    replies: [HELLO, writes('hello'), ...PLAIN],
    forge: (local) => ({
      ...local,
      async merge(request) {
        merges += 1
        if (merges === 1) return broken
        return merges === 2
          ? { ok: true, value: { kind: 'blocked', reason: 'a rule' } }
          : local.merge(request)
      },
    }),
  })
  await world.untilOver()
  expect(await world.moves('merge-queue')).toContain('MERGING merge_failed ERROR')
  const move = coder === 'F' ? 'merge_conflicted FIXING' : 'merge_failed ERROR'
  expect(await world.moves('coder-1')).toContain(`AWAIT_MERGE ${move}`)
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a merge that never succeeds is given up', BOTH, async (open) => {
  const world = await open({
    replies: [HELLO, writes('hello'), decides('continue'), ...PLAIN],
    forge: (local) => ({
      ...local,
      merge: async () => ({ ok: true, value: { kind: 'blocked', reason: 'a rule' } }),
    }),
    limits: { codeRounds: 2, budgetGrants: 1, attempts: 2 },
  })
  await world.untilIn('story/hello', 'FAILED')
  await world.answer({ choice: 'cut' })
  await world.untilOver()
  expect(world.log()).toEqual(['init'])
})

scenario(
  'an architect whose brain is gone fails, and is well when it is back',
  BOTH,
  async (open) => {
    const world = await open({
      replies: [
        HELLO,
        working({ contains: 'Implement', turn: 1 }, { wait_ms: 400 }, ...writes('hello').do),
        ...PLAIN,
      ],
      limits: { attempts: 1 },
    })
    await world.untilIn('coder-1', 'CODING')
    await world.reopen({ hasJudge: false })
    await world.untilIn('story/hello', 'FAILED')
    expect(await world.moves('architect-1')).toContain('REQUEST failed_unrecoverably ERROR')
    await world.reopen({ hasJudge: true })
    await world.answer({ choice: 'retry' })
    await world.untilOver()
    expect(world.log()).toEqual(['Add hello', 'init'])
  },
)

scenario('a story that has used up what it may asks the human', BOTH, async (open) => {
  const world = await open({
    replies: [HELLO, writes('hello'), ...PLAIN],
    budget: { story: { iterationsMax: 3 } },
    planReview: 'human',
  })
  await world.answer({ choice: 'approve' })
  const agents = await world.untilIn('architect-1', 'ESCALATED')
  expect(agents.get('ledger')?.state).toBe('OPEN')
  const { input } = await world.question()
  expect(input.question).toContain('the budget of the story is spent (iterations)')
  await world.answer({ choice: 'approve' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a run that has used up what it may goes on when it gets more', BOTH, async (open) => {
  const world = await open({
    replies: [HELLO, writes('hello'), decides('continue'), ...PLAIN],
    budget: { run: { iterationsMax: 2 } },
    planReview: 'human',
  })
  await world.answer({ choice: 'approve' })
  await world.untilIn('architect-1', 'ESCALATED')
  await world.untilIn('ledger', 'SPENT')
  await world.deliver('ledger', 'open_books', {
    run: { iterationsMax: 50 },
    story: {},
    allowUnpriced: false,
  })
  await world.untilIn('ledger', 'OPEN')
  await world.answer({ choice: 'approve' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a run that was stopped goes on in another process', BOTH, async (open) => {
  const world = await open({ replies: [HELLO, writes('hello'), ...PLAIN] })
  await world.untilIn('coder-1', 'CODING')
  await world.team().runtime.stop(RUN as RunId)
  await world.team().runtime.idle()
  const stopped = (await world.rows()).length
  await world.reopen()
  await world.team().runtime.idle()
  expect(await world.rows()).toHaveLength(stopped)
  await world.team().runtime.resume(RUN as RunId)
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})
