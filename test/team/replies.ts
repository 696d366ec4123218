import type { Brain, BrainEvent } from '../../src/effects/brains/brain.ts'
import { readScenario } from '../../src/effects/brains/scenario.ts'
import { openScriptedBrain } from '../../src/effects/brains/scripted-brain.ts'

/** A reply of a scenario; `times` bounds how often it is given, where only the count can tell. */
export interface Reply {
  readonly when: object
  readonly do: readonly object[]
  readonly times?: number
}

export const reply = (when: object, ...steps: readonly object[]): Reply => ({ when, do: steps })
export const call = (name: string, input: object = {}) => ({ call: name, input })
export const once = (given: Reply): Reply => ({ ...given, times: 1 })

/** The scripted brain, one for each reply, so that a reply can be used up. */
export function scripted(replies: readonly Reply[]): Brain {
  const parts = replies.map(({ times = Infinity, ...one }) => {
    const read = readScenario(JSON.stringify({ replies: [one] }), 'test.yaml')
    if (!read.ok) throw new Error(read.problems.join('\n'))
    return { brain: openScriptedBrain(read.scenario), left: times }
  })
  return {
    name: 'scripted',
    async *think(turn, signal) {
      let last: BrainEvent | undefined
      for (const part of parts.filter(({ left }) => left > 0)) {
        const events = part.brain.think(turn, signal)[Symbol.asyncIterator]()
        const first = await events.next()
        if (first.done) continue
        last = first.value
        if (isUnexpected(first.value)) continue
        part.left -= 1
        yield first.value
        for (let next = await events.next(); !next.done; next = await events.next())
          yield next.value
        return
      }
      if (last !== undefined) yield last
    },
  }
}

function isUnexpected(event: BrainEvent): boolean {
  return event.type === 'failed' && event.failure.message.startsWith('nothing is scripted')
}

/** A story as the architect submits it; its criteria are those of the spec in order. */
export const story = (id: string, given: object = {}) => ({
  id,
  title: `Add ${id}`,
  description: `Write ${id}.sh.`,
  criteria: ['1'],
  ...given,
})

const SPEC_REVIEW = { role: 'architect', contains: 'Judge this spec.' }
export const submit = (...stories: readonly object[]) =>
  reply(SPEC_REVIEW, call('submit_stories', { stories }))
export const sendSpecBack = (problem: string) =>
  reply(SPEC_REVIEW, call('spec_feedback', { problems: [problem] }))

const PLANNING = { role: 'coder', state: 'PLANNING' }
export const PLAN = reply(
  PLANNING,
  call('submit_plan', { plan: 'Write it and its test.', confidence: 'high' }),
)
export const planning = (...steps: readonly object[]) => reply(PLANNING, ...steps)

/** Writes a script and a test of it. */
export const writing = (name: string) => [
  call('write_file', { path: `${name}.sh`, text: `echo ${name}\n` }),
  call('write_file', { path: `tests/${name}.sh`, text: `test "$(sh ${name}.sh)" = ${name}\n` }),
]
export const writes = (name: string, ...more: readonly object[]) =>
  reply(
    { role: 'coder', state: 'CODING', story: name, turn: 1, contains: 'Implement this story.' },
    ...writing(name),
    ...more,
  )
export const write = (path: string, text: string) => call('write_file', { path, text })

const WORKING = { role: 'coder', state: ['CODING', 'FIXING'] }
export const DONE = reply(WORKING, call('done', { summary: 'Written, with a test.' }))
export const working = (when: object, ...steps: readonly object[]) =>
  reply({ ...WORKING, ...when }, ...steps)

/** What prompts about mending begin with. */
export const TESTS_FAIL = { contains: 'The tests fail on your work.' }
export const REVIEWED = { contains: 'A reviewer read your change' }
export const CONFLICTED = { contains: 'does not go together' }

export const judges = (task: string, verdict: string, ...points: readonly string[]) =>
  reply(
    { role: 'architect', contains: task },
    call('review_complete', { verdict, must_fix: points }),
  )
export const PLAN_REVIEW = 'Judge this plan.'
export const CODE_REVIEW = 'Review this change.'
export const COMPLETION = 'Check the claim'
export const BUDGET = 'Decide how this story goes on.'
export const QUESTION = 'Answer this question'
export const APPROVE = reply(
  { role: 'architect' },
  call('review_complete', { verdict: 'approved' }),
)
export const decides = (decision: string, guidance = 'Go on.') =>
  reply({ role: 'architect', contains: BUDGET }, call('decide_budget', { decision, guidance }))
export const answers = (answer: string) =>
  reply({ role: 'architect', contains: QUESTION }, call('answer_question', { answer }))

/** What a service that is out answers: its agent is suspended at once. */
export const OUT = { fail: 'auth' }

/** Everything that a plain story needs, after what is special. */
export const PLAIN = [PLAN, DONE, APPROVE]
