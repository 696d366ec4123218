import { expect, test } from 'vitest'
import { describeAnswer } from './mcp-answer.ts'

test('an answer is text, and says how much of it was dropped', () => {
  const text = 'x'.repeat(1_000_003)
  expect(describeAnswer({ content: [{ type: 'text', text: 'short' }] })).toEqual({
    text: 'short',
    droppedBytes: 0,
  })
  const long = describeAnswer({ content: [{ type: 'text', text }] })
  expect(long.droppedBytes).toBe(3)
  expect(long.text).toContain('\n[3 bytes left out]\n')
})
