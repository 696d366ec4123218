import { expect } from 'vitest'
import { supervise, tellOfAbnormalEnd } from '../../../src/cli/engine/supervision.ts'
import { PLAIN, PLAN, reply, story, submit, writes } from '../replies.ts'
import { BOTH, NEW, scenario } from '../scenario.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']

scenario('a halted coder is replaced, and its story tried again', NEW, async (open) => {
  const slow = reply({ role: 'coder', state: 'PLANNING' }, { wait_ms: 500 }, ...PLAN.do)
  const world = await open({
    replies: [
      submit(story('a'), story('b', { criteria: ['2'] })),
      slow,
      writes('a'),
      writes('b'),
    ].concat(PLAIN),
    coders: 1,
    isSupervised: true,
    planReview: 'human',
  })
  await world.untilIn('coder-1', 'PLAN_REVIEW')
  // Its table has no such way out of a review: that is a bug, and the runtime halts it.
  await world.deliver('coder-1', 'gave_in', 'by a bug')
  await world.until((found) => found.get('coder-1')?.halted === true)
  const leaving = new AbortController()
  const supervising = supervise(world.team(), leaving.signal)
  try {
    const agents = await world.until((found) => found.get('coder-1')?.generation === 2)
    expect(agents.get('coder-1')?.halted).toBe(false)
    for (let approved = 0; approved < 3; approved += 1) await world.answer({ choice: 'approve' })
    const done = await world.untilOver()
    const attempts = ['a', 'b'].map((name) => done.get(`story/${name}`)?.data.attempts)
    expect(attempts.toSorted()).toEqual([0, 1])
    expect(world.log().toSorted()).toEqual(['Add a', 'Add b', 'init'])
  } finally {
    leaving.abort()
    await supervising
  }
})

scenario('an abnormal end at any moment loses and doubles nothing', BOTH, async (open) => {
  const stories = NAMES.map((name, i) => story(name, { criteria: [i % 2 === 0 ? '1' : '2'] }))
  const world = await open({
    replies: [submit(...stories), ...NAMES.map((name) => writes(name)), ...PLAIN],
    coders: 2,
    architects: 2,
  })
  const isOver = async () => (await world.agents()).get('dispatcher')?.state === 'CLOSED'
  // The same as after a kill, but far more often: whoever waits is told, whatever is on its way.
  while (!(await isOver())) {
    await tellOfAbnormalEnd(world.team())
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(world.log().toSorted()).toEqual([...NAMES.map((name) => `Add ${name}`), 'init'])
  const moves = await world.moves('architect-1')
  expect(moves.some((move) => move.startsWith('WAITING'))).toBe(true)
})
