import { expect, test } from 'vitest'
import { isPlainWords } from './secret-name.ts'

test.each([
  ...['postgres', 'your-api-key-here', 'Claims Team', 'NONE', 'LM Studio', 'not_needed'],
  ...['GitHub', 'OpenRouter', 'OpenAI', 'MyTeam', 'lmStudio', 'x'.repeat(20)],
])('%s is words', (value) => {
  expect(isPlainWords(value)).toBe(true)
})

test.each([
  ...['xKqPwTzRvB', 'xKqPwTzRvBnMdHsLgFcY', 'dXNlcjpwYXNz', 'abcDEFghiJKL', 'XkQpWtRz'],
  ...['x'.repeat(21), 'X'.repeat(21), 'hunter2', 'a--b', ''],
])('%s is none', (value) => {
  expect(isPlainWords(value)).toBe(false)
})
