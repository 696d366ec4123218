import { expect, test } from 'vitest'
import { bounded, describeRun, lessonsText } from './coder-work.ts'

test('a test run with less room still says what each command came to and what fails', () => {
  const lines = (line: string) => `${line}\n`.repeat(8_000 / line.length)
  const commands = [
    { argv: ['lint'], verdict: 'passed', failing: [], tail: lines('linted') },
    { argv: ['check'], verdict: 'failed', failing: ['expires', 'renews'], tail: lines('checked') },
    { argv: ['types'], verdict: 'passed', failing: [], tail: lines('typed') },
  ]
  const counts = { executed: 9, passed: 7, failed: 2, skipped: 0 }
  const run = { verdict: 'failed', message: 'check: tests failed', counts, commands }
  const text = bounded(describeRun(run).text, 1_000)
  expect(text).toContain(
    `check: tests failed (7 passed, 2 failed, 0 skipped)
$ lint: passed
$ check: failed
$ types: passed

Failing in $ check
- expires
- renews

`,
  )
  expect(text).toMatch(/(?:checked\n){50}$/)
})

test.each(['', 'x'])('no character is cut in two where a text is too long, after %j', (before) => {
  const long = `${before}${'😀'.repeat(20_000)}`
  const lesson = { reason: long, fingerprint: '', failures: '', diff: null }
  for (const text of [bounded(long), lessonsText([lesson])]) {
    expect(text.length).toBeLessThan(long.length)
    expect(text.isWellFormed()).toBe(true)
  }
})
