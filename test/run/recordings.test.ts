import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as task from '../task/replies.ts'
import { call, PLAIN, type Reply, story, submit, working, write } from '../team/replies.ts'
import { makeUser, type User } from './slipway.ts'

const SPEC = `# Sums

Sums that are right.

## Acceptance criteria

1. The sum is tested.
`
const CONFIG = { tests: { commands: [['node', '--test']] }, team: { coders: 1 } }
/** What is built says when, so that diffs differ too; a test runner says how long it took. */
const STAMP = call('shell', { command: 'date +%s%N > built.txt' })

let folder: string
let cassette: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-recordings-'))
  cassette = join(folder, 'turns.jsonl')
})

afterEach(() => rmSync(folder, { recursive: true }))

/** Writes a test that holds when the sum is 4. */
const sums = (sum: string) =>
  write(
    'test/sum.test.js',
    `import assert from 'node:assert/strict'
import { test } from 'node:test'
test('the sum', () => assert.equal(${sum}, 4))
`,
  )

/** What a command comes to for a user whose models say this, or what is on the cassette. */
async function work(replies: readonly Reply[], variables: Record<string, string>, args: string[]) {
  const user: User = await makeUser()
  try {
    await user.play(replies, CONFIG)
    Object.assign(user.env, variables)
    user.write('../spec.md', SPEC)
    const { code, stdout, stderr } = await user.slipway(...args)
    return { code, said: code === 0 ? '' : stdout + stderr }
  } finally {
    await user.close()
  }
}

const SUM = story('sum')
const FIXING = { state: 'FIXING', turn: 1 }

test.each([
  [
    'run',
    ['run', '../spec.md'],
    [
      submit(SUM),
      working({ state: 'CODING', turn: 1 }, sums('2 + 0'), STAMP),
      working({ ...FIXING, contains: 'equal(2 + 0, 4)' }, sums('2 + 1'), STAMP),
      working({ ...FIXING, contains: 'equal(2 + 1, 4)' }, sums('2 + 2'), STAMP),
      ...PLAIN,
    ],
  ],
  [
    'task',
    ['task', 'Test the sum', '--mode', 'implementation', '--foreground'],
    [
      task.building({ turn: 1, contains: 'equal(2 + 0, 4)' }, sums('2 + 2'), STAMP),
      task.building({ turn: 1 }, sums('2 + 0'), STAMP),
      ...[task.DONE, task.APPROVES],
      task.testing(call('submit_test_plan', task.planOf(['node', '--test', 'test/']))),
    ],
  ],
])(
  'a recorded %s whose tests fail at first is played to its end',
  async (_, args, replies) => {
    expect(await work(replies, { SLIPWAY_RECORD: cassette }, args)).toEqual({ code: 0, said: '' })
    expect(await work([], { SLIPWAY_SCENARIO: cassette }, args)).toEqual({ code: 0, said: '' })
  },
  60_000,
)
