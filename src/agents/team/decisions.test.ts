import { expect, test } from 'vitest'
import type { Spent } from '../thinking/thinking.ts'
import { describeSpent } from './decisions.ts'

test.each<[Spent, string]>([
  [{ what: 'turns' }, 'its budget is spent (turns)'],
  [{ what: 'context' }, 'its budget is spent (context)'],
  [
    { what: 'context', said: 'maximum context length is 16384' },
    'its budget is spent (context): maximum context length is 16384',
  ],
  [{ what: 'context', said: 'x'.repeat(501) }, `its budget is spent (context): ${'x'.repeat(500)}`],
  [
    { what: { scope: 'run', what: 'money', limit: 1, wanted: 2 } },
    'the budget of the run is spent (money)',
  ],
])('what is spent is said in words: %j', (spent, words) => {
  expect(describeSpent(spent)).toBe(words)
})
