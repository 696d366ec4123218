import { expect, test } from 'vitest'
import { openToolGround } from '../../../test/tools/tool-ground.ts'
import type { Message } from '../brains/brain.ts'
import { runTests } from '../testing/run-tests.ts'
import { TEST_TOOLS } from '../tools/story-tools.ts'
import { answerCalls } from '../tools/tool-calls.ts'
import { withSections } from './kept-sections.ts'
import { openFailures } from './open-failures.ts'
import { noteWords } from './words.ts'

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
const STORY = told('The story.')
const MAKE = '$ make\nno\n[exit code 2]'
const LINT = '$ lint\nan unused name\n[exit code 1]'
const SUMMARY = withSections('All is well.', { tests: [RED], command: [LINT, MAKE] })

const CASES: readonly [string, readonly Message[][], object][] = [
  ['tests that failed', [tests('old, exit code 1'), tests(RED)], { tests: RED }],
  ['tests that were refused after they failed', [tests(RED), tests(REFUSED)], { tests: RED }],
  [
    'a command that failed, also before another succeeded',
    [shell('make', 'no\n[exit code 2]'), shell('ls', 'a\n[exit code 0]', false)],
    { commands: [MAKE] },
  ],
  [
    'a command that failed, also before another failed',
    [shell('make', 'no\n[exit code 2]'), shell('lint', 'an unused name\n[exit code 1]')],
    { commands: [MAKE, LINT] },
  ],
  [
    'a command as it failed last',
    [
      shell('make', 'yes?\n[exit code 1]'),
      shell('lint', 'an unused name\n[exit code 1]'),
      shell('make', 'no\n[exit code 2]'),
    ],
    { commands: [LINT, MAKE] },
  ],
  [
    'tests, beside a command',
    [tests(RED), shell('make', 'no\n[exit code 2]')],
    { tests: RED, commands: [MAKE] },
  ],
  ['what a summary tells of', [[told(SUMMARY)]], { tests: RED, commands: [LINT, MAKE] }],
  [
    'what a summary tells of, but for what succeeded since',
    [[told(SUMMARY)], shell('lint', '[exit code 0]', false)],
    { tests: RED, commands: [MAKE] },
  ],
  [
    'what a message says of tests',
    [[told(noteWords({ name: 'message', text: 'It is not complete.', failures: RED }, []))]],
    { tests: RED },
  ],
  ['nothing after a command without a word', [shell('grep -q x a', '[exit code 1]')], {}],
  [
    'nothing after the same command succeeded',
    [shell('make', 'no\n[exit code 2]'), shell('make', '[exit code 0]', false)],
    {},
  ],
  [
    'a command that tests did not run, after they passed',
    [[told(SUMMARY)], tests('3 passed\n\n$ make\npassed, exit code 0', false)],
    { commands: [LINT] },
  ],
]

test.each(CASES)('what fails now is %s', (_, exchanges, open) => {
  const { tests: ofTests, commands } = openFailures([STORY, ...exchanges.flat()])
  expect({
    ...(ofTests && { tests: ofTests.text }),
    ...(commands.length > 0 && { commands: commands.map(({ text }) => text) }),
  }).toEqual(open)
})

test('of many commands that fail, the newest are known', () => {
  const many = Array.from({ length: 30 }, (_, i) => shell(`ls ${i}`, 'no\n[exit code 2]'))
  const { commands } = openFailures([STORY, ...many.flat()])
  expect(commands.length).toBe(8)
  expect(commands.at(-1)?.text).toContain('$ ls 29\n')
})

test('only the very same command mends what it had failed with', () => {
  const failed = shell('npm ci\nnpm run build', 'TS2304\n[exit code 2]')
  const other = shell('npm ci', 'added\n[exit code 0]', false)
  const same = shell('npm ci\nnpm run build', 'built\n[exit code 0]', false)
  expect(openFailures([STORY, ...failed, ...other]).commands[0]?.text).toContain('TS2304')
  expect(openFailures([STORY, ...failed, ...same]).commands).toEqual([])
  const long = `cat <<END > a.txt\n${'x'.repeat(5_000)}\nEND`
  const { commands } = openFailures([STORY, ...shell(long, 'no room\n[exit code 1]')])
  const kept = commands.map(({ text }) => text.slice(0, 2_000))
  const summary = told(withSections('All is well.', { command: kept }))
  expect(openFailures([STORY, summary]).commands).toHaveLength(1)
  const mended = [STORY, summary, ...shell(long, 'x\n[exit code 0]', false)]
  expect(openFailures(mended).commands).toEqual([])
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
    const failed = [STORY, ...tests(result.message)]
    expect(openFailures(failed).tests?.text).toBe(result.message)
    expect(openFailures([...failed, ...tests('3 passed', false)]).tests).toBeUndefined()
  } finally {
    await ground.close()
  }
})
