import { expect } from 'vitest'
import type { JsonObject } from '../../../src/agents/values.ts'
import {
  answers,
  CODE_REVIEW,
  call,
  decides,
  judges,
  once,
  PLAIN,
  PLAN,
  PLAN_REVIEW,
  planning,
  reply,
  story,
  submit,
  TESTS_FAIL,
  working,
  write,
  writes,
  writing,
} from '../replies.ts'
import { BOTH, NEW, OLD, scenario } from '../scenario.ts'

const HELLO = submit(story('hello', { criteria: ['1', '2'] }))
const NEVER_DONE = { role: 'coder', state: 'CODING', forced: 'done' }
const DISOBEYS = { ...NEVER_DONE, contains: 'Implement this' }
const LOOKS = call('list_files')
const finish = call('done', { summary: 'Done.' })

/** How often a story was handed to a coder. */
const attempts = (moves: readonly string[]) =>
  moves.filter((move) => move === 'READY story_assigned ASSIGNED').length

scenario('spent turns are granted again in every state that has them', BOTH, async (open) => {
  const mends = { role: 'coder', state: ['CODING', 'FIXING'] }
  const more = { ...mends, contains: 'You have more turns' }
  const world = await open({
    replies: [
      HELLO,
      once(reply({ role: 'coder', state: 'PLANNING', forced: 'submit_plan' }, LOOKS)),
      once(reply(DISOBEYS, ...writing('hello'), write('hello.sh', 'echo wrong\n'))),
      once(reply({ ...mends, ...TESTS_FAIL, forced: 'done' }, LOOKS)),
      once(reply(more, finish)),
      reply(more, write('hello.sh', 'echo hello\n'), finish),
      reply({ ...mends, ...TESTS_FAIL }, write('hello.sh', 'echo hello\n'), finish),
      decides('continue'),
      ...PLAIN,
    ],
    limits: { planningTurns: 1, codingTurns: 1, fixingTurns: 1, budgetGrants: 3 },
  })
  await world.untilOver()
  expect(world.target('hello.sh')).toBe('echo hello')
})

/** The turns are spent once while coding, and this is decided about it. */
const spentOnce = (decision: string, ...steps: readonly object[]) => [
  HELLO,
  once(reply(DISOBEYS, ...steps)),
  decides(decision, 'Be short.'),
  reply({ ...DISOBEYS, contains: 'Be short.' }, ...writing('hello'), finish),
  reply(DISOBEYS, ...writing('hello'), finish),
  ...PLAIN,
]
const ONE_TURN = { codingTurns: 1 }

scenario('a pivot goes on with another plan', BOTH, async (open, { coder }) => {
  const world = await open({ replies: spentOnce('pivot', LOOKS), limits: ONE_TURN })
  await world.untilOver()
  const move =
    coder === 'F' ? 'BUDGET_REVIEW budget_granted CODING' : 'BUDGET_REVIEW replan_ordered PLANNING'
  expect(await world.moves('coder-1')).toContain(move)
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a replan begins with the plan', OLD, async (open) => {
  const world = await open({ replies: spentOnce('replan', LOOKS), limits: ONE_TURN })
  await world.untilOver()
  expect(await world.moves('coder-1')).toContain('BUDGET_REVIEW replan_ordered PLANNING')
})

scenario('an escalated budget shows the code as it is', NEW, async (open) => {
  const world = await open({
    replies: spentOnce('escalate', ...writing('hello')),
    limits: ONE_TURN,
  })
  await world.untilOver()
  const moves = await world.moves('coder-1')
  expect(moves).toContain('BUDGET_REVIEW budget_escalated CODE_REVIEW')
  expect(moves).not.toContain('TESTING tests_passed CODE_REVIEW')
  expect(world.target('hello.sh')).toBe('echo hello')
})

scenario('an abandoned story is taken up again with what was learned', BOTH, async (open) => {
  const again = { ...DISOBEYS, contains: 'Attempt 1: the budget is spent: Be short.' }
  const [spec, spent, decided] = spentOnce('abandon', LOOKS)
  const replies = [spec, spent, decided, reply(again, ...writing('hello'), finish), ...PLAIN]
  const world = await open({
    replies: replies.filter((one) => one !== undefined),
    limits: ONE_TURN,
  })
  const agents = await world.untilOver()
  expect(agents.get('story/hello')?.data.attempts).toBe(1)
  expect(agents.get('coder-1')?.generation).toBeGreaterThan(1)
  // What is counted goes on over generations: every turn of anybody is in the books once.
  const thought = (await world.rows()).filter(
    ({ eventType, body }) =>
      eventType === 'effect_finished' && (body.payload as JsonObject | undefined)?.kind === 'think',
  )
  const ofRun = agents.get('ledger')?.data.run as { readonly spent?: JsonObject } | undefined
  expect(ofRun?.spent?.iterations).toBe(thought.length)
  const births = (await world.rows()).filter(({ kind }) => kind === 'born')
  const second = births.findLast(({ agentId }) => agentId.endsWith('/coder-1'))
  expect(thought.some(({ seq }) => seq < (second?.seq ?? 0))).toBe(true)
})

scenario('more turns are granted a few times only', BOTH, async (open) => {
  const world = await open({
    replies: [HELLO, reply(NEVER_DONE, LOOKS), decides('continue'), ...PLAIN],
    limits: { ...ONE_TURN, budgetGrants: 1 },
  })
  await world.untilIn('story/hello', 'FAILED')
  await world.answer({ choice: 'cut' })
  await world.untilOver()
  const reviews = (await world.moves('coder-1')).filter((move) => move.includes('budget_exhausted'))
  expect(reviews).toHaveLength(4)
})

scenario('a plan goes back and forth a few times only', BOTH, async (open) => {
  const world = await open({
    replies: [HELLO, judges(PLAN_REVIEW, 'needs_changes', 'Say more.'), ...PLAIN],
    planReview: 'model',
    limits: { planRounds: 2, attempts: 5 },
  })
  const agents = await world.untilIn('story/hello', 'FAILED')
  expect(agents.get('story/hello')?.data.attempts).toBe(2)
  const moves = await world.moves('coder-1')
  expect(moves.filter((move) => move === 'PLANNING plan_submitted PLAN_REVIEW')).toHaveLength(4)
  await world.answer({ choice: 'cut' })
  await world.untilOver()
})

scenario('code goes back and forth a few times only', BOTH, async (open) => {
  const world = await open({
    replies: [HELLO, writes('hello'), judges(CODE_REVIEW, 'needs_changes', 'Say more.'), ...PLAIN],
    limits: { codeRounds: 2, attempts: 5 },
  })
  await world.untilIn('story/hello', 'FAILED')
  const moves = await world.moves('coder-1')
  expect(moves.filter((move) => move === 'TESTING tests_passed CODE_REVIEW')).toHaveLength(4)
  await world.answer({ choice: 'waive' })
  await world.untilOver()
  expect(world.log()).toEqual(['init'])
})

scenario('the same failure is not tried a third time', BOTH, async (open) => {
  const wrong = [...writing('hello'), write('hello.sh', 'echo wrong\n')]
  const world = await open({
    replies: [
      HELLO,
      working({ contains: 'Implement this story.', turn: 1 }, ...wrong),
      decides('abandon', 'It does not work.'),
      ...PLAIN,
    ],
    limits: { sameFailures: 2, attempts: 5 },
  })
  await world.untilIn('story/hello', 'FAILED')
  expect(attempts(await world.moves('story/hello'))).toBe(2)
  const { input } = await world.question()
  expect(input.question).toContain('in the same way twice')
  expect(input.question).toContain('(tests: ')
  await world.answer({ choice: 'cut' })
  await world.untilOver()
})

scenario('planning that cannot go on asks once, and then for a decision', NEW, async (open) => {
  const world = await open({
    replies: [
      HELLO,
      planning({ fail: 'refused' }),
      answers('Try again.'),
      decides('abandon'),
      PLAN,
    ],
    limits: { attempts: 1 },
  })
  await world.untilIn('story/hello', 'FAILED')
  const moves = await world.moves('coder-1')
  expect(moves.filter((move) => move === 'PLANNING question_asked QUESTION')).toHaveLength(1)
  await world.answer({ choice: 'cut' })
  await world.untilOver()
})

scenario('work that is blocked while it is mended is given up', NEW, async (open) => {
  const wrong = [...writing('hello'), write('hello.sh', 'echo wrong\n')]
  const world = await open({
    replies: [
      HELLO,
      once(working({ contains: 'Implement this story.', turn: 1 }, ...wrong)),
      working(TESTS_FAIL, call('report_blocked', { reason: 'No idea.' })),
      writes('hello'),
      ...PLAIN,
    ],
  })
  await world.untilOver()
  expect(await world.moves('coder-1')).toContain('FIXING failed_unrecoverably ERROR')
  expect(world.target('hello.sh')).toBe('echo hello')
})

scenario('a coder that fails at story after story stays', OLD, async (open) => {
  const names = Array.from({ length: 7 }, (_, i) => `s${i}`)
  const world = await open({
    replies: [
      submit(...names.map((name) => story(name, { criteria: ['1', '2'] }))),
      working({}, call('report_blocked', { reason: 'No way.' })),
      ...PLAIN,
    ],
    limits: { attempts: 1 },
  })
  await world.until((found) =>
    names.every((name) => found.get(`story/${name}`)?.state === 'FAILED'),
  )
  const agents = await world.untilIn('coder-1', 'WAITING')
  expect(agents.get('coder-1')?.generation).toBe(8)
  for (const name of names) await world.deliver(`story/${name}`, 'cut_story')
  await world.untilOver()
})
