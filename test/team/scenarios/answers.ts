import { expect } from 'vitest'
import type { JsonObject } from '../../../src/agents/values.ts'
import { gatherEvidence } from '../../../src/cli/view/evidence.ts'
import { journalSource } from '../../../src/cli/view/run-source.ts'
import { FILES, RUN } from '../parts.ts'
import {
  answers,
  BUDGET,
  CODE_REVIEW,
  COMPLETION,
  call,
  judges,
  once,
  PLAIN,
  PLAN_REVIEW,
  planning,
  QUESTION,
  reply,
  story,
  submit,
  TESTS_FAIL,
  working,
  write,
  writes,
  writing,
} from '../replies.ts'
import { ASKING, BOTH, NEW, scenario } from '../scenario.ts'

const HELLO = submit(story('hello', { criteria: ['1', '2'] }))
const ask = call('ask_question', { question: 'Which greeting?' })
const escalates = reply(
  { role: 'architect', contains: QUESTION },
  call('escalate', { question: 'Which greeting?', options: ['hello', 'hi'] }),
)

scenario('questions are answered in every state that has them', ASKING, async (open) => {
  const wrong = [...writing('hello'), write('hello.sh', 'echo wrong\n')]
  const world = await open({
    replies: [
      HELLO,
      once(planning(ask)),
      once(working({ state: 'CODING', contains: 'Implement' }, ask)),
      working({ state: 'CODING', contains: 'Say hello.', turn: 1 }, ...wrong),
      once(working({ state: 'FIXING', ...TESTS_FAIL }, ask)),
      working(
        { state: 'FIXING', contains: 'Say hello.', turn: 1 },
        write('hello.sh', 'echo hello\n'),
      ),
      answers('Say hello.'),
      ...PLAIN,
    ],
  })
  await world.untilOver()
  expect(world.target('hello.sh')).toBe('echo hello')
  const asked = (await world.moves('coder-1')).filter((move) => move.includes('question_answered'))
  expect(asked.map((move) => move.split(' ')[2])).toEqual(['PLANNING', 'CODING', 'FIXING'])
})

scenario('a human answers what the architect cannot', ASKING, async (open) => {
  const world = await open({
    replies: [HELLO, once(planning(ask)), escalates, writes('hello'), ...PLAIN],
  })
  const { input } = await world.question()
  expect(input).toMatchObject({ about: 'hello', choices: ['hello', 'hi', 'abandon'] })
  await world.answer({ text: 'Say hello.' })
  await world.untilOver()
  expect(await world.moves('architect-1')).toContain('ESCALATED human_answered REQUEST')
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('words of a human are the answer where the architect has none', ASKING, async (open) => {
  const world = await open({ replies: [HELLO, once(planning(ask)), writes('hello'), ...PLAIN] })
  const { input } = await world.question()
  expect(input).toMatchObject({
    question: expect.stringMatching(/^A coder asks: .*\n(.|\n)*could not decide it: rejected/),
    choices: ['abandon'],
    words: 'the answer that the coder gets',
  })
  await world.answer({ choice: '', text: 'Say hello.' })
  await world.untilOver()
  const told = (await world.rows()).filter(({ eventType }) => eventType === 'response')
  expect(told.map(({ body }) => (body.payload as JsonObject).feedback)).toContain('Say hello.')
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('an open question holds up nobody else', ASKING, async (open) => {
  const world = await open({
    replies: [
      submit(story('a'), story('b', { criteria: ['2'] })),
      once(reply({ role: 'coder', state: 'PLANNING', story: 'a' }, ask)),
      escalates,
      writes('a'),
      writes('b'),
      ...PLAIN,
    ],
    coders: 2,
    architects: 2,
  })
  await world.question()
  const agents = await world.untilIn('story/b', 'MERGED')
  expect(agents.get('coder-1')?.state).toBe('QUESTION')
  await world.answer({ choice: 'hi', text: '' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add a', 'Add b', 'init'])
  const told = (await world.rows()).filter(({ eventType }) => eventType === 'response')
  expect(told.map(({ body }) => (body.payload as JsonObject).feedback)).toContain('hi')
})

scenario('an option is passed on with what was added, whatever it is called', NEW, async (open) => {
  const options = ['again', 'abandon']
  const world = await open({
    replies: [
      HELLO,
      once(planning(ask)),
      reply(
        { role: 'architect', contains: QUESTION },
        call('escalate', { question: 'Greet once, or', options }),
      ),
      writes('hello'),
      ...PLAIN,
    ],
  })
  const { input } = await world.question()
  expect(input.choices).toEqual(['again', 'abandon (as an answer)', 'abandon'])
  await world.answer({ choice: 'again', text: 'and louder' })
  await world.untilOver()
  const told = (await world.rows()).filter(({ eventType }) => eventType === 'response')
  const feedback = told.map(({ body }) => (body.payload as JsonObject).feedback)
  expect(feedback).toContain('again: and louder')
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a human gives a question up', ASKING, async (open) => {
  const world = await open({
    replies: [HELLO, once(planning(ask)), escalates, writes('hello'), ...PLAIN],
  })
  await world.answer({ choice: 'abandon', text: 'Never mind.' })
  await world.untilOver()
  expect(await world.moves('coder-1')).toContain('QUESTION abandoned ERROR')
  expect(await world.moves('architect-1')).toContain('REQUEST abandoned ERROR')
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('an answer that comes too late is refused, and nothing is lost', ASKING, async (open) => {
  const world = await open({
    replies: [HELLO, once(planning(ask)), escalates, writes('hello'), ...PLAIN],
    limits: { escalationMs: 500 },
  })
  const { id } = await world.question()
  await world.until((agents) => agents.get('architect-1')?.state !== 'ESCALATED')
  expect(await world.team().runtime.answer(id, { text: 'Say hello.' })).toBe('not_open')
  await world.untilOver()
  expect(await world.moves('architect-1')).toContain('ESCALATED answer_timed_out ERROR')
  expect(await world.moves('coder-1')).toContain('QUESTION failed_unrecoverably ERROR')
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a human judges plans', BOTH, async (open) => {
  const world = await open({
    replies: [HELLO, writes('hello'), ...PLAIN],
    planReview: 'human',
  })
  const first = await world.question()
  expect(first.input).toMatchObject({ kind: 'plan' })
  await world.answer({ choice: 'needs_changes', text: 'Say more.' })
  await world.until((agents) => agents.get('architect-1')?.state !== 'ESCALATED')
  await world.answer({ choice: 'approve' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a review that nobody can decide fails the attempt, not the run', NEW, async (open) => {
  const refuses = (task: string, name: string) =>
    once(reply({ role: 'architect', story: name, contains: task }, { fail: 'refused' }))
  const world = await open({
    replies: [
      submit(story('a'), story('b', { criteria: ['2'] }), story('c')),
      ...(['a', 'b', 'c'] as const).map((name) => writes(name)),
      refuses(PLAN_REVIEW, 'a'),
      refuses(CODE_REVIEW, 'b'),
      once(
        reply({ role: 'coder', story: 'c', state: 'CODING', forced: 'done' }, call('list_files')),
      ),
      refuses(BUDGET, 'c'),
      ...PLAIN,
    ],
    planReview: 'model',
    limits: { escalationMs: 1, codingTurns: 2 },
  })
  await world.untilOver()
  const moves = await world.moves('coder-1')
  for (const state of ['PLAN_REVIEW', 'CODE_REVIEW', 'BUDGET_REVIEW']) {
    expect(moves).toContain(`${state} failed_unrecoverably ERROR`)
  }
  expect(world.log().toSorted()).toEqual(['Add a', 'Add b', 'Add c', 'init'])
})

const CLAIM = planning(call('mark_story_complete', { evidence: 'It is all there.' }))

scenario('a story that is complete already needs no change', BOTH, async (open) => {
  const world = await open({ replies: [HELLO, CLAIM, ...PLAIN] })
  const agents = await world.untilOver()
  expect(agents.get('story/hello')?.state).toBe('MERGED')
  expect(await world.moves('story/hello')).toContain('ASSIGNED completion_approved MERGED')
  expect(world.log()).toEqual(['init'])
  const evidence = await gatherEvidence(journalSource(world.team().journal), RUN)
  const [hello] = evidence.criteria.flatMap(({ stories }) => stories)
  expect(hello).toMatchObject({ commit: null, tests: { verdict: 'passed' } })
})

scenario('a claim that the tests belie leads back to planning', BOTH, async (open) => {
  const mends = [...writing('hello'), write('tests/0.sh', 'true\n')]
  const told = { role: 'coder', state: 'PLANNING', contains: 'What the tests said' }
  const world = await open({
    replies: [
      HELLO,
      reply(told, call('submit_plan', { plan: 'Write it.', confidence: 'high' })),
      CLAIM,
      working({ turn: 1, contains: 'Implement this story.' }, ...mends),
      ...PLAIN,
    ],
    files: { ...FILES, 'tests/0.sh': 'touch litter\nfalse\n' },
  })
  await world.untilOver()
  expect(await world.moves('story/hello')).toContain('ASSIGNED merged MERGED')
  expect(world.log()).toEqual(['Add hello', 'init'])
  // It is merged without what the tests of the claim have written.
  expect(world.target('litter')).toBeUndefined()
})

scenario('a claim that is denied leads back to planning', BOTH, async (open) => {
  const world = await open({
    replies: [
      HELLO,
      once(CLAIM),
      judges(COMPLETION, 'needs_changes', 'There is no greeting.'),
      writes('hello'),
      ...PLAIN,
    ],
  })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})
