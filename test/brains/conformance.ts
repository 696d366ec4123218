import { describe, expect, test } from 'vitest'
import type { Brain, FailureKind } from '../../src/effects/brains/brain.ts'
import type { Reply } from '../providers/answer.ts'
import { breachIn, only, TURN, textOf, thinkThrough } from './turn.ts'

/** What is behind a brain. */
export type Play =
  | { readonly reply: Reply }
  | { readonly fails: FailureKind; readonly retryAfterMs?: number }
  /** Begins to answer, and never ends. */
  | { readonly hangs: true }

/** What only some can do: hang, deliver an input that is no JSON, or be told a count that is none. */
type Feat = 'hang' | 'bad_input' | 'bad_count'

/** A kind of brain, for the suite that every kind has to pass. */
export interface BrainSubject {
  readonly name: string
  /** What it cannot show, because nothing behind it can do it. */
  readonly without?: readonly (FailureKind | Feat)[]
  /** A brain that will be answered like this. */
  open(play: Play): Promise<Brain>
}

const FAILURES: readonly FailureKind[] = [
  'rate_limited',
  'overloaded',
  'auth',
  'quota',
  'context_overflow',
  'network',
  'timeout',
  'stalled',
  'refused',
  'invalid_output',
  'rejected',
]

const CALLING: Reply = {
  parts: [
    { type: 'reasoning', text: 'The file has to be read before anything can be said about it.' },
    { type: 'text', text: 'I look at both files — “a.ts” and 𝄞 — before I change one of them.' },
    { type: 'call', name: 'read_file', input: { path: 'a.ts' } },
    { type: 'call', name: 'read_file', input: { path: 'ü/b.ts', deep: { list: [1, null, true] } } },
  ],
}

/** What every brain keeps to, whatever is behind it. */
export function describeBrain(subject: BrainSubject): void {
  describe(subject.name, () => {
    describeReplies(subject)
    describeOddReplies(subject)
    describeFailures(subject)
    describeEnds(subject)
  })
}

function lacks({ without }: BrainSubject, what: FailureKind | Feat): boolean {
  return without?.includes(what) === true
}

function describeReplies(subject: BrainSubject): void {
  test('text comes as it is, and the reply ends with stop', async () => {
    const text = 'Done: “a.ts” has a test now, and 𝄞 is left alone.\n\n  - one\n'
    const brain = await subject.open({ reply: { parts: [{ type: 'text', text }] } })
    const events = await thinkThrough(brain)
    expect(breachIn(events)).toBeUndefined()
    expect(textOf(events)).toBe(text)
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'stop' })
  })

  test('reasoning, text and parallel tool calls come in one turn', async () => {
    const brain = await subject.open({ reply: CALLING })
    const events = await thinkThrough(brain)
    expect(breachIn(events)).toBeUndefined()
    expect(textOf(events, 'reasoning')).toContain('has to be read')
    expect(textOf(events)).toContain('“a.ts” and 𝄞')
    expect(only(events, 'tool_call').map(({ call }) => [call.name, call.input])).toEqual([
      ['read_file', { path: 'a.ts' }],
      ['read_file', { path: 'ü/b.ts', deep: { list: [1, null, true] } }],
    ])
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
  })

  test('what the turn cost is told', async () => {
    const parts = [{ type: 'text', text: 'Yes.' }] as const
    const brain = await subject.open({ reply: { parts, outputTokens: 17 } })
    const [told] = only(await thinkThrough(brain), 'usage')
    expect(told?.usage.outputTokens).toBe(17)
    expect(told?.usage.inputTokens).toBeGreaterThan(0)
  })

  const isCounted = lacks(subject, 'bad_count')
  test.skipIf(isCounted)('a cost that no turn can have is not told', async () => {
    const parts = [{ type: 'text', text: 'Yes.' }] as const
    for (const outputTokens of [2 ** 53, 2 ** 64, 1.5, -1]) {
      const events = await thinkThrough(await subject.open({ reply: { parts, outputTokens } }))
      const [told] = only(events, 'usage')
      expect(told?.usage.outputTokens).toBeNull()
      expect(events.at(-1)).toMatchObject({ type: 'finished' })
    }
  })
}

function describeOddReplies(subject: BrainSubject): void {
  const isReadable = lacks(subject, 'bad_input')
  test.skipIf(isReadable).each([
    ['is no JSON', '{"path": "a.ts", '],
    ['says something twice', '{"path": "a.ts", "path": "b.ts"}'],
    ['says it twice further in', '{"paths": [{"path": "a.ts", "p\\u0061th": "b.ts"}]}'],
  ])('an input that %s is delivered as it came', async (_, text) => {
    const parts = [{ type: 'bad_call', name: 'read_file', text }] as const
    const events = await thinkThrough(await subject.open({ reply: { parts } }))
    expect(breachIn(events)).toBeUndefined()
    expect(only(events, 'tool_call').map(({ call }) => call.input)).toEqual([text])
  })

  test('a tool that nobody offered is delivered too: the tool layer answers it', async () => {
    const parts = [{ type: 'call', name: 'launch', input: {} }] as const
    const events = await thinkThrough(await subject.open({ reply: { parts } }))
    expect(only(events, 'tool_call').map(({ call }) => call.name)).toEqual(['launch'])
  })

  test('a reply that ran into its limit says so', async () => {
    const parts = [{ type: 'text', text: 'And then the' }] as const
    const events = await thinkThrough(await subject.open({ reply: { parts, end: 'length' } }))
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'length' })
  })
}

function describeFailures(subject: BrainSubject): void {
  for (const kind of FAILURES.filter((one) => !lacks(subject, one))) {
    test(`${kind} is the last event, with words and without calls`, async () => {
      const events = await thinkThrough(await subject.open({ fails: kind }))
      expect(breachIn(events)).toBeUndefined()
      expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind } })
      const [failed] = only(events, 'failed')
      expect(failed?.failure.message).not.toBe('')
    })
  }

  test('how long a provider wants to be left alone is told, however long', async () => {
    const brain = await subject.open({ fails: 'rate_limited', retryAfterMs: 7_200_000 })
    const events = await thinkThrough(brain)
    expect(events.at(-1)).toMatchObject({ failure: { retryAfterMs: 7_200_000 } })
  })
}

function describeEnds(subject: BrainSubject): void {
  test('a turn that is given up before it begins is aborted', async () => {
    const brain = await subject.open({ reply: CALLING })
    const events = await thinkThrough(brain, TURN, AbortSignal.abort())
    expect(events).toMatchObject([{ type: 'failed', failure: { kind: 'aborted' } }])
  })

  test.skipIf(lacks(subject, 'hang'))('a turn is given up promptly while it hangs', async () => {
    const brain = await subject.open({ hangs: true })
    const end = new AbortController()
    const started = performance.now()
    setTimeout(() => end.abort(), 100)
    const events = await thinkThrough(brain, TURN, end.signal)
    expect(breachIn(events)).toBeUndefined()
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'aborted' } })
    expect(performance.now() - started).toBeLessThan(2_000)
  })

  test('who stops listening is not told more', async () => {
    const brain = await subject.open({ reply: CALLING })
    const events = brain.think(TURN, new AbortController().signal)[Symbol.asyncIterator]()
    expect((await events.next()).done).toBe(false)
    await events.return?.()
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('the same turn can be asked again, and at the same time', async () => {
    const brain = await subject.open({ reply: CALLING })
    const all = await Promise.all([thinkThrough(brain), thinkThrough(brain), thinkThrough(brain)])
    for (const events of all) {
      expect(breachIn(events)).toBeUndefined()
      expect(textOf(events)).toBe(textOf(all[0] ?? []))
      expect(only(events, 'tool_call')).toHaveLength(2)
    }
  })
}
