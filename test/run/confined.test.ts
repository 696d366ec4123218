import { chmodSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
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

/** A command where bubblewrap is there and gets no namespaces. */
const withoutNamespaces = (command: string) =>
  `echo 0 > /proc/sys/user/max_pid_namespaces; exec ${command}`

const log = () => readFileSync(join(user.state, 'logs/engine.log'), 'utf8')

test('a run that began confined goes on unconfined only where the user says so', async () => {
  expect(await user.slipway('run', '../spec.md', '--detach')).toMatchObject({ code: 0 })
  expect(JSON.parse((await user.slipway('status', '--json')).stdout).isolation).toBe('bubblewrap')
  user.killEngine()
  for (const command of ['$slipway resume', '$slipway resume --foreground']) {
    const { code, stderr } = await user.typeApart(withoutNamespaces(command))
    expect([code, stderr]).toEqual([1, expect.stringMatching(/namespace failed.*isolation\.level/)])
    expect(stderr).not.toMatch(/^\s+at /m)
  }
  await user.play(HANGS, UNCONFINED)
  expect(await user.typeApart(withoutNamespaces('$slipway resume'))).toMatchObject({
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

/** Types a line that begins a demo, leaves that once something moves, and gives what it said. */
async function leaveDemo(line: string): Promise<string> {
  user.env.TMPDIR = dirname(user.repository)
  const { child, ended, said } = user.beginApart(line)
  await vi.waitFor(() => expect(said()).toContain('→'), { timeout: 50_000 })
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(said()).toContain(`repository, ${join(user.env.TMPDIR, 'slipway-demo-')}`)
  return said()
}

test('the demo, whose commands are ours, says it once and goes on', async () => {
  const said = await leaveDemo(withoutNamespaces('$slipway demo'))
  expect(said).toMatch(/Nothing is confined \(bubblewrap: .*namespace failed/)
  expect(said.split('is confined')).toHaveLength(2)
}, 60_000)

test('what bubblewrap says of itself steers no terminal', async () => {
  user.write('../bwrap', "#!/bin/sh\nprintf 'in \\033[31mred'; exit 1\n")
  chmodSync(join(user.repository, '../bwrap'), 0o755)
  const demo = 'mount --bind ../bwrap "$(command -v bwrap)" && exec $slipway demo'
  expect(await leaveDemo(demo)).toContain('in \\u{1b}[31mred')
}, 60_000)
