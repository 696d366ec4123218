import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADDS, counts, type Files, nodeTest, npm, SUBTRACTS, SUM } from './sums.ts'
import { openWorld } from './world.ts'

let world: Awaited<ReturnType<typeof openWorld>>
beforeAll(async () => {
  world = await openWorld('none')
})
afterAll(() => world.close())

/** With assertions, and without a test that anybody would report. */
const CHECKS = "import('node:assert').then(({ equal }) => equal(1 + 2, 3))\n"
/** Of tests: of files that are there, of such that could be, and of the file with tests itself. */
const NAMES = [
  ...['Node.js', 'parser.ts', 'some.test.js', 'sum.js', 'README.md', 'src/index.js'],
  ...['my sums/a b.js', 'sum.test.js'],
]

describe.concurrent('node:test', () => {
  test.each<[string, Files, object]>([
    [
      'that passes',
      { 'package.json': npm('node --test'), 'sum.js': SUM, 'sum.test.js': nodeTest(ADDS) },
      { verdict: 'passed', code: null, evidence: 'counted', counts: counts(1, 0) },
    ],
    [
      'that fails',
      {
        'package.json': npm('node --test'),
        'sum.js': SUM,
        'sum.test.js': nodeTest(`${ADDS}\n${SUBTRACTS}`),
      },
      {
        verdict: 'failed',
        code: 'tests_failed',
        counts: counts(1, 1),
        commands: [{ argv: ['npm', 'test'], exitCode: 1, failing: ['subtracts'] }],
      },
    ],
    [
      'that fails and is told to say it did not',
      {
        'package.json': npm('node --test || true'),
        'sum.js': SUM,
        'sum.test.js': nodeTest(SUBTRACTS),
      },
      { verdict: 'failed', code: 'failed_despite_exit', commands: [{ exitCode: 0 }] },
    ],
    [
      'of a file that cannot be read',
      { 'package.json': npm('node --test'), 'sum.test.js': 'this is not javascript' },
      { verdict: 'failed', code: 'tests_failed' },
    ],
    [
      'of a file without tests',
      { 'package.json': npm('node --test'), 'sum.js': SUM, 'sum.test.js': nodeTest('// later') },
      { verdict: 'no_tests', code: 'none_executed', commands: [{ exitCode: 0 }] },
    ],
    ...['my dir/a.test.js', 'a b.test.mjs', 'packages/a/test/c d.js'].map(
      (name): [string, Files, object] => [
        `of a file without tests that is ${name}`,
        { 'package.json': npm('node --test'), [name]: '' },
        { verdict: 'no_tests', code: 'none_executed' },
      ],
    ),
    [
      'of a file without tests, in a folder that the script goes to',
      { 'package.json': npm('cd sub && node --test'), 'sub/sum.test.js': '' },
      { verdict: 'no_tests', code: 'none_executed' },
    ],
    [
      'of a file without tests that has another ending',
      { 'package.json': npm('node --test check.cjs.txt'), 'check.cjs.txt': '' },
      { verdict: 'no_tests', code: 'none_executed' },
    ],
    ...['sum.test.js', 'my dir/a b.test.mjs', 'test/deep/sum.js'].map(
      (name): [string, Files, object] => [
        `of a script with assertions of its own that is ${name}`,
        { 'package.json': npm('node --test'), [name]: CHECKS },
        { verdict: 'passed', evidence: 'counted', counts: counts(1, 0) },
      ],
    ),
    [
      'of a script with assertions that has another ending, beside an empty one',
      {
        'package.json': npm('node --test check.cjs.txt none.cjs.txt'),
        'check.cjs.txt': "require('node:assert').equal(1 + 2, 3)",
        'none.cjs.txt': '/* later */',
      },
      { verdict: 'passed', counts: counts(1, 0) },
    ],
    [
      'of a script whose assertions fail',
      { 'package.json': npm('node --test'), 'sum.test.js': "require('node:assert').ok(false)" },
      { verdict: 'failed', code: 'tests_failed', counts: counts(0, 1) },
    ],
    ...NAMES.map((name): [string, Files, object] => [
      `of a test that is called ${name}`,
      {
        'package.json': npm('node --test'),
        'README.md': '# Sums\n',
        'src/index.js': 'exports.index = 1\n',
        'src/parser.ts': '',
        'my sums/a b.js': 'exports.sums = 1\n',
        'sum.js': SUM,
        'sum.test.js': nodeTest(`test(${JSON.stringify(name)}, () => {})`),
      },
      { verdict: 'passed', counts: counts(1, 0) },
    ]),
    [
      'of a suite that is called like a file',
      {
        'package.json': npm('node --test'),
        'parser.ts': '',
        'sum.js': SUM,
        'sum.test.js': nodeTest(
          "require('node:test').describe('parser.ts', () => { test('reads', () => {}) })",
        ),
      },
      { verdict: 'passed', counts: counts(1, 0) },
    ],
    [
      'of tests that are all skipped',
      {
        'package.json': npm('node --test'),
        'sum.js': SUM,
        'sum.test.js': nodeTest("test.skip('adds', () => {})"),
      },
      { verdict: 'no_tests', code: 'none_executed', counts: counts(0, 0, 1) },
    ],
    [
      'without files',
      { 'package.json': npm('node --test') },
      { verdict: 'no_tests', code: 'none_executed' },
    ],
    [
      'that nobody has installed',
      { 'package.json': npm('no-such-runner') },
      { verdict: 'not_started', code: 'command_missing', commands: [{ exitCode: 127 }] },
    ],
    [
      'that was never written',
      { 'package.json': npm('echo "Error: no test specified" && exit 1') },
      {
        verdict: 'no_tests',
        code: 'no_command',
        commands: [],
        remarks: [{ path: 'package.json', code: 'no_test_script' }],
      },
    ],
    [
      'that is none, and exits with 0',
      { 'package.json': npm('node --eval 0') },
      { verdict: 'passed', evidence: 'exit_code', counts: null },
    ],
  ])('%s', async (_, files, outcome) => {
    expect(await world.runTests({ workspace: world.repository(files) })).toMatchObject(outcome)
  })

  test.each(['node --test > /dev/null', 'node --test no-such-folder 2> /dev/null || true'])(
    'by %j is no pass, since nothing says that a test ran',
    async (script) => {
      const files = { 'package.json': npm(script), 'sum.js': SUM, 'sum.test.js': nodeTest(ADDS) }
      const value = await world.runTests({ workspace: world.repository(files) })
      expect(value).toMatchObject({ verdict: 'no_tests', commands: [{ exitCode: 0 }] })
    },
  )

  test('that is none is no pass where a report is required', async () => {
    const workspace = world.repository({ 'package.json': npm('node --eval 0') })
    const value = await world.runTests({ workspace, requireReport: true })
    expect(value).toMatchObject({ verdict: 'no_tests', code: 'nothing_reported' })
  })
})
