import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Random } from '../drill/random.ts'
import { plainGit } from '../git/world.ts'
import { begin, makeUser, type User } from '../run/slipway.ts'
import { APPROVES, building, DISCUSSION, DONE, OBJECTS, planOf, testing, write } from './replies.ts'

/** The long setting is 100. */
const KILLS = Number(process.env.SLIPWAY_TASK_KILLS ?? 3)

const TASK = 'Add a function that doubles a number'
const TEXTS = {
  'src/double.js': 'export const double = (a) => a + a\n',
  'test/double.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { double } from '../src/double.js'

test('it doubles', () => assert.equal(double(4), 8))
`,
}
const WRITES = Object.entries(TEXTS).map(([path, text]) => write(path, text))
const BUILDS = building({ turn: 1, contains: 'Do this task.' }, ...WRITES)
const TESTS = testing({
  call: 'submit_test_plan',
  input: planOf(['node', '--test', 'test/double.test.js']),
})
const AFTER = [DONE, APPROVES, TESTS]
const PLAIN = [BUILDS, ...AFTER]
const CONFIG = { tests: { commands: [['node', '--test']] }, limits: { taskRounds: 2 } }

let user: User

beforeEach(async () => {
  user = await makeUser()
})

afterEach(() => user.close())

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 600; i += 1) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('it did not come about')
}

const stateOf = async (task: string) =>
  JSON.parse((await user.slipway('task', 'report', task, '--json')).stdout)

test('a proposal waits for its operator, is confirmed, and is followed up', async () => {
  await user.play([...DISCUSSION, ...PLAIN], CONFIG)
  const head = plainGit(user.repository, 'rev-parse', 'HEAD')
  const proposed = await user.slipway('task', TASK)
  expect(proposed.code).toBe(3)
  expect(proposed.stdout).toContain('**discussion_complete**')
  expect(proposed.stdout).toContain('> Write double.sh on top of sum.sh')
  expect(proposed.stderr).toContain('plan → review  roundtable_reviewer')
  const [, id = ''] = /slipway confirm (\S+)`/.exec(proposed.stdout) ?? []
  expect((await user.slipway('status', id)).code).toBe(3)
  const done = await user.slipway('confirm', id)
  expect(done.code).toBe(0)
  expect(done.stdout).toContain('**approved**')
  expect(done.stdout).toContain('## Round 2: implementation, approved')
  expect((await user.slipway('confirm', id)).code).toBe(2)
  // The command that the report names brings the work, and the checkout is as it was.
  const [, fetched = ''] = /git (fetch \S+ \S+) &&/.exec(done.stdout) ?? []
  plainGit(user.repository, ...fetched.split(' '))
  expect(plainGit(user.repository, 'show', 'FETCH_HEAD:src/double.js')).toContain('a + a')
  expect(plainGit(user.repository, 'rev-parse', 'HEAD')).toBe(head)
  expect(plainGit(user.repository, 'status', '--porcelain', '--', 'src', 'test')).toBe('')
  const more = await user.slipway(
    'task',
    '--follow-up',
    id,
    'Once more.',
    '--mode',
    'implementation',
  )
  expect(more.code).toBe(0)
  const view = await stateOf(id)
  expect(view).toMatchObject({ outcome: 'approved', followUps: ['Once more.'] })
  expect(view.rounds.map(({ kind }: { kind: string }) => kind)).toEqual([
    'discussion',
    'implementation',
    'implementation',
  ])
  expect((await user.slipway('replay', id)).stdout).toContain('Sound')
}, 120_000)

test('--yes goes on by itself, in the foreground too, and a red end has its exit code', async () => {
  await user.play([...DISCUSSION, ...PLAIN], CONFIG)
  const done = await user.slipway('task', TASK, '--yes', '--foreground', '--json')
  expect(done.code).toBe(0)
  expect(JSON.parse(done.stdout)).toMatchObject({ outcome: 'approved', status: 'done' })
  await user.play([BUILDS, DONE, OBJECTS], CONFIG)
  const spent = await user.slipway(
    'task',
    'Another thing',
    '--mode',
    'implementation',
    '--foreground',
  )
  expect(spent.code).toBe(4)
  expect(spent.stdout).toContain('**max_iterations_reached**')
  expect(spent.stdout).toContain('It is not approved.')
  await user.play([building({}, { fail: 'auth' })], CONFIG)
  const refused = await user.slipway('task', 'A third', '--mode', 'implementation', '--foreground')
  expect(refused.code).toBe(5)
  expect(refused.stdout).toContain('**provider_auth_error**')
}, 120_000)

test('in the foreground the first Ctrl-C drains a task, and the second keeps it too', async () => {
  await user.play([building({}, { hang: true })], CONFIG)
  const args = ['task', TASK, '--mode', 'implementation', '--foreground']
  const { child, ended, said } = begin(user, ...args)
  await until(async () => said().includes('→ build'))
  child.kill('SIGINT')
  await until(async () => said().includes('press Ctrl-C again'))
  await new Promise((done) => setTimeout(done, 1_000))
  expect(child.exitCode).toBe(null)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  await user.play(PLAIN, CONFIG)
  const [, id = ''] = /slipway resume (\S+)/.exec(said()) ?? []
  // Nobody is at work on it, and to look at it is no failure.
  expect((await user.slipway('task', 'report', id)).code).toBe(0)
  expect((await user.slipway('resume', id)).code).toBe(0)
  await until(async () => (await stateOf(id)).outcome === 'approved')
}, 120_000)

test('a turn that is under way ends after a pause, however long it takes', async () => {
  // An engine with nothing to do is gone after 15 seconds, and waits for 5 more.
  await user.play([building({ turn: 1 }, { wait_ms: 25_000 }, ...WRITES), ...AFTER], CONFIG)
  const args = ['task', TASK, '--mode', 'implementation', '--detach', '--json']
  const { task } = JSON.parse((await user.slipway(...args)).stdout)
  await until(async () => (await stateOf(task)).state === 'build')
  expect((await user.slipway('pause', task)).code).toBe(0)
  await until(async () => !existsSync(join(user.state, 'engine.json')))
  // Who is asked for it again never answers.
  await user.play([building({ turn: 1 }, { hang: true }), ...AFTER], CONFIG)
  expect((await user.slipway('resume', task)).code).toBe(0)
  await until(async () => (await stateOf(task)).outcome === 'approved')
}, 120_000)

test('a stop ends a task, its processes and its second run', async () => {
  const shell = { call: 'shell', input: { command: 'sleep 4321 & setsid sleep 4321 & sleep 4321' } }
  await user.play([building({}, shell)], CONFIG)
  const args = ['task', TASK, '--mode', 'implementation', '--detach', '--json']
  const { task } = JSON.parse((await user.slipway(...args)).stdout)
  await until(async () => countIn(user.state) > 2)
  expect((await user.slipway('task', 'report', task)).code).toBe(0)
  const { stdout: board } = await user.slipway('status', task)
  expect(board).toMatch(/^\S+ {2}running {2}implementation, round 1, in build {2}\$/)
  const same = await user.slipway('task', TASK)
  expect(same.code).toBe(2)
  expect(same.stderr).toContain(`under way as ${task}`)
  for (const again of [
    ['confirm', task],
    ['task', '--follow-up', task, 'More.'],
  ]) {
    const { code, stderr } = await user.slipway(...again)
    expect(code).toBe(2)
    expect(stderr).toContain('is under way, in build')
  }
  expect((await user.slipway('stop', task)).code).toBe(0)
  expect(countIn(user.state)).toBe(0)
  expect(await stateOf(task)).toMatchObject({ outcome: 'canceled', status: 'stopped' })
  expect((await user.slipway('task', 'report', task)).code).toBe(130)
  user.killEngine()
  expect(await stateOf(task)).toMatchObject({ outcome: 'canceled' })
}, 120_000)

test('what is over stays over, and every command says so', async () => {
  await user.play(DISCUSSION, { ...CONFIG, revisions: { coordinator: '1' } })
  const proposed = await user.slipway('task', TASK, '--json')
  expect(proposed.code).toBe(3)
  const { task, machine, outcome } = JSON.parse(proposed.stdout)
  expect({ machine, outcome }).toEqual({
    machine: 'coordinator@1',
    outcome: 'await_operator_confirm',
  })
  const say = async (...args: string[]) => {
    const { code, stdout, stderr } = await user.slipway(...args)
    return `${code} ${stdout}${stderr}`
  }
  expect(await say('status', task)).toContain('waiting  proposal, round 1, await_operator_confirm')
  expect(await say('resume', task)).toMatch(/^2 .*slipway confirm/)
  expect(await say('evidence', task)).toMatch(/^2 .*slipway task report/)
  expect(await say('stop', task)).toMatch(/^0 .*the task is given up/)
  expect(await say('stop', task)).toMatch(/^0 .*is over \(canceled\): there is nothing to stop/)
  expect(await say('pause', task)).toMatch(/^0 .*is over \(canceled\): there is nothing to pause/)
  expect(await say('resume', task)).toMatch(/^2 .*is over: canceled.*slipway task --follow-up/)
  expect(await say('status', task)).toContain('stopped  proposal, round 1, canceled')
  expect(await say('stop', '--help')).toContain('a task is given up')
}, 60_000)

/** How many processes work below a folder. */
function countIn(folder: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return readlinkSync(`/proc/${name}/cwd`).startsWith(`${folder}/workspaces`)
    } catch {
      return false
    }
  }).length
}

test(`${KILLS} kills of the engine: every task ends as it would have`, async () => {
  const seed = Date.now()
  const random = new Random(seed)
  console.log(`seed ${seed}`)
  await user.play([...DISCUSSION, ...PLAIN], CONFIG)
  const trees = new Set<string>()
  let kills = 0
  for (let i = 0; kills < KILLS; i += 1) {
    const args = ['task', `${TASK}, for the ${i}th time`, '--yes', '--detach', '--json']
    const { task } = JSON.parse((await user.slipway(...args)).stdout)
    for (;;) {
      const { outcome, status } = await stateOf(task)
      if (status === 'done') break
      if (status === 'failed') throw new Error(`seed ${seed}: ${outcome}`)
      await new Promise((resolve) => setTimeout(resolve, random.below(400)))
      if (kills < KILLS && user.killEngine()) {
        kills += 1
        await user.slipway('resume', task)
      }
    }
    const { branch, rounds, transitions } = await stateOf(task)
    expect(rounds).toHaveLength(2)
    expect(transitions).toHaveLength(11)
    trees.add(plainGit(`${user.state}/git/work.git`, 'rev-parse', `${branch}^{tree}`))
    expect((await user.slipway('replay', task)).stdout).toContain('Sound')
  }
  expect(trees.size).toBe(1)
}, 600_000)

test.each([
  [['task'], /Say what is to be done/],
  [['task', 'x', '--mode', 'dreaming'], /Allowed choices/],
  [['task', 'x', '--follow-up', 'nothing'], /no journal|no run/i],
  [['task', 'x', '--target', 'nowhere'], /no branch nowhere/],
  [['task', 'x', '--follow-up', 'y', '--target', 'main'], /cannot be used with option '--target/],
  [['confirm'], /no task/i],
  [['task', 'report'], /no task/i],
])(
  '%j is refused with what to do',
  async (args, message) => {
    await user.play(PLAIN, CONFIG)
    const { code, stderr } = await user.slipway(...args)
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(message)
  },
  60_000,
)
