import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Failure, fingerprintOf } from './failure-fingerprint.ts'

const FACTS = ['npm', 'test', 'tests_failed', 1]
const of = (text: string, more: Partial<Failure> = {}) =>
  fingerprintOf([{ facts: FACTS, failing: ['sum > subtracts'], text, ...more }])

describe('the same failure has the same fingerprint', () => {
  test.each([
    ['durations', 'Error: boom (12.3ms)', 'Error: boom (4s)'],
    ['durations in words', 'failed after 3 seconds', 'failed after 0.25 seconds'],
    ['addresses', 'Error: <Foo object at 0x7f5c8c5bcd90>', 'Error: <Foo object at 0x7f6b53563890>'],
    ['temporary folders', "ENOENT: error '/tmp/ab12/x/y'", "ENOENT: error '/tmp/zz99/q'"],
    ['macOS temporary folders', 'error /var/folders/a1/T/x1', 'error /private/var/folders/b2/T/x2'],
    ['workspaces', 'Error at /home/a/w1/src/sum.js:3:1', 'Error at /srv/w2/lib/src/sum.js:3:1'],
    ['URLs of files', 'Error at file:///home/a/sum.mjs:3:1', 'Error at file:///srv/b/sum.mjs:9:4'],
    ['lines that moved', 'expected 3 (sum.test.js:10:5)', 'expected 3 (sum.test.js:12:5)'],
    ['lines in words', 'File "sum.py", line 7, error', 'File "sum.py", line 9, error'],
    ['times', 'error 2026-01-02T03:04:05.678Z', 'error 2027-11-12 13:14:15'],
    [
      'ids',
      'error 3b241101-e2bb-4255-8caf-4136c566a962',
      'error 9c858901-8a57-4791-81fe-4c455b099bc9',
    ],
    ['ports', 'error at 127.0.0.1:43211', 'error at 127.0.0.1:8080'],
    ['processes', 'worker 12 failed, pid=77', 'worker 3 failed, pid=9123'],
    ['threads of Rust', "thread 'a' (2632) panicked", "thread 'a' (99) panicked"],
    ['seeds', 'Randomized with seed 1, failed', 'Randomized with seed 22, failed'],
    ['others that pass', '1 failed, 2 passed, 3 total', '1 failed, 12 passed, 13 total'],
    ['others, in Vitest', 'Tests  1 failed | 2 passed (3)', 'Tests  1 failed | 4 passed (5)'],
    [
      'others, in Maven',
      'Tests run: 4, Failures: 1, Errors: 0, Skipped: 1',
      'Tests run: 9, Failures: 1, Errors: 0, Skipped: 3',
    ],
    ['others before it', 'not ok 2 - subtracts', 'not ok 7 - subtracts'],
    ['quoted source', '> 3 | expect(a)\n  4 | expect(b)', '> 5 | expect(a)\n  6 | expect(b)'],
    ['order', 'error: a\nerror: b', 'error: b\nerror: a'],
    ['what else is printed', 'error: a', 'compiling 3 files\nerror: a\n\nbye'],
  ])('%s', (_, one, other) => {
    expect(of(one)).toBe(of(other))
  })

  test('in whatever order tests are named', () => {
    expect(of('', { failing: ['a', 'b'] })).toBe(of('', { failing: ['b', 'a', 'a'] }))
  })

  test('in whatever order, for any lines', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), (words) => {
        const lines = words.map((word) => `error ${word.replaceAll('\n', '')}`)
        expect(of(lines.join('\n'))).toBe(of(lines.toReversed().join('\n')))
      }),
    )
  })
})

describe('another failure has another', () => {
  test.each([
    ['another value', 'expected 3 to be -1', 'expected 3 to be -2'],
    ['another message', 'Error: boom', 'Error: bang'],
    ['another file', 'Error at /w/src/sum.js:3:1', 'Error at /w/src/product.js:3:1'],
    ['one more failure', '1 failed, 2 passed', '2 failed, 2 passed'],
    ['one more message', 'Error: boom', 'Error: boom\nError: bang'],
    ['other last words, where nothing complains', 'all went dark', 'all went bright'],
  ])('%s', (_, one, other) => {
    expect(of(one)).not.toBe(of(other))
  })

  test('another test, another command, another end', () => {
    const all = [
      of('x'),
      of('x', { failing: ['sum > adds'] }),
      of('x', { failing: [] }),
      of('x', { facts: ['make', 'test', 'tests_failed', 1] }),
      of('x', { facts: ['npm', 'test', 'tests_failed', 2] }),
      fingerprintOf([]),
    ]
    expect(new Set(all).size).toBe(all.length)
  })
})

test('real output keeps its fingerprint from run to run, and not from runner to runner', () => {
  const captured = (name: string) =>
    readFileSync(join(import.meta.dirname, `../../../test/testing/captured/${name}.txt`), 'utf8')
  expect(of(captured('pytest-fail'))).toBe(of(captured('pytest-fail').replaceAll('0.23s', '9.99s')))
  expect(of(captured('pytest-fail'))).not.toBe(of(captured('unittest-fail')))
})
