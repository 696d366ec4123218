import { expect, test } from 'vitest'
import { openToolGround } from '../../../test/tools/tool-ground.ts'
import type { Message } from '../brains/brain.ts'
import { runTests } from '../testing/run-tests.ts'
import { TEST_TOOLS } from '../tools/story-tools.ts'
import { answerCalls } from '../tools/tool-calls.ts'
import { withSections } from './kept-sections.ts'
import { openFailures } from './open-failures.ts'

let calls = 0

function exchange(name: string, input: object, text: string, isError: boolean): Message[] {
  calls += 1
  const id = `c${calls}`
  return [
    { role: 'assistant', text: '', toolCalls: [{ id, name, input }] },
    { role: 'tool', results: [{ id, name, text, isError }] },
  ]
}
const tests = (text: string, isError = true) => exchange('run_tests', {}, text, isError)
const shell = (command: string, text: string, isError = true) =>
  exchange('shell', { command }, text, isError)

const RED = 'tests failed\n\n$ npm test\nfailed, exit code 1\n- expires'
const REFUSED = 'run_tests was not run again: with the same input it gave the same answer'
const told = (text: string): Message => ({ role: 'user', text })
const SUMMARY = withSections('All is well.', { tests: RED, command: '$ make\nno\n[exit code 2]' })

const CASES: readonly [string, readonly Message[][], object][] = [
  ['tests that failed', [tests('old, exit code 1'), tests(RED)], { tests: RED }],
  ['tests that were refused after they failed', [tests(RED), tests(REFUSED)], { tests: RED }],
  [
    'a command that failed, also before another succeeded',
    [shell('make', 'no\n[exit code 2]'), shell('ls', 'a\n[exit code 0]', false)],
    { command: '$ make\nno\n[exit code 2]' },
  ],
  [
    'tests, beside a command',
    [tests(RED), shell('make', 'no\n[exit code 2]')],
    { tests: RED, command: '$ make\nno\n[exit code 2]' },
  ],
  [
    'what a summary tells of',
    [[told(SUMMARY)]],
    { tests: RED, command: '$ make\nno\n[exit code 2]' },
  ],
  ['nothing after a command without a word', [shell('grep -q x a', '[exit code 1]')], {}],
  [
    'nothing after the same command succeeded',
    [shell('make', 'no\n[exit code 2]'), shell('make', '[exit code 0]', false)],
    {},
  ],
  ['nothing after tests that passed', [[told(SUMMARY)], tests('3 passed, exit code 0', false)], {}],
]

test.each(CASES)('what fails now is %s', (_, exchanges, open) => {
  const { tests: ofTests, command } = openFailures(exchanges.flat())
  expect({
    ...(ofTests && { tests: ofTests.text }),
    ...(command && { command: command.text }),
  }).toEqual(open)
})

test('only the very same command mends what it had failed with', () => {
  const failed = shell('npm ci\nnpm run build', 'TS2304\n[exit code 2]')
  const other = shell('npm ci', 'added\n[exit code 0]', false)
  const same = shell('npm ci\nnpm run build', 'built\n[exit code 0]', false)
  expect(openFailures([...failed, ...other].flat()).command?.text).toContain('TS2304')
  expect(openFailures([...failed, ...same].flat())).toEqual({})
  const long = `cat <<END > a.txt\n${'x'.repeat(5_000)}\nEND`
  const { command } = openFailures(shell(long, 'no room\n[exit code 1]'))
  const summary = told(
    withSections('All is well.', { command: command?.text.slice(0, 2_000) ?? '' }),
  )
  expect(openFailures([summary]).command).toBeDefined()
  expect(openFailures([summary, ...shell(long, 'x\n[exit code 0]', false)])).toEqual({})
})

test('what fails now is that nothing says how the repository is tested', async () => {
  const ground = await openToolGround('write')
  try {
    const bounds = { timeoutMs: 1_000, outputBytesMax: 1_000 }
    const result = await runTests({ ...ground.context, ...bounds, commands: [] })
    const given = { ...ground.context, runTests: async () => ({ result, printed: [] }) }
    const call = { id: '1', name: 'run_tests', input: {} }
    const [answer] = await answerCalls(TEST_TOOLS, [call], given)
    expect(answer).toMatchObject({ isError: true, text: result.message })
    expect(openFailures(tests(result.message)).tests?.text).toBe(result.message)
    expect(openFailures([...tests(result.message), ...tests('3 passed', false)].flat())).toEqual({})
  } finally {
    await ground.close()
  }
})
