import { expect, test } from 'vitest'
import type { Message } from '../brains/brain.ts'
import type { CommandResult } from '../testing/test-result.ts'
import { describeTests } from '../tools/tests-in-words.ts'
import { summedUp } from './compaction.ts'
import { sectionsIn } from './kept-sections.ts'

const command = (argv: readonly [string], given: Partial<CommandResult>): CommandResult => ({
  argv,
  cwd: null,
  reason: 'configured',
  verdict: 'passed',
  code: null,
  how: 'exited',
  exitCode: 0,
  evidence: 'exit_code',
  counts: null,
  runners: [],
  failing: [],
  tail: '',
  droppedBytes: 0,
  durationMs: 1,
  output: null,
  ...given,
})

const exchange = (name: string, text: string, isError: boolean): Message[] => [
  { role: 'assistant', text: '', toolCalls: [{ id: name, name, input: {} }] },
  { role: 'tool', results: [{ id: name, name, text, isError }] },
]

test('a summary keeps what every test command came to, what fails, and how that ended', () => {
  const failing = Array.from({ length: 30 }, (_, i) => `auth > rejects an expired token ${i}`)
  const commands = [
    command(['lint'], {}),
    command(['check'], { verdict: 'failed', exitCode: 1, code: 'tests_failed', failing }),
    command(['types'], {}),
  ]
  const printed = commands.map(({ argv }) => `${argv}\n`.repeat(2_000))
  const result = {
    verdict: 'failed' as const,
    code: 'tests_failed' as const,
    message: 'check: tests failed',
    evidence: 'exit_code' as const,
    counts: null,
    fingerprint: null,
    commands,
    durationMs: 3,
  }
  const answer = describeTests({ result, printed }).map(({ text }) => text)
  const messages: Message[] = [
    { role: 'user', text: 'The story.' },
    ...exchange('run_tests', answer.join('\n\n'), true),
    ...exchange('read_file', 'x'.repeat(60_000), false),
  ]
  const words = { request: 'Sum up.', summary: (text: string) => text }
  const [, summary] = summedUp({ system: '', tools: [], messages }, 'Much was done.', words)
  const { tests = '' } = sectionsIn(summary?.role === 'user' ? summary.text : '')
  expect(tests.length).toBeLessThan(4_100)
  for (const verdict of ['lint\npassed', 'types\npassed', 'check\nfailed']) {
    expect(tests).toContain(`$ ${verdict}, exit code `)
  }
  for (const name of failing) expect(tests).toContain(`\n- ${name}\n`)
  expect(tests).toMatch(/(?:check\n){50}$/)
})
