import { expect, test } from 'vitest'
import type { Message } from '../brains/brain.ts'
import type { CommandResult } from '../testing/test-result.ts'
import { describeTests } from '../tools/tests-in-words.ts'
import { summedUp } from './compaction.ts'
import { sectionsIn } from './kept-sections.ts'
import { COMPACTION_WORDS, noteWords } from './words.ts'

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

const exchange = (name: string, text: string, isError: boolean, input = {}): Message[] => [
  { role: 'assistant', text: '', toolCalls: [{ id: name, name, input }] },
  { role: 'tool', results: [{ id: name, name, text, isError }] },
]

const STORY: Message = { role: 'user', text: 'The story.' }
const shell = (command: string, text: string) => exchange('shell', text, true, { command })
const reading = (chars = 60_000) => exchange('read_file', 'x'.repeat(chars), false)
const told = (text: string): Message => ({
  role: 'user',
  text: noteWords({ name: 'message', text }, []),
})

const afterSummary = (messages: readonly Message[]) =>
  summedUp({ system: '', tools: [], messages }, 'Much was done.', COMPACTION_WORDS)

const charsOf = (value: unknown) => JSON.stringify(value).length

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
    STORY,
    ...exchange('run_tests', answer.join('\n\n'), true),
    ...reading(),
  ]
  const [, summary] = afterSummary(messages)
  const [tests = ''] = sectionsIn(summary?.role === 'user' ? summary.text : '').tests ?? []
  expect(tests.length).toBeLessThan(4_100)
  for (const verdict of ['lint\npassed', 'types\npassed', 'check\nfailed']) {
    expect(tests).toContain(`$ ${verdict}, exit code `)
  }
  for (const name of failing) expect(tests).toContain(`\n- ${name}\n`)
  expect(tests).toMatch(/(?:check\n){50}$/)
})

test('summaries keep what others told a model, with what it had asked', () => {
  const asked = exchange('ask_question', 'asked', false, { question: 'Which port?' })
  const first = [STORY, ...asked, told('The answer to your question: 4242'), ...reading()]
  const second = [...afterSummary(first), told('It is not complete: log it.'), ...reading()]
  const third = afterSummary([...afterSummary(second), ...reading()])
  const { message } = sectionsIn(third[1]?.role === 'user' ? third[1].text : '')
  expect(message).toEqual([
    'You had asked: Which port?\n\nThe answer to your question: 4242',
    'It is not complete: log it.',
  ])
})

test('summaries keep every command that fails, and a short one leaves its room to a long one', () => {
  const log = Array.from({ length: 900 }, (_, i) => `FAILED t${i}`).join('\n')
  const first = [
    STORY,
    ...shell('npm test', `${log}\n[exit code 1]`),
    ...shell('npm run build', 'TS2345 b.ts:9\n[exit code 2]'),
    ...shell('ls nosuch', 'cannot access nosuch\n[exit code 2]'),
    ...reading(),
  ]
  const [, summary] = afterSummary([...afterSummary(first), ...reading()])
  const { command = [] } = sectionsIn(summary?.role === 'user' ? summary.text : '')
  expect(command.slice(1)).toEqual([
    '$ npm run build\nTS2345 b.ts:9\n[exit code 2]',
    '$ ls nosuch\ncannot access nosuch\n[exit code 2]',
  ])
  expect(command[0]).toMatch(/^\$ npm test\nFAILED t0\n.*FAILED t899\n\[exit code 1\]$/s)
  expect(command[0]?.length).toBeGreaterThan(5_000)
})

test('what a summary keeps is bounded, and the newest of it stays', () => {
  const many = Array.from({ length: 40 }, (_, i) => [
    told(`Answer ${i}: ${'y'.repeat(8_000)}`),
    ...shell(`run ${i}; ${'z'.repeat(900)}`, `${'no '.repeat(3_000)}\n[exit code ${i + 1}]`),
  ])
  const messages = [STORY, ...many.flat(), ...reading()]
  const after = afterSummary(messages)
  expect(charsOf(after)).toBeLessThan(30_000)
  const text = JSON.stringify(after)
  for (const kept of ['Answer 39:', 'Answer 30:', '[exit code 40]', '[exit code 33]'])
    expect(text).toContain(kept)
  expect(text).not.toContain('Answer 29:')
  const small = [STORY, ...many.slice(-1).flat(), ...reading(1_000)]
  expect(charsOf(afterSummary(small))).toBeLessThan(charsOf(small) / 2)
})
