import { expect, test } from 'vitest'
import { fitMessage } from './commit-message.ts'

test('a message has its lines and tabs, and nothing else that steers', () => {
  expect(fitMessage('Add\0 a\x1b[31m\n\n\tline\r\nor\rlast\x7f\x85 \u00e9 \n\n')).toBe(
    'Add a[31m\n\n\tline\nor\nlast \u00e9\n',
  )
})
