import fc from 'fast-check'
import type { Reply, ReplyPart } from '../providers/answer.ts'

/** One way to spoil a stream of frames. Positions are shares of the whole, from 0 to below 1. */
export type Spoil =
  | { readonly how: 'truncate'; readonly at: number }
  | { readonly how: 'drop' | 'repeat' | 'interleave'; readonly at: number }
  | { readonly how: 'swap'; readonly at: number; readonly to: number }
  | { readonly how: 'bytes'; readonly at: number; readonly bytes: readonly number[] }
  | { readonly how: 'retype'; readonly at: number; readonly pick: number; readonly value: unknown }
  | { readonly how: 'frame'; readonly at: number; readonly text: string }

// What is too long or too deep to be printed with a counterexample has a name instead.
const LONG = 'LONG-TEXT'
const DEEP = 'DEEP-VALUE'

const LONG_CHARS = 20_000
const DEPTH = 2_000

// Anywhere, and not mostly at the ends.
const share = fc.noBias(fc.integer({ min: 0, max: 999 })).map((thousandths) => thousandths / 1_000)

const name = fc.constantFrom('read_file', 'submit', 'launch')

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constant(LONG),
  fc.constant('data: {"type":"tool_use"}\n\nevent: message_stop\n'),
)

const part: fc.Arbitrary<ReplyPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('reasoning' as const), text }),
  fc.record({
    type: fc.constant('call' as const),
    name,
    input: fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  }),
  fc.record({ type: fc.constant('bad_call' as const), name, text: fc.string({ maxLength: 30 }) }),
)

/** A reply of any kind. */
export const anyReply: fc.Arbitrary<Reply> = fc.record({
  parts: fc.array(part, { maxLength: 4 }),
  end: fc.constantFrom('stop', 'stop', 'stop', 'length', 'refused', 'filtered', 'malformed'),
  // Few frames, or most of the time would go into the many of a long text.
  pieceChars: fc.constantFrom(1_000, 400),
})

const wrongValue = fc.oneof(
  fc.constantFrom(null, true, -1, 1e308, '', [], {}, [[]], LONG, '\ud800'),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant(DEEP),
)

const alienFrame = fc.oneof(
  fc.constantFrom(
    'data: [DONE]\n\n',
    'data: {}\n\n',
    'data: null\n\n',
    'data: "a text"\n\n',
    ': a comment\n\n',
    'event: error\ndata: {"type":"error"}\n\n',
    '{}\n',
    'null\n',
    '{"error":null}\n',
    '\n\n\n',
    `data: ${'['.repeat(5_000)}\n\n`,
    'data: {"__proto__":{"type":"message_stop"}}\n\n',
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
)

const truncation = fc.record({ how: fc.constant('truncate' as const), at: share })

const spoil: fc.Arbitrary<Spoil> = fc.oneof(
  truncation,
  fc.record({
    how: fc.constantFrom('drop' as const, 'repeat' as const, 'interleave' as const),
    at: share,
  }),
  fc.record({ how: fc.constant('swap' as const), at: share, to: share }),
  fc.record({
    how: fc.constant('bytes' as const),
    at: share,
    bytes: fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 8 }),
  }),
  fc.record({ how: fc.constant('retype' as const), at: share, pick: share, value: wrongValue }),
  fc.record({ how: fc.constant('frame' as const), at: share, text: alienFrame }),
)

/** Some ways to spoil a stream, one after the other; often it just ends early. */
export const anySpoils: fc.Arbitrary<readonly Spoil[]> = fc.oneof(
  { weight: 3, arbitrary: fc.array(spoil, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.tuple(truncation) },
)

/** A stream that went through all of that: first its frames, then its bytes. */
export function spoilFrames(frames: readonly string[], spoils: readonly Spoil[]): Uint8Array {
  let left = frames
  for (const one of spoils) {
    if (one.how !== 'truncate' && one.how !== 'bytes') left = spoilOrder(left, one)
  }
  let bytes = Buffer.from(writtenOut(left.join('')))
  for (const one of spoils) {
    const at = Math.floor(one.at * bytes.length)
    if (one.how === 'truncate') bytes = bytes.subarray(0, at)
    if (one.how !== 'bytes') continue
    bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(one.bytes), bytes.subarray(at)])
  }
  return bytes
}

/** A text with what is too long for a counterexample. */
export function writtenOut(text: string): string {
  return text
    .replaceAll(LONG, 'x'.repeat(LONG_CHARS))
    .replaceAll(`"${DEEP}"`, '['.repeat(DEPTH) + ']'.repeat(DEPTH))
}

function spoilOrder(
  frames: readonly string[],
  one: Exclude<Spoil, { how: 'truncate' | 'bytes' }>,
): readonly string[] {
  const at = Math.floor(one.at * frames.length)
  const frame = frames[at]
  if (frame === undefined) return frames
  if (one.how === 'drop') return frames.toSpliced(at, 1)
  if (one.how === 'repeat') return frames.toSpliced(at, 0, frame)
  if (one.how === 'frame') return frames.toSpliced(at, 0, one.text)
  if (one.how === 'retype') return frames.toSpliced(at, 1, retype(frame, one.pick, one.value))
  if (one.how === 'swap') {
    const to = Math.floor(one.to * frames.length)
    return frames.with(at, frames[to] ?? '').with(to, frame)
  }
  // Every second frame of the rest first, then the others.
  const rest = frames.slice(at)
  const split = [0, 1].flatMap((odd) => rest.filter((_, index) => index % 2 === odd))
  return [...frames.slice(0, at), ...split]
}

/** Puts a value of another type somewhere into the JSON of a frame. */
function retype(frame: string, pick: number, value: unknown): string {
  const start = frame.indexOf('{')
  const json = parse(frame.slice(start))
  const places = placesIn(json)
  const place = places[Math.floor(pick * places.length)]
  if (place === undefined) return frame
  place.set(value)
  const end = /\n+$/.exec(frame)?.[0] ?? ''
  return `${frame.slice(0, start)}${JSON.stringify(json)}${end}`
}

interface Place {
  set(value: unknown): void
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) => [
    { set: (inner: unknown) => Object.defineProperty(holder, key, { value: inner }) },
    ...placesIn(holder[key]),
  ])
}

/** What a frame holds; nothing where it is already spoiled. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
