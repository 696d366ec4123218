import { call, once, reply } from '../team/replies.ts'

export { call, once, reply }

export const PROPOSAL = reply(
  { task: 'coordinator/propose' },
  call('submit_proposal', { proposal: 'Write double.sh on top of sum.sh, with a test.' }),
)
const OPINION = reply(
  { task: 'coordinator/discuss-review' },
  call('submit_opinion', { opinion: 'Go ahead: it is small.' }),
)
const TEST_OPINION = reply(
  { task: 'coordinator/discuss-tests' },
  call('submit_opinion', { opinion: 'Test zero and negative numbers.' }),
)
export const DISCUSSION = [PROPOSAL, OPINION, TEST_OPINION]

const BUILD = 'coordinator/build'
const REVIEW = 'coordinator/review'
const TEST = 'coordinator/test'

export const write = (path: string, text: string) => call('write_file', { path, text })
const DOUBLE = 'sh sum.sh "$1" "$1"\n'
const DOUBLE_TEST =
  'got=$(sh double.sh 4)\ntest "$got" = 8 || { echo "got $got, not 8"; exit 1; }\n'

/** Writes the script and its test, and ends with the next turn. */
export const BUILDS = reply(
  { task: BUILD, turn: 1, contains: 'Do this task.' },
  write('double.sh', DOUBLE),
  write('tests/double.sh', DOUBLE_TEST),
)
/** Writes it wrongly, so that its test fails. */
export const BUILDS_WRONG = reply(
  { task: BUILD, turn: 1, contains: 'Do this task.' },
  write('double.sh', 'echo $(($1 * $1))\n'),
  write('tests/double.sh', DOUBLE_TEST),
)
/** What a later round writes. */
export const MENDS = reply(
  { task: BUILD, turn: 1, contains: 'What has to be put right in this round' },
  write('double.sh', DOUBLE),
  write('tests/double.sh', DOUBLE_TEST),
)
/** The same in the package. */
export const BUILDS_PACKAGE = reply(
  { task: BUILD, turn: 1, contains: 'Do this task.' },
  write('double.js', "import { sum } from './sum.js'\nexport const double = (a) => sum(a, a)\n"),
  write(
    'double.test.js',
    `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { double } from './double.js'

test('it doubles', () => assert.equal(double(4), 8))
`,
  ),
)
export const DONE = reply({ task: BUILD }, call('done', { summary: 'Written, with a test.' }))
export const building = (when: object, ...steps: readonly object[]) =>
  reply({ task: BUILD, ...when }, ...steps)

const NOTHING = { must_fix: [], nice_to_have: [], tests: [], security: [] }
export const APPROVAL = { decision: 'approve', ...NOTHING }
export const changes = (...points: readonly string[]) => ({
  ...NOTHING,
  decision: 'changes_requested',
  must_fix: points,
})
export const reviewing = (...steps: readonly object[]) => reply({ task: REVIEW }, ...steps)
export const APPROVES = reviewing(call('submit_review', APPROVAL))
export const OBJECTS = reviewing(call('submit_review', changes('double.sh:1 squares its input')))

export const planOf = (...commands: readonly (readonly string[])[]) => ({
  test_plan: 'The test of the function.',
  commands,
  expected_results: commands.map(() => 'it passes'),
})
export const testing = (...steps: readonly object[]) => reply({ task: TEST }, ...steps)
export const TESTS = testing(call('submit_test_plan', planOf(['sh', 'tests/double.sh'])))

/** Everything that a plain implementation needs. */
export const PLAIN = [BUILDS, DONE, APPROVES, TESTS]
