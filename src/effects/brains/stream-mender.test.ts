import { describe, expect, test } from 'vitest'
import { StreamMender } from './stream-mender.ts'

/** What comes out of these chunks, one after the other. */
function mended(...chunks: readonly (string | Buffer)[]): string {
  const mender = new StreamMender('anthropic')
  const taken = chunks.map((chunk) => mender.take(Buffer.from(chunk)))
  return Buffer.concat([...taken, mender.end()]).toString()
}

/** What comes out of the bytes of a text, so many at a time. */
function inPieces(text: string, size: number): string {
  const bytes = Buffer.from(text)
  const count = Math.ceil(bytes.length / size)
  return mended(
    ...Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size)),
  )
}

describe('data with nothing in it', () => {
  const text = 'event: ping\ndata: \n\ndata: {"a":"Ça 😀"}\n\ndata\n\ndata:null \n\ndata: x\n\n'
  const clean = 'event: ping\n:\n\ndata: {"a":"Ça 😀"}\n\n:\n\n:\n\ndata: x\n\n'

  test.each(['\n', '\r\n', '\r'])('becomes a comment wherever it is cut, before %j', (end) => {
    const bytes = Buffer.from(text.replaceAll('\n', end))
    const expected = clean.replaceAll('\n', end)
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(mended(bytes.subarray(0, at), bytes.subarray(at))).toBe(expected)
    }
    for (const size of [1, 2, 3, 7]) {
      expect(inPieces(text.replaceAll('\n', end), size)).toBe(expected)
    }
  })

  test('ends no event of which it is a part', () => {
    expect(mended('data: {"a":\ndata:\ndata: 1}\n\n')).toBe('data: {"a":\n:\ndata: 1}\n\n')
  })

  test.each([
    'data: []\n\n',
    'data: nullable\n\n',
    'database\n\n',
    ' data:\n\n',
    'event: data\n\n',
    'data: "data:\\n\\n"\n\n',
    'data: [DONE]',
  ])('is told apart from %j', (other) => {
    expect(inPieces(other, 1)).toBe(other)
  })
})

test('a line of blanks that goes on takes no longer than another', () => {
  const line = `data:${' '.repeat(1_000_000)}x\n`
  const startedMs = performance.now()
  expect(new StreamMender('anthropic').take(Buffer.from(line)).toString()).toBe(line)
  // 10 ms by itself; an expression that goes over it again takes an hour.
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})

test('a whole line does not wait for the next, and comes as it came', () => {
  const mender = new StreamMender('anthropic')
  const chunk = Buffer.from('data: {"type":"message_stop"}\n')
  expect(mender.take(chunk)).toBe(chunk)
  expect(mender.take(Buffer.from('\ndata: {')).toString()).toBe('\n')
  expect(mender.take(Buffer.from('}\n\n')).toString()).toBe('data: {}\n\n')
})

describe('the last word of a stream', () => {
  const before = 'data: {"a":1}\n\n'

  test.each([
    'data: [DONE]\n\n',
    'data:[DONE]\r\n\r\n',
    'data: \t[DONE]',
    'data: [DONE]\n\ndata: {"b":2}\n\n',
  ])('is heard wherever it is cut, and nothing after it: %j', (end) => {
    const bytes = Buffer.from(before + end)
    const expected = before + end.slice(0, end.indexOf(']') + 1)
    for (let at = 0; at <= bytes.length; at += 1) {
      const mender = new StreamMender('openai-compatible')
      const taken = [bytes.subarray(0, at), bytes.subarray(at)].map((one) => mender.take(one))
      expect(mender.isDone).toBe(true)
      expect(Buffer.concat([...taken, mender.end()]).toString()).toBe(expected)
    }
  })

  test.each(['data: {"a":"[DONE]"}\n\n', 'data: "\\ndata: [DONE]"\n', ': [DONE]\n', 'data: [DON'])(
    'is told apart from %j',
    (other) => {
      const mender = new StreamMender('openai-compatible')
      mender.take(Buffer.from(other))
      expect(mender.isDone).toBe(false)
    },
  )
})
