import { createHash } from 'node:crypto'
import { z } from 'zod'
import { holdsSecret, REDACTED, redact } from '../guards/redaction.ts'
import { replaceMaterial } from '../prompts/material.ts'
import { OUTPUTS } from '../prompts/prompt-catalog.ts'
import type { BrainEvent, FailureKind, Message, ToolCall, Turn } from './brain.ts'
import { cleanCall, HELD_BACK, mayKeep } from './clean-call.ts'
import { FAILURE_POLICY } from './failure-policy.ts'
import { readTokens } from './token-count.ts'

const FAILURE_KINDS = Object.keys(FAILURE_POLICY) as [FailureKind, ...FailureKind[]]

const tokens = z.number().nullable().transform(readTokens)

const EVENT = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('reasoning'), text: z.string() }),
  z.object({
    type: z.literal('tool_call'),
    call: z.object({ id: z.string(), name: z.string(), input: z.unknown() }),
  }),
  z.object({
    type: z.literal('usage'),
    usage: z.object({
      inputTokens: tokens,
      cachedTokens: tokens,
      cacheWriteTokens: tokens,
      outputTokens: tokens,
    }),
  }),
  z.object({
    type: z.literal('finished'),
    reason: z.enum(['stop', 'tool_calls', 'length']),
    model: z.string(),
    opaque: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('failed'),
    failure: z.object({
      kind: z.enum(FAILURE_KINDS),
      message: z.string(),
      retryAfterMs: z.number().exactOptional(),
    }),
  }),
])

/** Counted up when turns become known by something else, since old hashes fit none then. */
const FORMAT = 2
const OTHER_FORMAT =
  'it was recorded by another version, which knew turns by other hashes. Record it again.'

/** What `writeTake` begins every line with. */
const OPENING = `{"format":${FORMAT},"turn":{`

const TAKE = z.object({
  format: z.literal(FORMAT, OTHER_FORMAT),
  turn: z.object({
    role: z.string(),
    state: z.string(),
    story: z.string().nullable(),
    number: z.number(),
    attempt: z.number(),
    /** Hashes: a conversation would be stored again with every turn. */
    system: z.string(),
    tools: z.string(),
    messages: z.array(z.string()),
    /** What programs said. It need not be the same: it tells takes apart that nothing else does. */
    outputs: z.array(z.string()),
  }),
  events: z.array(EVENT).refine(isWhole, 'do not end with one finished or failed'),
})

/** One turn on a cassette: what was asked, by its hashes, and what came. */
export type Take = z.infer<typeof TAKE>
export type TurnPrint = Take['turn']

export type CassetteResult =
  | { readonly ok: true; readonly takes: readonly Take[] }
  | { readonly ok: false; readonly problem: string }

/** Reads a cassette, which is lines of JSON. A line that a kill or a full disk cut short is left out. */
export function readCassette(text: string, name: string): CassetteResult {
  const takes: Take[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const value = parseJson(line)
    if (value === undefined && isTorn(line)) continue
    const parsed = TAKE.safeParse(value)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      const place = issue?.path.join('.') || 'the line'
      return { ok: false, problem: `${name}:${index + 1}: ${place}: ${issue?.message}` }
    }
    takes.push(parsed.data)
  }
  return { ok: true, takes }
}

/** Whether a line that is no JSON begins as every take does; an empty one is torn at its beginning. */
function isTorn(line: string): boolean {
  return line.startsWith(OPENING) || OPENING.startsWith(line.trim())
}

/** A turn and its events as one line, without secrets. */
export function writeTake(
  turn: Turn,
  events: readonly BrainEvent[],
  secrets: readonly string[],
): string {
  const written = joinDeltas(events).map((event) => cleanEvent(event, secrets))
  return `${JSON.stringify({ format: FORMAT, turn: printOf(turn, secrets), events: written })}\n`
}

/**
 * What a turn is recognised by. Secrets are taken out first, so that they need not be known. What
 * programs said, to a call or in a prompt, stands apart: a test runner prints another time whenever
 * it runs.
 */
export function printOf(turn: Turn, secrets: readonly string[]): TurnPrint {
  const { role, state, story, number, attempt = 1, system, tools, forcedTool, messages } = turn
  const hash = (value: unknown) => hashOf(redactValue(value, secrets))
  const parted = messages.map(partOutputs)
  return {
    role,
    state,
    story,
    number,
    attempt,
    system: hash(system),
    tools: hash([tools, forcedTool ?? null]),
    messages: parted.map(({ said }) => hash(said)),
    outputs: parted.flatMap(({ outputs }) => outputs.map(hash)),
  }
}

/** A message as what we, people and models said in it and what came of each call; and the rest. */
function partOutputs(message: Message): { said: unknown; outputs: readonly string[] } {
  if (message.role === 'assistant') return { said: message, outputs: [] }
  if (message.role === 'tool') {
    const results = message.results.map(({ text: _, ...outcome }) => outcome)
    return { said: { ...message, results }, outputs: message.results.map(({ text }) => text) }
  }
  const outputs: string[] = []
  const text = replaceMaterial(message.text, (name, made) => {
    if (!OUTPUTS.has(name)) return made
    outputs.push(made)
    return `<${name}>`
  })
  return { said: { ...message, text }, outputs }
}

function isWhole(events: readonly { readonly type: string }[]): boolean {
  const ends = events.filter(({ type }) => type === 'finished' || type === 'failed')
  return ends.length === 1 && ends[0] === events.at(-1)
}

/** Deltas of one text become one: a secret may lie across two of them. */
function joinDeltas(events: readonly BrainEvent[]): BrainEvent[] {
  const joined: BrainEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if ((event.type === 'text' || event.type === 'reasoning') && last?.type === event.type) {
      joined[joined.length - 1] = { ...event, text: last.text + event.text }
    } else joined.push(event)
  }
  return joined
}

/** What a conversation keeps as it came, or not at all, is written down so: both are played on. */
function cleanEvent(event: BrainEvent, secrets: readonly string[]): unknown {
  if (event.type === 'tool_call') return { ...event, call: writtenCall(event.call, secrets) }
  if (event.type !== 'finished' || mayKeep(event.opaque, secrets)) {
    return redactValue(event, secrets)
  }
  const { opaque: _, ...end } = event
  return redactValue(end, secrets)
}

/** With a secret in its id or its name it gets a name that no tool can have: it was refused. */
function writtenCall(call: ToolCall, secrets: readonly string[]): ToolCall {
  if (!holdsSecret(`${call.id}\n${call.name}`, secrets)) return cleanCall(call, secrets)
  return { id: redact(call.id, secrets), name: REDACTED, input: HELD_BACK }
}

/** Text by text, since a pattern may run over the end of a string in JSON. */
function redactValue(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redact(value, secrets)
  if (Array.isArray(value)) return value.map((item) => redactValue(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [
    redact(key, secrets),
    redactValue(inner, secrets),
  ])
  return Object.fromEntries(entries)
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
