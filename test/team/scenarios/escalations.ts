import { expect } from 'vitest'
import { changeBudget } from '../../../src/cli/engine/budget.ts'
import { tellOfAbnormalEnd } from '../../../src/cli/engine/supervision.ts'
import { RUN } from '../parts.ts'
import {
  BUDGET,
  CODE_REVIEW,
  COMPLETION,
  call,
  decides,
  once,
  PLAIN,
  PLAN_REVIEW,
  planning,
  QUESTION,
  reply,
  story,
  submit,
  writes,
} from '../replies.ts'
import { ASKING, BOTH, scenario } from '../scenario.ts'
import type { TeamWorld } from '../world.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const STORIES = NAMES.map((name, i) => story(name, { criteria: [i % 2 === 0 ? '1' : '2'] }))
const WRITES = NAMES.map((name) => writes(name))
const refuses = (task: string, name: string) =>
  once(reply({ role: 'architect', story: name, contains: task }, { fail: 'refused' }))

/** Waits until these are merged, while nobody answers what so many others asked. */
async function othersAreMerged(world: TeamWorld, names: readonly string[], asked: number) {
  const agents = await world.until((found) => {
    const waiting = [...found.values()].filter(({ state }) => state === 'ESCALATED')
    const areMerged = names.every((name) => found.get(`story/${name}`)?.state === 'MERGED')
    return areMerged && waiting.length === asked
  })
  // The team has grown by no more than it had to.
  const architects = [...agents.keys()].filter((place) => place.startsWith('architect-'))
  expect(architects.length).toBeLessThanOrEqual(asked + 1)
}

async function allAreMerged(world: TeamWorld, names: readonly string[]) {
  await world.untilOver()
  expect(world.log().toSorted()).toEqual([...names.map((name) => `Add ${name}`), 'init'])
}

scenario('whatever humans are asked holds up nobody else', BOTH, async (open) => {
  const claim = planning(call('mark_story_complete', { evidence: 'It is all there.' }))
  const world = await open({
    replies: [
      submit(...STORIES),
      once({ ...claim, when: { ...claim.when, story: 'c' } }),
      ...WRITES,
      refuses(PLAN_REVIEW, 'a'),
      refuses(CODE_REVIEW, 'b'),
      refuses(COMPLETION, 'c'),
      once(
        reply({ role: 'coder', story: 'd', state: 'CODING', forced: 'done' }, call('list_files')),
      ),
      refuses(BUDGET, 'd'),
      ...PLAIN,
    ],
    planReview: 'model',
    coders: 6,
    architects: 2,
    limits: { codingTurns: 2 },
  })
  await othersAreMerged(world, ['e', 'f'], 4)
  for (let answered = 0; answered < 4; answered += 1) await world.answer({ choice: 'approve' })
  // What is complete already brings no commit.
  await allAreMerged(world, ['a', 'b', 'd', 'e', 'f'])
})

scenario('nor does it after an abnormal end', ASKING, async (open) => {
  const names = NAMES.slice(0, 4)
  const ask = call('ask_question', { question: 'Which greeting?' })
  const asks = ['a', 'b'].map((name) =>
    once(reply({ role: 'coder', state: 'PLANNING', story: name }, ask)),
  )
  const escalates = reply(
    { role: 'architect', contains: QUESTION },
    call('escalate', { question: 'Which greeting?', options: ['hello', 'hi'] }),
  )
  const replies = [submit(...STORIES.slice(0, 4)), escalates, ...WRITES, ...PLAIN]
  const world = await open({ replies: [...asks, ...replies], coders: 4, architects: 2 })
  await world.until((found) =>
    ['architect-1', 'architect-2'].every((place) => found.get(place)?.state === 'ESCALATED'),
  )
  await world.reopen({ replies })
  await tellOfAbnormalEnd(world.team())
  await othersAreMerged(world, ['c', 'd'], 2)
  await world.reopen()
  await tellOfAbnormalEnd(world.team())
  await world.answer({ choice: 'hi', text: '' })
  await world.answer({ choice: 'hello', text: '' })
  await allAreMerged(world, names)
})

scenario('stories that have spent their budgets hold up no other', BOTH, async (open) => {
  const names = NAMES.slice(0, 4)
  const looks = ['a', 'b'].map((name) =>
    reply(
      { role: 'coder', state: 'PLANNING', story: name, turn: { from: 1, to: 3 } },
      call('list_files'),
    ),
  )
  const world = await open({
    replies: [submit(...STORIES.slice(0, 4)), ...looks, ...WRITES, decides('continue'), ...PLAIN],
    budget: { story: { iterationsMax: 5 } },
    coders: 4,
    architects: 2,
  })
  await othersAreMerged(world, ['c', 'd'], 2)
  await changeBudget(world.team(), RUN, { run: {}, story: { iterationsMax: 100 } })
  await allAreMerged(world, names)
})
