import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BrainEvent } from '../../src/effects/brains/brain.ts'
import type { Reply } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import type { WireName } from '../providers/wire.ts'
import { WIRES } from '../providers/wires.ts'
import { API_SUBJECTS, openSubject } from './api-subjects.ts'
import { anyReply, anySpoils, type Spoil, spoilFrames, writtenOut } from './bad-stream.ts'
import { breachIn, only, textOf, thinkThrough } from './turn.ts'

/** Over all providers; the long setting of this is `SLIPWAY_FUZZ=5000`. */
const RUNS = Number(process.env.SLIPWAY_FUZZ ?? 600)

let server: ProviderServer

beforeAll(async () => {
  server = await startProviderServer()
})

afterAll(() => server.close())

describe.each(API_SUBJECTS)('$provider', (api) => {
  test('a stream that is not spoiled is read, or the next test would be about nothing', async () => {
    const call = { type: 'call', name: 'submit', input: { a: [1] } } as const
    const reply: Reply = { parts: [{ type: 'text', text: 'LONG-TEXT.' }, call], pieceChars: 400 }
    server.answer({ raw: [spoilFrames(framesOf(api.wire, reply), [])] })
    const events = await thinkThrough(openSubject(api, server))
    expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
    expect(contentOf(events)).toEqual(contentIn(reply))
  })

  test('whatever comes, a turn ends once, and no call is invented', async () => {
    const brain = openSubject(api, server)
    await fc.assert(
      fc.asyncProperty(
        anyReply,
        anySpoils,
        fc.constantFrom('end' as const, 'end' as const, 'cut' as const),
        fc.integer({ min: 1, max: 5 }),
        async (reply, spoils, end, chunks) => {
          const bytes = spoilFrames(framesOf(api.wire, reply), spoils)
          server.answer({ raw: split(bytes, chunks), end })
          const events = await thinkThrough(brain)
          expect(breachIn(events)).toBeUndefined()
          expect(inventedIn(events, reply, spoils, bytes)).toEqual([])
          const isFinished = events.at(-1)?.type === 'finished'
          if (isFinished && isOnlyCut(spoils)) expect(contentOf(events)).toEqual(contentIn(reply))
        },
      ),
      { numRuns: Math.ceil(RUNS / API_SUBJECTS.length), endOnFailure: true },
    )
  }, 900_000)
})

function framesOf(name: WireName, reply: Reply): readonly string[] {
  const wire = WIRES.find((one) => one.name === name)
  const facts = { number: 1, model: 'm', inputTokens: 9, cachedTokens: 1, cacheWriteTokens: 1 }
  return wire?.framesOf(reply, { ...facts, outputTokens: 2, body: {} }) ?? []
}

function split(bytes: Uint8Array, count: number): Uint8Array[] {
  const size = Math.ceil(bytes.length / count) || 1
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

function isOnlyCut(spoils: readonly Spoil[]): boolean {
  return spoils.every(({ how }) => how === 'truncate')
}

/** A reply that is called finished has to be whole: its text, and the number of its calls. */
function contentIn({ parts }: Reply): unknown[] {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const calls = parts.filter(({ type }) => type === 'call' || type === 'bad_call')
  return [writtenOut(text), calls.length]
}

function contentOf(events: readonly BrainEvent[]): unknown[] {
  return [textOf(events), only(events, 'tool_call').length]
}

/**
 * Calls that nobody made. Where the stream only ended early, all calls that come have to be those
 * of the reply. Where its content was changed, a call needs at least a name that was sent, and
 * there cannot be more of them than names.
 */
function inventedIn(
  events: readonly BrainEvent[],
  reply: Reply,
  spoils: readonly Spoil[],
  bytes: Uint8Array,
): unknown[] {
  const calls = only(events, 'tool_call').map(({ call }) => call)
  if (isOnlyCut(spoils)) {
    const made = reply.parts.map((part) => {
      if (part.type === 'call') return JSON.stringify([part.name, part.input])
      return part.type === 'bad_call' ? JSON.stringify([part.name, read(part.text)]) : ''
    })
    return calls.filter(({ name, input }) => !made.includes(JSON.stringify([name, input])))
  }
  const sent = Buffer.from(bytes).toString('utf8')
  const unnamed = calls.filter(({ name }) => !sent.includes(JSON.stringify(name).slice(1, -1)))
  const starts = sent.split(/"name"/).length - 1
  return calls.length > starts ? calls : unnamed
}

/** The input as a brain has to read it; a call without one has an empty one. */
function read(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
