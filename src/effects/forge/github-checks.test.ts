import { expect, test } from 'vitest'
import type { Checks } from './forge.ts'
import { type Check, sumUp } from './github-checks.ts'

const check = (verdict: Check['verdict'], name: string = verdict): Check => ({
  name,
  verdict,
  url: `https://ci.example.org/${name}`,
})

test.each<[string, Check[], Checks]>([
  ['nothing', [], { kind: 'none' }],
  ['all passed', [check('passed'), check('passed')], { kind: 'passed' }],
  [
    'some still run',
    [check('passed'), check('pending', 'slow')],
    { kind: 'pending', names: ['slow'], retryAfterMs: 15_000 },
  ],
  [
    'one failed while others still run',
    [check('pending'), check('failed', 'test')],
    { kind: 'failed', failures: [{ name: 'test', url: 'https://ci.example.org/test' }] },
  ],
])('%s', (_, checks, sum) => {
  expect(sumUp(checks)).toEqual(sum)
})
