import { expect, test } from 'vitest'
import { geminiReading } from './gemini-reading.ts'

test('a user keeps all settings but hooks and servers', () => {
  const text = `{ // Mine.
    "hooks": { "SessionStart": [] }, "mcpServers": { "a": {} }, "model": { "name": "b" }, }`
  expect(JSON.parse(geminiReading(text))).toEqual({ model: { name: 'b' } })
})

test('what is no settings stays what it is', () => {
  expect(geminiReading('{')).toBe('{')
  expect(geminiReading('[]')).toBe('[]')
})
