import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { plainGit } from '../git/world.ts'
import { call, reply, story, submit } from '../team/replies.ts'
import { begin, makeUser, type User } from './slipway.ts'

let user: User

beforeEach(async () => {
  user = await makeUser()
})

afterEach(() => user.close())

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 600; i += 1) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('it did not come about')
}

async function statusOf({ slipway }: User): Promise<string> {
  return JSON.parse((await slipway('status', '--json')).stdout).status
}

test('a run that is left alone asks what only a human can answer, and is done after it', async () => {
  const files = () => plainGit(user.repository, 'status', '--porcelain')
  const head = plainGit(user.repository, 'rev-parse', 'HEAD')
  const started = await user.slipway('run', '../spec.md', '--detach', '--json')
  expect(started.code).toBe(0)
  const { run } = JSON.parse(started.stdout)
  await until(async () => (await user.slipway('answer')).code === 3)
  const [question] = JSON.parse((await user.slipway('answer', '--json')).stdout)
  expect(question).toMatchObject({
    about: 'average',
    choices: expect.arrayContaining(['no rounding']),
  })
  expect((await user.slipway('answer', question.id, 'one decimal place')).code).toBe(0)
  await until(async () => {
    const { stdout } = await user.slipway('status', run, '--json')
    return JSON.parse(stdout).status === 'done'
  })
  const evidence = await user.slipway('evidence', run, '--json')
  expect(evidence.code).toBe(0)
  expect(JSON.parse(evidence.stdout)).toMatchObject({ isComplete: true })
  const page = await user.slipway('evidence', run, '--html')
  expect(page.stdout).toContain('<td class="shown">')
  expect((await user.slipway('logs', run)).stdout).toContain('ESCALATED')
  expect((await user.slipway('answer', question.id, 'late')).code).toBe(2)
  expect((await user.slipway('replay', run)).stdout).toContain('Sound')
  // The user's checkout is as it was, and the work is where they can fetch it.
  expect(files()).toBe('')
  expect(plainGit(user.repository, 'rev-parse', 'HEAD')).toBe(head)
  plainGit(user.repository, 'fetch', '-q', '.slipway/git/mirror.git', 'main:done')
  expect(plainGit(user.repository, 'log', '--format=%s', 'done').split('\n')).toHaveLength(8)
  expect(statSync(join(user.state, 'journal.db')).mode & 0o077).toBe(0)
}, 180_000)

test('the status of a run whose process was killed says how it goes on', async () => {
  await user.slipway('run', '../spec.md', '--detach')
  expect((await user.slipway('status')).stderr).toBe('')
  expect(user.killEngine()).toBe(true)
  await until(async () => (await user.slipway('status')).stderr.includes('slipway resume'))
  expect(await statusOf(user)).toBe('running')
  expect((await user.slipway('resume')).code).toBe(0)
  expect((await user.slipway('status')).stderr).toBe('')
}, 60_000)

test('in the foreground the first Ctrl-C keeps everything, and the run goes on elsewhere', async () => {
  const { child, ended, said } = begin(user, 'run', '../spec.md', '--foreground')
  await until(async () => said().includes('story/words'))
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(said()).toContain('slipway resume')
  expect(existsSync(join(user.state, 'engine.json'))).toBe(false)
  expect((await user.slipway('resume')).code).toBe(0)
  await until(async () => (await user.slipway('answer')).code === 3)
  expect((await user.slipway('pause')).code).toBe(0)
  expect(await statusOf(user)).toBe('paused')
  expect((await user.slipway('stop')).code).toBe(0)
  expect(await statusOf(user)).toBe('stopped')
  const stderr = expect.stringMatching(/is stopped: there is nothing to pause/)
  expect(await user.slipway('pause')).toMatchObject({ code: 0, stderr })
  const { stdout } = await user.slipway('pause', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ command: 'pause', idle: 'stopped' })
  expect(await statusOf(user)).toBe('stopped')
}, 180_000)

test('the first Ctrl-C lets a turn end that is under way, and it is not paid for again', async () => {
  const plan = { plan: 'Write it.', confidence: 'high' }
  const replies = [
    submit(story('hello', { criteria: ['1', '2', '3', '4', '5', '6', '7'] })),
    reply({ role: 'coder', state: 'PLANNING' }, { wait_ms: 2_000 }, call('submit_plan', plan)),
  ]
  await user.play(replies, {})
  const { child, ended, said } = begin(user, 'run', '../spec.md', '--foreground')
  await until(async () => said().includes('SETUP → PLANNING'))
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  // Nobody would say it again.
  await user.play([reply({ role: 'architect' }, call('review_complete'))], {})
  expect((await user.slipway('resume')).code).toBe(0)
  await until(async () => (await user.slipway('logs')).stdout.includes('PLANNING → PLAN_REVIEW'))
}, 60_000)

test('the second Ctrl-C stops at once, and the run goes on elsewhere', async () => {
  const plan = call('submit_plan', { plan: 'Write it.', confidence: 'high' })
  const stories = submit(story('hello', { criteria: ['1', '2', '3', '4', '5', '6', '7'] }))
  const planning = { role: 'coder', state: 'PLANNING' }
  await user.play([stories, reply(planning, { wait_ms: 600_000 }, plan)], {})
  const { child, ended, said } = begin(user, 'run', '../spec.md', '--foreground')
  await until(async () => said().includes('SETUP → PLANNING'))
  child.kill('SIGINT')
  await until(async () => said().includes('press Ctrl-C again'))
  await until(async () => (await statusOf(user)) === 'paused')
  expect(child.exitCode).toBe(null)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(said()).toContain('slipway resume')
  expect(existsSync(join(user.state, 'engine.json'))).toBe(false)
  await user.play(
    [reply(planning, plan), reply({ role: 'architect' }, call('review_complete'))],
    {},
  )
  expect((await user.slipway('resume')).code).toBe(0)
  await until(async () => (await user.slipway('logs')).stdout.includes('PLANNING → PLAN_REVIEW'))
  const [, run = ''] = /slipway resume (\S+)/.exec(said()) ?? []
  expect((await user.slipway('replay', run)).stdout).toContain('Sound')
}, 60_000)

const NO_RUN =
  /^slipway: There is no run and no task yet\. slipway run <spec> starts a run, slipway task <text> a task\.\n$/

test.each([
  [['run', 'nothing.md'], /no such file/],
  [['run', 'src'], /it is a folder/],
  [['run', '../spec.md', '--target', 'nowhere'], /no branch nowhere/],
  [['status'], NO_RUN],
  [['status', 'nothing'], NO_RUN],
  [['answer', 'x'], NO_RUN],
  [['retry', 'x'], NO_RUN],
  [['status', '--state', 'nowhere'], /nowhere holds no journal/],
  [['run', '../spec.md', '--detach', '--foreground'], /cannot be used with/],
])('%j is refused with what to do', async (args, message) => {
  const { code, stderr } = await user.slipway(...args)
  expect(code).toBeGreaterThan(0)
  expect(stderr).toMatch(message)
})

test('a state folder that came with the repository is not used', async () => {
  mkdirSync(user.state)
  writeFileSync(join(user.state, 'x'), 'x')
  plainGit(user.repository, 'add', '-f', '.slipway/x')
  const { code, stderr } = await user.slipway('run', '../spec.md', '--foreground')
  expect(code).toBe(2)
  expect(stderr).toContain('came with the repository')
})

test('without a model there are three ways out', async () => {
  delete user.env.SLIPWAY_SCENARIO
  user.env.OLLAMA_HOST = 'http://127.0.0.1:9'
  const { code, stderr } = await user.slipway('run', '../spec.md')
  expect(code).toBe(5)
  expect(stderr).toContain('ANTHROPIC_API_KEY')
  expect((await user.slipway('run', '../spec.md', '--foreground')).code).toBe(5)
  expect(readFileSync(join(user.state, '.gitignore'), 'utf8')).toBe('*\n')
}, 60_000)
