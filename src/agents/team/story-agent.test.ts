import { expect, test } from 'vitest'
import type { Story } from '../../stories/story.ts'
import type { AgentView, Decision } from '../role.ts'
import type { AgentId, Json, JsonObject } from '../values.ts'
import { DEFAULT_LIMITS, type Lesson, type StoryEnded } from './protocol.ts'
import { CUT_STORY, storyRole } from './story-agent.ts'

const STORY: Story = {
  id: 'a',
  title: 'A',
  description: 'Do it.',
  criteria: [],
  dependsOn: [],
  expectedFiles: ['a.ts'],
  kind: 'app',
  estimate: 'small',
}
const settings = { run: 'r', limits: { ...DEFAULT_LIMITS, attempts: 3 } }
const CODER = 'r/coder-1' as AgentId

/** A story as an agent, told one message after the other. */
function live(given: Partial<Story> = {}, dependents: readonly string[] = []) {
  let agent: AgentView = {
    id: 'r/story/a' as AgentId,
    state: 'BLOCKED',
    origin: null,
    data: {},
    generation: 1,
    seq: 0,
  }
  const tell = (type: string, payload: unknown = null): Decision => {
    const event = { id: 'e', type, payload: payload as Json, atMs: 0 }
    const decision = storyRole.handle(agent, event)
    const data = { ...agent.data, ...decision.set }
    const kept = Object.entries(data).filter(([, value]) => value !== null)
    const state = decision.move?.to ?? agent.state
    agent = { ...agent, data: Object.fromEntries(kept), state, seq: agent.seq + 1 }
    return decision
  }
  tell('story_loaded', { story: { ...STORY, ...given }, dependents, settings })
  const fail = (lesson: Partial<Lesson> = {}, isCharged = true) => {
    const whole = { reason: 'no', fingerprint: 'f', failures: '', diff: null, ...lesson }
    const ended: StoryEnded = { coder: CODER, end: { kind: 'failed', lesson: whole, isCharged } }
    tell('story_taken', { coder: CODER })
    tell('story_ended', ended)
    return tell('effect_finished', {
      effect: 'x',
      kind: 'clean_up',
      result: { ok: true, value: null },
    })
  }
  const answer = (value: JsonObject) => {
    const effect = agent.data.asked as string
    return tell('effect_finished', { effect, kind: 'ask_human', result: { ok: true, value } })
  }
  return { tell, fail, answer, state: () => agent.state, data: () => agent.data }
}

const sent = ({ send = [] }: Decision) => send.map(({ to, type }) => `${type} → ${to.slice(2)}`)

test('a story is ready when everything that it needs is there', () => {
  const story = live({ dependsOn: ['x', 'y'] })
  story.tell('dependency_met', { story: 'x', reason: '' })
  expect(story.state()).toBe('BLOCKED')
  expect(sent(story.tell('dependency_met', { story: 'y', reason: '' }))).toEqual([
    'story_ready → dispatcher',
  ])
  expect(story.state()).toBe('READY')
})

test('nobody takes a failed story up before what the coder left is cleared', () => {
  const story = live()
  story.tell('story_taken', { coder: CODER })
  const lesson = { reason: 'no', fingerprint: 'f', failures: '', diff: null }
  const ended = story.tell('story_ended', {
    coder: CODER,
    end: { kind: 'failed', lesson, isCharged: true },
  })
  expect(ended.effects).toEqual([{ kind: 'clean_up', input: { run: 'r', story: 'a' } }])
  expect(story.state()).toBe('ASSIGNED')
  const result = { ok: true, value: null }
  const cleared = story.tell('effect_finished', { effect: 'x', kind: 'clean_up', result })
  expect(sent(cleared)).toEqual([
    'story_cleared → coder-1',
    'story_over → dispatcher',
    'story_ready → dispatcher',
  ])
})

test('attempts are counted, and the last one fails the story', () => {
  const story = live({}, ['b'])
  story.fail({ fingerprint: '1' })
  story.fail({ fingerprint: '2' })
  expect(story.state()).toBe('READY')
  const last = story.fail({ fingerprint: '3' })
  expect(story.state()).toBe('FAILED')
  expect(sent(last)).toContain('dependency_failed → story/b')
})

test('the same failure is not tried again, and another one is', () => {
  const story = live()
  story.fail({ fingerprint: '1' })
  story.fail({ fingerprint: '1' })
  expect(story.state()).toBe('FAILED')
})

test('an outage is not charged, however often it comes', () => {
  const story = live()
  for (let i = 0; i < 10; i += 1) story.fail({}, false)
  expect(story.state()).toBe('READY')
  expect(story.data().attempts).toBe(0)
})

test('a coder whose story is gone is free again', () => {
  const story = live()
  story.tell(CUT_STORY)
  expect(sent(story.tell('story_taken', { coder: CODER }))).toEqual([
    'story_over → dispatcher',
    'coder_idle → dispatcher',
  ])
})

test('a cut story withdraws its question and takes its dependents along', () => {
  const story = live({}, ['b'])
  story.fail({ fingerprint: '1' })
  story.fail({ fingerprint: '1' })
  const asked = story.data().asked
  const decision = story.tell(CUT_STORY)
  expect(decision.cancel).toEqual([asked])
  expect(sent(decision)).toEqual(['story_over → dispatcher', 'dependency_cut → story/b'])
})

test('a story that somebody has cannot be cut', () => {
  const story = live()
  story.tell('story_taken', { coder: CODER })
  story.tell(CUT_STORY)
  expect(story.state()).toBe('ASSIGNED')
})

test.each<[JsonObject, string]>([
  [{ choice: 'retry' }, 'READY'],
  [{ choice: 'rewrite', text: 'Otherwise.' }, 'READY'],
  [{ choice: 'waive' }, 'WAIVED'],
  [{ choice: 'cut' }, 'CUT'],
  [{ choice: 'rewrite', text: ' ' }, 'FAILED'],
  [{ text: 'Hm.' }, 'FAILED'],
])('the answer %o leads to %s', (answer, state) => {
  const story = live()
  story.fail({ fingerprint: '1' })
  story.fail({ fingerprint: '1' })
  const { effects = [] } = story.answer(answer)
  expect(story.state()).toBe(state)
  // What says nothing is asked for again.
  expect(effects.map(({ kind }) => kind)).toEqual(state === 'FAILED' ? ['ask_human'] : [])
})

test('what stands in its way is passed on once, and taken back once', () => {
  const story = live({ dependsOn: ['x', 'y'] }, ['b'])
  const told = (type: string, id: string) => sent(story.tell(type, { story: id, reason: 'no' }))
  expect(told('dependency_failed', 'x')).toEqual(['dependency_failed → story/b'])
  expect(told('dependency_failed', 'y')).toEqual([])
  expect(told('dependency_retried', 'x')).toEqual([])
  expect(told('dependency_retried', 'y')).toEqual(['dependency_retried → story/b'])
})

test.each<[string, JsonObject | null, string[]]>([
  ['MERGED', null, ['dependency_met → story/c']],
  ['WAIVED', { choice: 'waive' }, ['dependency_met → story/c']],
  ['CUT', { choice: 'cut' }, ['dependency_cut → story/c']],
  ['FAILED', { text: 'Hm.' }, ['dependency_failed → story/c']],
  ['READY', { choice: 'retry' }, []],
])('who waits for a story of an earlier spec that is %s is told', (state, answer, told) => {
  const story = live({}, ['b'])
  if (answer === null) {
    story.tell('story_taken', { coder: CODER })
    story.tell('story_ended', { coder: CODER, end: { kind: 'merged', commit: 'c' } })
  } else {
    for (let i = 0; i < 2; i += 1) story.fail({ fingerprint: '1' })
    story.answer(answer)
  }
  expect(story.state()).toBe(state)
  const loaded = { story: STORY, dependents: ['b', 'c'], settings }
  expect(sent(story.tell('story_loaded', loaded))).toEqual(told)
  expect(story.data().dependents).toEqual(['b', 'c'])
  expect(sent(story.tell('story_loaded', loaded))).toEqual([])
})

test('who waits for a story that is held up itself is told by what', () => {
  const story = live({ dependsOn: ['x'] })
  story.tell('dependency_failed', { story: 'x', reason: 'no' })
  const { send } = story.tell('story_loaded', { story: STORY, dependents: ['c'], settings })
  expect(send).toMatchObject([{ payload: { story: 'a', reason: 'it waits for x: no' } }])
})

test('what a story was not loaded with does not concern it', () => {
  const story = live()
  story.tell('dependency_cut', { story: 'x', reason: 'cut' })
  expect(story.state()).toBe('READY')
})
