import { expect } from 'vitest'
import {
  call,
  OUT,
  once,
  PLAIN,
  PLAN,
  reply,
  sendSpecBack,
  story,
  submit,
  writes,
} from '../replies.ts'
import { BOTH, NEW, scenario } from '../scenario.ts'

const criteria = [{ id: '1', text: 'It greets.' }]
const HELLO = submit(story('hello', { criteria: ['1'] }))
const draft = (title = 'Greeter') => call('submit_spec', { title, body: 'A greeter.', criteria })
const pm = (state: string, ...steps: readonly object[]) => reply({ role: 'pm', state }, ...steps)
const asks = call('ask_user', { question: 'Which language?', options: ['shell'] })
const ABANDONED = 'ERROR cleaned_up DONE'

scenario('a spec is sent back and revised', BOTH, async (open, { architect }) => {
  const world = await open({
    replies: [
      once(sendSpecBack('It is vague.')),
      pm('REVISING', draft()),
      HELLO,
      writes('hello'),
      ...PLAIN,
    ],
  })
  await world.untilOver()
  expect(await world.moves('pm')).toContain('SPEC_REVIEW review_changes_requested REVISING')
  const back =
    architect === 'I' ? 'REQUEST returned_to_idle WAITING' : 'SCOPING failed_unrecoverably ERROR'
  expect(await world.moves('architect-1')).toContain(back)
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a spec that goes round too often is for the human', NEW, async (open) => {
  const world = await open({
    replies: [sendSpecBack('It is vague.'), pm('REVISING', draft()), pm('DRAFTING', draft()), PLAN],
    limits: { specRounds: 2 },
    coders: 0,
  })
  const { input } = await world.question()
  expect(input.question).toContain('sent the spec back 2 times')
  await world.answer({ text: 'Keep it.' })
  await world.until((found) => found.get('pm')?.state !== 'INTERVIEWING')
  await world.answer({ choice: 'abandon' })
  await world.untilIn('pm', 'DONE')
  const moves = await world.moves('pm')
  expect(moves).toContain('INTERVIEWING interview_completed DRAFTING')
  expect(moves.at(-1)).toBe(ABANDONED)
})

scenario('a document without criteria is drafted, asked about, and shown', NEW, async (open) => {
  const world = await open({
    replies: [
      reply({ role: 'pm', attempt: 1 }, OUT),
      once(pm('DRAFTING', asks)),
      once(pm('REVISING', asks)),
      pm('REVISING', draft()),
      pm('DRAFTING', draft()),
      HELLO,
      writes('hello'),
      ...PLAIN,
    ],
    spec: 'I want to be greeted.',
    preview: 'human',
  })
  await world.answer({ choice: 'shell' })
  await world.untilIn('pm', 'PREVIEW')
  await world.answer({})
  await world.answer({ choice: 'change', text: 'Shorter.' })
  await world.untilIn('pm', 'INTERVIEWING')
  await world.answer({ text: 'Shell.' })
  await world.untilIn('pm', 'PREVIEW')
  const { input } = await world.question()
  expect(input.question).toContain('1. It greets.')
  await world.answer({ choice: 'approve' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
  const moves = await world.moves('pm')
  expect(moves).toContain('REVISING question_asked INTERVIEWING')
  expect(moves).toContain('SUSPEND service_restored REVISING')
})

scenario('a wish becomes a spec by an interview', NEW, async (open) => {
  const world = await open({
    replies: [
      reply({ role: 'pm', attempt: 1 }, OUT),
      once(pm('INTERVIEWING', asks)),
      reply(
        { role: 'pm', state: 'INTERVIEWING', contains: 'The answer: shell' },
        call('end_interview', { summary: 'A greeter in shell.' }),
      ),
      reply({ role: 'pm', state: 'DRAFTING', contains: 'A greeter in shell.' }, draft()),
      HELLO,
      writes('hello'),
      ...PLAIN,
    ],
    spec: 'I want to be greeted.',
    isWish: true,
  })
  await world.answer({ choice: 'shell' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('an option in an interview means what the model means by it', NEW, async (open) => {
  const asks = call('ask_user', { question: 'How often?', options: ['again', 'abandon'] })
  const world = await open({
    replies: [
      once(pm('INTERVIEWING', asks)),
      once(reply({ role: 'pm', contains: 'The answer: again: after a second' }, asks)),
      reply(
        { role: 'pm', contains: 'The answer: abandon' },
        call('end_interview', { summary: 'A greeter.' }),
      ),
      pm('DRAFTING', draft()),
      HELLO,
      writes('hello'),
      ...PLAIN,
    ],
    spec: 'I want to be greeted.',
    isWish: true,
  })
  await world.answer({ choice: 'again', text: 'after a second' })
  await world.until((found) => found.get('pm')?.data.questions === 2)
  await world.answer({ choice: 'abandon', text: 'abandon' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a question while a wish is drafted leads back to drafting', NEW, async (open) => {
  const world = await open({
    replies: [
      pm('INTERVIEWING', call('end_interview', { summary: 'A greeter.' })),
      reply({ role: 'pm', state: 'DRAFTING', contains: 'Which language?' }, draft()),
      pm('DRAFTING', asks),
      HELLO,
      writes('hello'),
      ...PLAIN,
    ],
    spec: 'I want to be greeted.',
    isWish: true,
  })
  await world.answer({ choice: 'shell' })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
  expect(await world.moves('pm')).toContain('INTERVIEWING interview_completed DRAFTING')
})

/** What ends a spec before there is any story; the way is what the product manager did last. */
const ENDS: readonly [name: string, given: object, way: string, answer?: { choice: string }][] = [
  ['a preview is given up', { preview: 'human' }, 'PREVIEW abandoned ERROR', { choice: 'abandon' }],
  [
    'a preview times out',
    { preview: 'human', limits: { escalationMs: 1 } },
    'PREVIEW answer_timed_out ERROR',
  ],
  [
    'an interview is given up',
    { isWish: true, replies: [pm('INTERVIEWING', asks)] },
    'INTERVIEWING abandoned ERROR',
    { choice: 'abandon' },
  ],
  [
    'an interview times out',
    { isWish: true, replies: [pm('INTERVIEWING', asks)], limits: { escalationMs: 1 } },
    'INTERVIEWING answer_timed_out ERROR',
  ],
  [
    'an interview fails',
    { isWish: true, replies: [pm('INTERVIEWING', { fail: 'refused' })] },
    'INTERVIEWING failed_unrecoverably ERROR',
  ],
  [
    'a draft fails',
    { spec: 'Greet.', replies: [pm('DRAFTING', { fail: 'refused' })] },
    'DRAFTING failed_unrecoverably ERROR',
  ],
  [
    'a revision fails',
    { replies: [sendSpecBack('No.'), pm('REVISING', { fail: 'refused' })] },
    'REVISING failed_unrecoverably ERROR',
  ],
  [
    'the provider stays away',
    { spec: 'Greet.', replies: [pm('DRAFTING', OUT)], isUp: () => false, suspensionMs: 100 },
    'SUSPEND suspension_timed_out ERROR',
  ],
  [
    'the human gives a review up',
    { replies: [reply({ role: 'architect' }, { fail: 'refused' })] },
    'SPEC_REVIEW abandoned ERROR',
    { choice: 'abandon' },
  ],
]

for (const [name, given, way, answer] of ENDS) {
  scenario(`a spec is given up when ${name}`, NEW, async (open) => {
    const world = await open({ replies: [PLAN], coders: 0, ...given })
    if (answer !== undefined) await world.answer(answer)
    await world.untilIn('pm', 'DONE')
    expect((await world.moves('pm')).slice(-2)).toEqual([way, ABANDONED])
    expect(
      [...(await world.agents()).keys()].filter((place) => place.startsWith('story/')),
    ).toEqual([])
  })
}

scenario(
  'a spec that revision D cannot scope is given up',
  [{ coder: 'D', architect: 'D' }],
  async (open) => {
    const world = await open({
      replies: [reply({ role: 'architect' }, { fail: 'refused' })],
      coders: 0,
    })
    await world.untilIn('pm', 'DONE')
    expect(await world.moves('architect-1')).toEqual([
      'WAITING spec_received SCOPING',
      'SCOPING failed_unrecoverably ERROR',
      'ERROR recovered WAITING',
    ])
  },
)

scenario('stories that cannot be built go back to the architect', BOTH, async (open) => {
  const circle = [story('a', { depends_on: ['b'] }), story('b', { depends_on: ['a'] })]
  const good = call('submit_stories', { stories: [story('hello', { criteria: ['1', '2'] })] })
  const world = await open({
    replies: [
      reply(
        { role: 'architect', contains: 'These depend on each other: a → b → a.' },
        call('submit_stories', { stories: [story('a')] }),
      ),
      reply(
        { role: 'architect', contains: 'No story covers the criterion 2: It says goodbye.' },
        good,
      ),
      submit(...circle.map((one) => ({ ...one, criteria: ['1', '2'] }))),
      writes('hello'),
      ...PLAIN,
    ],
  })
  await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario(
  'an architect who never gets the stories right asks the human',
  BOTH,
  async (open, { architect }) => {
    const world = await open({
      replies: [reply({ role: 'architect' }, call('submit_stories', { stories: [story('a')] }))],
      limits: { reviewTurns: 3 },
      coders: 0,
    })
    if (architect === 'I') {
      const { input } = await world.question()
      expect(input.question).toContain('No story covers the criterion 2')
      await world.answer({ choice: 'abandon' })
    }
    await world.untilIn('pm', 'DONE')
  },
)
