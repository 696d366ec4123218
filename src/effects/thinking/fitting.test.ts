import { describe, expect, test } from 'vitest'
import type { Message, ToolResult } from '../brains/brain.ts'
import { fitted } from './fitting.ts'

const ASKED: Message = { role: 'user', text: 'Sum up.' }

const result = (id: string, chars: number, given: Partial<ToolResult> = {}): ToolResult => ({
  id,
  name: 'read_file',
  text: id.padEnd(chars, '.'),
  isError: false,
  ...given,
})

/** What a model said with a call, and the answer. */
const exchange = (answer: ToolResult): Message[] => [
  {
    role: 'assistant',
    text: `I decided on ${answer.id}.`,
    toolCalls: [{ id: answer.id, name: answer.name, input: {} }],
    opaque: 'signed',
  },
  { role: 'tool', results: [answer] },
]

const conversation = (...answers: readonly ToolResult[]) => ({
  system: 'Be good.',
  tools: [],
  messages: [{ role: 'user' as const, text: 'The story.' }, ...answers.flatMap(exchange)],
})

const textOf = (messages: readonly Message[], id: string) =>
  messages
    .flatMap((message) => (message.role === 'tool' ? message.results : []))
    .find((answer) => answer.id === id)?.text.length

describe('a conversation', () => {
  const whole = conversation(result('a', 9_000), result('b', 9_000), result('c', 9_000))

  test('that fits is sent as it is', () => {
    const messages = fitted(whole, [ASKED], 40_000)
    expect(JSON.stringify(messages)).toBe(JSON.stringify([...whole.messages, ASKED]))
  })

  test.each([
    [20_000, [405, 9_000, 9_000]],
    [12_000, [405, 405, 9_000]],
    [3_000, [405, 405, 405]],
  ])('of 27,000 bytes is cut to %d from its oldest result on', (bytesMax, chars) => {
    const messages = fitted(whole, [ASKED], bytesMax)
    expect(['a', 'b', 'c'].map((id) => textOf(messages, id))).toEqual(chars)
    expect(JSON.stringify([whole.system, [], messages]).length).toBeLessThanOrEqual(bytesMax)
    for (const id of ['a', 'b', 'c']) {
      expect(JSON.stringify(messages)).toContain(`I decided on ${id}.`)
    }
  })

  test('has results of one reply cut one after the other', () => {
    const results = ['a', 'b', 'c'].map((id) => result(id, 9_000))
    const messages: Message[] = [{ role: 'tool', results }]
    const cut = fitted({ system: '', tools: [], messages }, [], 20_000)
    expect(['a', 'b', 'c'].map((id) => textOf(cut, id))).toEqual([405, 9_000, 9_000])
  })

  test('keeps more of what fails now than of what is newer', () => {
    const text = `1 failed\n\n$ npm test\nfailed, exit code 1\n${'.'.repeat(3_000)}`
    const failing = result('a', 0, { name: 'run_tests', text, isError: true })
    const messages = fitted(conversation(failing, result('b', 9_000)), [ASKED], 5_000)
    expect([textOf(messages, 'a'), textOf(messages, 'b')]).toEqual([text.length, 405])
  })

  test('has what was said cut after everything else, and the first message never', () => {
    const said: Message = { role: 'assistant', text: 'x'.repeat(5_000), toolCalls: [] }
    const story: Message = { role: 'user', text: 'y'.repeat(5_000) }
    const long = { system: '', tools: [], messages: [story, said] }
    const [first, second] = fitted(long, [ASKED], 100)
    expect(first).toBe(story)
    expect(second).toMatchObject({ text: expect.stringMatching(/^x{200}\n\[…\]\nx{200}$/) })
  })

  test('is cut into no half characters', () => {
    const odd = conversation(result('a', 0, { text: `x${'😀'.repeat(3_000)}` }))
    expect(JSON.stringify(fitted(odd, [], 100))).not.toMatch(/\\ud/)
  })
})
