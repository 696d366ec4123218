import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import type { BrainEvent } from '../../src/effects/brains/brain.ts'
import type { Reply } from '../providers/answer.ts'
import { sse } from '../providers/wire.ts'
import { WIRES } from '../providers/wires.ts'
import { API_SUBJECTS, type ApiSubject, openSubject, PATIENT, subjectOf } from './api-subjects.ts'
import { only, textOf, thinkThrough } from './turn.ts'

const ANTHROPIC = API_SUBJECTS.find(({ provider }) => provider === 'anthropic') as ApiSubject
const REPLY: Reply = { parts: [{ type: 'text', text: 'All is well.' }] }

let server: Server | undefined
const connections = new Set<Socket>()

async function closeServer(): Promise<void> {
  server?.closeAllConnections()
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
  connections.clear()
}

afterEach(closeServer)

/** A server that answers each request as told; every connection that it was given is counted. */
async function serve(answer: (response: ServerResponse) => void): Promise<{ url: string }> {
  const opened = createServer((request, response) => {
    connections.add(request.socket)
    request.resume().on('end', () => answer(response))
  })
  server = opened
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(opened.address() as AddressInfo).port}` }
}

function stream(api = ANTHROPIC): string {
  const wire = WIRES.find(({ name }) => name === api.wire)
  const tokens = { inputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1 }
  const body = { stream_options: { include_usage: true } }
  const facts = { number: 1, model: 'claude-test', body, ...tokens }
  return wire?.framesOf(REPLY, facts).join('') ?? ''
}

test('one connection serves turn after turn, also where a stream ends after its last word', async () => {
  const brain = openSubject(
    ANTHROPIC,
    await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(stream())
      setTimeout(() => response.end(), 20)
    }),
  )
  for (let turn = 1; turn <= 3; turn += 1) {
    expect(textOf(await thinkThrough(brain))).toBe('All is well.')
    await sleep(100)
  }
  expect(connections.size).toBe(1)
})

/** Those that say which word is the last. */
const CONCLUDING = API_SUBJECTS.filter(({ provider }) =>
  ['anthropic', 'openai', 'openai-compatible', 'ollama'].includes(provider),
)

describe.each(CONCLUDING)('after the last word of $provider', (api) => {
  const headers = {
    'content-type': api.provider === 'ollama' ? 'application/x-ndjson' : 'text/event-stream',
  }

  test('a stream that does not end is left', async () => {
    const brain = openSubject(
      api,
      await serve((response) => void response.writeHead(200, headers).write(stream(api))),
    )
    const events = await thinkThrough(brain)
    // The reply does not wait for the second in which its stream may still end.
    expect([...connections].some(({ destroyed }) => destroyed)).toBe(false)
    expect(textOf(events)).toBe('All is well.')
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
    await expect
      .poll(() => [...connections].every(({ destroyed }) => destroyed), { timeout: 5_000 })
      .toBe(true)
  })

  test('one that breaks off has said everything', async () => {
    const brain = openSubject(
      api,
      await serve((response) => {
        response.writeHead(200, headers).write(stream(api))
        setTimeout(() => response.destroy(), 50)
      }),
    )
    const events = await thinkThrough(brain)
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
    expect(only(events, 'usage')).toMatchObject([{ usage: { outputTokens: 1 } }])
  })
})

describe('after [DONE], whatever was said before it', () => {
  const compatible = subjectOf('openai-compatible')
  const usage = { prompt_tokens: 3, completion_tokens: 2 }
  const chunk = (delta: object, reason: string | null, more: object = {}) =>
    sse({ id: 'x', choices: [{ index: 0, delta, finish_reason: reason }], ...more })
  const text = chunk({ content: 'All is well.' }, null)
  const untold = [text, chunk({}, 'stop'), sse('[DONE]')].join('')
  const told = [text, chunk({}, 'stop', { usage }), sse('[DONE]')].join('')
  const headers = { 'content-type': 'text/event-stream' }

  /** What comes of these pieces, each of which is sent by itself, on a connection that stays open. */
  async function readOpen(pieces: readonly string[], api = compatible): Promise<BrainEvent[]> {
    const place = await serve((response) => {
      response.writeHead(200, headers)
      for (const [i, piece] of pieces.entries()) setTimeout(() => response.write(piece), 20 * i)
    })
    return thinkThrough(openSubject(api, place, { ...PATIENT, idleMs: 2_000 }))
  }

  test.each([
    ['without what was used', untold],
    ['with what was used beside the reason', told],
    ['in lines of Windows', told.replaceAll('\n', '\r\n')],
    ['without a blank', told.replace('data: [DONE]', 'data:[DONE]')],
    ['without an end of the line', told.trimEnd()],
    ['before more', `${told}${chunk({ content: 'More.' }, null)}data: {"broken`],
  ])('a stream that does not end is left: %s', async (_, whole) => {
    const at = whole.indexOf('[DONE]')
    const cut = [whole.slice(0, at - 2), whole.slice(at - 2, at + 3), whole.slice(at + 3)]
    for (const pieces of [[whole], cut]) {
      const events = await readOpen(pieces)
      expect(textOf(events)).toBe('All is well.')
      expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'stop' })
    }
  })

  test('one that breaks off has said everything', async () => {
    const place = await serve((response) => {
      response.writeHead(200, headers).write(told)
      setTimeout(() => response.destroy(), 50)
    })
    const events = await thinkThrough(openSubject(compatible, place))
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
    expect(only(events, 'usage')).toMatchObject([{ usage: { inputTokens: 3, outputTokens: 2 } }])
  })

  test('a stream of Google behind a gateway is left too', async () => {
    const google = subjectOf('google')
    const events = await readOpen([stream(google), sse('[DONE]')], google)
    expect(textOf(events)).toBe('All is well.')
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
  })

  test('a reply that only speaks of it goes on', async () => {
    const pieces = ['\ndata: [DONE]', '\ndata: [DONE]\n'].map((content) => chunk({ content }, null))
    const events = await readOpen([...pieces, told])
    expect(textOf(events)).toBe('\ndata: [DONE]\ndata: [DONE]\nAll is well.')
  })

  test('a reply without it, and without what was used, may go on', async () => {
    const place = await serve((response) => {
      response.writeHead(200, headers).write(untold.replace(sse('[DONE]'), ''))
    })
    const timeouts = { ...PATIENT, idleMs: 200 }
    const events = await thinkThrough(openSubject(compatible, place, timeouts))
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'stalled' } })
  })
})

describe('a model of OpenAI that reasons without a word', () => {
  const openai = API_SUBJECTS.find(({ provider }) => provider === 'openai') as ApiSubject
  const written = (...frames: readonly { readonly type: string }[]) =>
    frames.map((frame) => sse(frame, frame.type)).join('')
  const item = (index: number, event: 'added' | 'done') => ({
    type: `response.output_item.${event}`,
    output_index: index,
    item: { type: 'reasoning', id: `r${index}`, summary: [] },
  })
  const created = { type: 'response.created', response: { id: 'x', created_at: 1, model: 'm' } }
  const begun = written(created, item(0, 'added'))
  const summed = (index: number) => ({
    type: 'response.reasoning_summary_text.delta',
    output_index: index,
    item_id: `r${index}`,
    summary_index: 0,
    delta: 'Hm.',
  })

  test('is silent for as long as a first word may take', async () => {
    const place = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun)
      setTimeout(() => response.end(stream(openai)), 400)
    })
    const events = await thinkThrough(openSubject(openai, place, { ...PATIENT, idleMs: 100 }))
    expect(textOf(events)).toBe('All is well.')
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
  })

  test.each([
    ['between two', written(item(0, 'done'))],
    ['a second time', written(item(0, 'done'), item(1, 'added'))],
    ['after words', written(summed(0), item(0, 'done'), item(1, 'added'))],
  ])('is silent for as long as that %s', async (_, further) => {
    const place = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun + further)
      setTimeout(() => response.end(stream(openai)), 400)
    })
    const events = await thinkThrough(openSubject(openai, place, { ...PATIENT, idleMs: 100 }))
    expect(textOf(events)).toBe('All is well.')
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
  })

  test.each([
    ['a word of that', written(summed(0))],
    ['a word of that, and its end', written(summed(0), item(0, 'done'))],
    ['a word of the second', written(item(0, 'done'), item(1, 'added'), summed(1))],
  ])('has stalled when it goes silent after %s', async (_, further) => {
    const place = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun + further)
    })
    const events = await thinkThrough(openSubject(openai, place, { ...PATIENT, idleMs: 100 }))
    expect(only(events, 'usage')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'stalled' } })
  })

  test('has worked, although that took too long', async () => {
    const place = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun)
    })
    const timeouts = { ...PATIENT, firstTokenMs: 300, idleMs: 100 }
    const startedMs = performance.now()
    const events = await thinkThrough(openSubject(openai, place, timeouts))
    expect(events).toMatchObject([
      { type: 'usage', usage: { outputTokens: null } },
      { type: 'failed', failure: { kind: 'timeout' } },
    ])
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(290)
  })

  test('goes on for as long as it gives a sign of life', async () => {
    const place = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun)
      const signs = setInterval(() => response.write(': still here\n\n'), 50)
      setTimeout(() => {
        clearInterval(signs)
        response.end(stream(openai))
      }, 1_000)
    })
    const timeouts = { ...PATIENT, firstTokenMs: 500, idleMs: 300 }
    const events = await thinkThrough(openSubject(openai, place, timeouts))
    expect(events.at(-1)).toMatchObject({ type: 'finished' })
  })
})

test('a reply that is compressed, though nobody asked for it, is read', async () => {
  const brain = openSubject(
    ANTHROPIC,
    await serve((response) => {
      const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }
      response.writeHead(200, headers).end(gzipSync(stream()))
    }),
  )
  expect(textOf(await thinkThrough(brain))).toBe('All is well.')
})

test('compressed bytes that are none are a broken connection', async () => {
  const brain = openSubject(
    ANTHROPIC,
    await serve((response) => {
      const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }
      response.writeHead(200, headers).end(stream())
    }),
  )
  const [failed] = only(await thinkThrough(brain), 'failed')
  expect(failed?.failure.kind).toBe('network')
})

test.each([600, 999])(
  'the status %i, which is none, is a failure of the network',
  async (status) => {
    for (const api of API_SUBJECTS) {
      const place = await serve((response) => void response.writeHead(status, 'Denied').end('no'))
      const events = await thinkThrough(openSubject(api, place))
      expect(events).toMatchObject([{ type: 'failed', failure: { kind: 'network' } }])
      expect(only(events, 'failed')[0]?.failure.message).toContain(`the status ${status}`)
      await closeServer()
    }
  },
)

test('a host that refuses the connection is a failure of the network, and says so', async () => {
  const { url } = await serve(() => {})
  await new Promise((resolve) => server?.close(resolve))
  const [failed] = only(await thinkThrough(openSubject(ANTHROPIC, { url })), 'failed')
  expect(failed?.failure).toMatchObject({ kind: 'network' })
  expect(failed?.failure.message).toContain('ECONNREFUSED')
})
