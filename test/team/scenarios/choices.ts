import { expect } from 'vitest'
import { call, once, PLAIN, reply, story, submit, working, writes } from '../replies.ts'
import { BOTH, NEW, type Open, scenario } from '../scenario.ts'

const CHAIN = [story('a'), story('b', { criteria: ['2'], depends_on: ['a'] })]
const blocked = (story: string) =>
  working({ story, contains: 'Write a.sh.' }, call('report_blocked', { reason: 'No way.' }))

/** A run whose first story failed for good; the second waits for it. */
async function openFailed(open: Open, isLasting: boolean) {
  const block = blocked('a')
  const world = await open({
    replies: [
      submit(...CHAIN),
      isLasting ? block : once(block),
      writes('a'),
      writes('b'),
      ...PLAIN,
    ],
    limits: { attempts: 1 },
  })
  const agents = await world.until(
    (found) =>
      found.get('story/b')?.data.failed !== undefined &&
      Object.keys(found.get('story/b')?.data.failed as object).length > 0,
  )
  expect(agents.get('story/a')?.state).toBe('FAILED')
  expect(agents.get('story/b')).toMatchObject({
    state: 'BLOCKED',
    data: { failed: { a: 'its only attempt failed' } },
  })
  expect(agents.get('dispatcher')?.data.counts).toEqual({ total: 2, left: 2, failed: 1 })
  return world
}

scenario('a failed story is tried again', BOTH, async (open) => {
  const world = await openFailed(open, false)
  await world.answer({ choice: 'perhaps' })
  await world.answer({ choice: 'rewrite' })
  await world.answer({ choice: 'retry' })
  const agents = await world.until((found) => found.get('story/a')?.state !== 'FAILED')
  expect(agents.get('dispatcher')?.data.counts).toEqual({ total: 2, left: 2, failed: 0 })
  expect(agents.get('story/b')?.data.failed).toEqual({})
  await world.untilOver()
  expect(world.log()).toEqual(['Add b', 'Add a', 'init'])
})

scenario('a failed story is written anew', BOTH, async (open) => {
  const world = await openFailed(open, true)
  await world.answer({ choice: 'rewrite', text: 'Write it in another way.' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add b', 'Add a', 'init'])
})

scenario('a failed story is done without', BOTH, async (open) => {
  const world = await openFailed(open, true)
  await world.answer({ choice: 'waive' })
  const agents = await world.untilOver()
  expect(agents.get('story/a')?.state).toBe('WAIVED')
  expect(world.log()).toEqual(['Add b', 'init'])
})

scenario('a failed story is cut, with what depends on it', BOTH, async (open) => {
  const world = await openFailed(open, true)
  await world.answer({ choice: 'cut' })
  const agents = await world.untilOver()
  for (const name of ['a', 'b']) expect(agents.get(`story/${name}`)?.state).toBe('CUT')
  expect(agents.get('dispatcher')?.data.counts).toEqual({ total: 2, left: 0, failed: 0 })
  expect(world.log()).toEqual(['init'])
})

scenario('what stands in the way of one story is shown on all behind it', NEW, async (open) => {
  const world = await open({
    replies: [
      submit(...CHAIN, story('c', { depends_on: ['b'] })),
      once(blocked('a')),
      ...['a', 'b', 'c'].map((name) => writes(name)),
      ...PLAIN,
    ],
    limits: { attempts: 1 },
  })
  const agents = await world.until(
    (found) => 'b' in ((found.get('story/c')?.data.failed as object) ?? {}),
  )
  expect(agents.get('story/c')?.data.failed).toEqual({
    b: 'it waits for a: its only attempt failed',
  })
  // It need not wait for an answer: the human may decide about what did not fail.
  await world.deliver('story/c', 'cut_story')
  await world.answer({ choice: 'retry' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add b', 'Add a', 'init'])
})

scenario('stories that nobody has begun can be cut', NEW, async (open) => {
  const world = await open({
    replies: [submit(...CHAIN), reply({ role: 'coder' }, call('done'))],
    coders: 0,
  })
  await world.untilIn('architect-1', 'MONITORING')
  await world.deliver('story/a', 'cut_story')
  const agents = await world.untilOver()
  for (const name of ['a', 'b']) expect(agents.get(`story/${name}`)?.state).toBe('CUT')
})
