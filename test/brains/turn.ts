import type { Brain, BrainEvent, Turn } from '../../src/effects/brains/brain.ts'

const READ_FILE = {
  name: 'read_file',
  description: 'Reads a file of the workspace.',
  input: {
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  },
}

const SUBMIT = {
  name: 'submit',
  description: 'Hands the work in.',
  input: { type: 'object', properties: { summary: { type: 'string' } } },
}

/** A turn of a coder, like any other. */
export const TURN: Turn = {
  role: 'coder',
  state: 'CODING',
  story: 'S1',
  number: 1,
  system: 'You write code.',
  messages: [{ role: 'user', text: 'Add a test to a.ts.' }],
  tools: [READ_FILE, SUBMIT],
  outputTokensMax: 4_096,
}

/** Everything that a brain says in one turn. */
export async function thinkThrough(
  brain: Brain,
  turn: Turn = TURN,
  signal: AbortSignal = new AbortController().signal,
): Promise<BrainEvent[]> {
  const events: BrainEvent[] = []
  for await (const event of brain.think(turn, signal)) events.push(event)
  return events
}

/** The events of one type. */
export function only<T extends BrainEvent['type']>(
  events: readonly BrainEvent[],
  type: T,
): Extract<BrainEvent, { type: T }>[] {
  return events.filter((event): event is Extract<BrainEvent, { type: T }> => event.type === type)
}

/** The deltas of a reply, put together. */
export function textOf(events: readonly BrainEvent[], type: 'text' | 'reasoning' = 'text'): string {
  return only(events, type)
    .map(({ text }) => text)
    .join('')
}

/** What is wrong with a turn's events as such; undefined when they keep the contract. */
export function breachIn(events: readonly BrainEvent[]): string | undefined {
  const ends = events.filter(({ type }) => type === 'finished' || type === 'failed')
  const last = events.at(-1)
  if (ends.length !== 1 || ends[0] !== last) return 'not exactly one last event'
  const calls = only(events, 'tool_call')
  if (last?.type === 'failed' && calls.length > 0) return 'a failed turn with tool calls'
  if (only(events, 'usage').length > 1) return 'usage twice'
  const ids = new Set(calls.map(({ call }) => call.id))
  return ids.size === calls.length ? undefined : 'two calls with one id'
}
