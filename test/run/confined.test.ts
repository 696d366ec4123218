import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reply } from '../team/replies.ts'
import { makeUser, type User } from './slipway.ts'

const CONFIG = { tests: { commands: [['node', '--test']] } }
const UNCONFINED = { ...CONFIG, isolation: { level: 'none' } }
/** Nobody gets anywhere, and nobody gives up. */
const HANGS = [{ role: 'architect' }, { task: 'coordinator/propose' }].map((when) =>
  reply(when, { hang: true }),
)
const NOTHING = 'Nothing is confined (isolation.level is none)'

let user: User

beforeEach(async () => {
  user = await makeUser()
  await user.play(HANGS, CONFIG)
})

afterEach(() => user.close())

/** Types a command where bubblewrap is there and gets no namespaces. */
const withoutNamespaces = (command: string) =>
  user.typeApart(`echo 0 > /proc/sys/user/max_pid_namespaces; ${command}`)

const log = () => readFileSync(join(user.state, 'logs/engine.log'), 'utf8')

test('a run that began confined goes on unconfined only where the user says so', async () => {
  expect(await user.slipway('run', '../spec.md', '--detach')).toMatchObject({ code: 0 })
  expect(JSON.parse((await user.slipway('status', '--json')).stdout).isolation).toBe('bubblewrap')
  user.killEngine()
  for (const command of ['$slipway resume', '$slipway resume --foreground']) {
    const { code, stderr } = await withoutNamespaces(command)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/namespace failed.*isolation\.level/)])
    expect(stderr).not.toMatch(/^\s+at /m)
  }
  await user.play(HANGS, UNCONFINED)
  expect(await withoutNamespaces('$slipway resume')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(NOTHING),
  })
  expect((await user.slipway('status')).stderr).toContain(NOTHING)
  expect(log()).toContain(`slipway: ${NOTHING}`)
}, 120_000)

test('a run and a task say each time that nothing is confined', async () => {
  await user.play(HANGS, UNCONFINED)
  for (const args of [['run', '../spec.md'], ['resume'], ['task', 'Say it'], ['resume']]) {
    const detached = args[0] === 'resume' ? args : [...args, '--detach']
    const { code, stderr } = await user.slipway(...detached)
    expect([code, stderr]).toEqual([0, expect.stringContaining(NOTHING)])
  }
  const { stdout, stderr } = await user.slipway('status', '--json')
  expect(stderr).toContain(NOTHING)
  expect(JSON.parse(stdout).engine).toEqual({
    health: { state: 'well' },
    unconfined: expect.stringContaining(NOTHING),
  })
  user.killEngine()
  const left = await user.slipway('status', '--json')
  expect(left.stderr).toContain('Nothing was confined')
  expect(JSON.parse(left.stdout)).toMatchObject({ hasEngine: false, engine: null })
}, 60_000)

test('the demo, whose commands are ours, says it and goes on', async () => {
  const { stderr } = await withoutNamespaces('timeout -s INT 8 $slipway demo')
  expect(stderr).toMatch(/Nothing is confined \(bubblewrap: .*namespace failed/)
  expect(stderr).toContain('→')
}, 60_000)
