import { once } from 'node:events'
import { chmodSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reply } from '../team/replies.ts'
import { makeUser, type User } from './slipway.ts'

const CONFIG = { tests: { commands: [['node', '--test']] } }
/** Nobody gets anywhere, and nobody gives up. */
const HANGS = [{ role: 'architect' }, { task: 'coordinator/propose' }].map((when) =>
  reply(when, { hang: true }),
)
const KEYED = { provider: 'anthropic', model: 'm', apiKeyEnv: 'MYKEY' }
const BEGINS_ANEW = 'begins anew'

let user: User

beforeEach(async () => {
  user = await makeUser()
  await user.play(HANGS, CONFIG)
  expect(await user.slipway('run', '../spec.md', '--detach')).toMatchObject({ code: 0 })
})

afterEach(() => user.close())

const engine = (): { pid: number } =>
  JSON.parse(readFileSync(join(user.state, 'engine.json'), 'utf8'))

/** Types a line where there is no bubblewrap. */
function typeWithoutBubblewrap(line: string) {
  // A script whose interpreter is not there is not found itself.
  user.write('../bwrap', '#!/nowhere\n')
  chmodSync(join(user.repository, '../bwrap'), 0o755)
  return user.typeApart(`mount --bind ../bwrap "$(command -v bwrap)" && ${line}`)
}

/** Types a command that is refused, and sees that whoever was at work still is. */
function expectRefused(code: number, why: string, ...args: string[]): Promise<void> {
  return expectInVain(code, why, () => user.slipway(...args))
}

async function expectInVain(
  code: number,
  why: string,
  type: () => ReturnType<User['type']>,
): Promise<void> {
  const before = engine().pid
  const { stderr, ...done } = await type()
  expect([done.code, stderr]).toEqual([code, expect.stringContaining(why)])
  expect(stderr).not.toContain(BEGINS_ANEW)
  expect(engine().pid).toBe(before)
  expect(process.kill(before, 0)).toBe(true)
}

const WAYS = [['run', '../spec.md', '--detach'], ['resume'], ['task', 'Say hello', '--detach']]

test('a key that is not there ends no engine', async () => {
  delete user.env.SLIPWAY_SCENARIO
  user.write('slipway.config.yaml', JSON.stringify({ ...CONFIG, models: { default: KEYED } }))
  await user.slipway('config', 'trust', '--yes')
  for (const args of WAYS) await expectRefused(5, 'MYKEY is not set', ...args)
}, 60_000)

test('nor does a script that cannot be read', async () => {
  user.env.SLIPWAY_SCENARIO = 'nosuch.yaml'
  for (const args of WAYS) await expectRefused(2, 'scenario cannot be read', ...args)
}, 60_000)

test('nor does a model without a price under a limit in dollars', async () => {
  delete user.env.SLIPWAY_SCENARIO
  user.env.MYKEY = 'k'
  const models = { default: { ...KEYED, model: 'nobody-knows-it' } }
  const dear = { ...CONFIG, models, budget: { run: { dollars: 5 } } }
  user.write('slipway.config.yaml', JSON.stringify(dear))
  await user.slipway('config', 'trust', '--yes')
  await expectRefused(2, 'nobody knows the price', 'run', '../spec.md', '--detach')
  await expectRefused(2, 'nobody knows the price', 'task', 'Say hello', '--detach')
}, 60_000)

test('nor does what could not begin by any settings', async () => {
  const { run } = JSON.parse((await user.slipway('status', '--json')).stdout)
  const task = ['task', 'Say hello', '--detach', '--json']
  const { task: id } = JSON.parse((await user.slipway(...task)).stdout)
  await user.play(HANGS, { ...CONFIG, target: 'main' })
  await expectRefused(2, 'no branch nosuch', 'run', '../spec.md', '--target', 'nosuch')
  await expectRefused(2, 'no branch nosuch', 'task', 'Say no', '--target', 'nosuch')
  await expectRefused(2, 'is under way as', 'run', '../spec.md', '--detach')
  await expectRefused(2, 'is at this spec already', 'run', '../spec.md', '--into', run)
  await expectRefused(2, 'is under way as', ...task)
  await expectRefused(2, 'is under way, in', 'task', 'More', '--follow-up', id)
  await expectRefused(2, 'is under way, in', 'confirm', id)
}, 60_000)

test('nor does what is under way, and stored without what looks like a secret', async () => {
  const token = `ghp_${'a1B2'.repeat(9)}`
  const spec = readFileSync(join(user.repository, '../spec.md'), 'utf8')
  user.write('../secret.md', `${spec}\nThe token is ${token}.\n`)
  const again = ['run', '../secret.md', '--detach', '--json']
  const { run } = JSON.parse((await user.slipway(...again)).stdout)
  const task = ['task', `Say ${token}`, '--detach']
  expect(await user.slipway(...task)).toMatchObject({ code: 0 })
  await user.play(HANGS, { ...CONFIG, target: 'main' })
  await expectRefused(2, 'is under way as', ...again)
  await expectRefused(2, 'is at this spec already', ...again, '--into', run)
  await expectRefused(2, 'is under way as', ...task)
}, 60_000)

test('nor does a machine without bubblewrap, where a run began confined', async () => {
  await user.play(HANGS, { ...CONFIG, target: 'main' })
  const why = 'began with its commands confined (bubblewrap)'
  await expectInVain(1, why, () => typeWithoutBubblewrap('$slipway resume'))
}, 60_000)

test('a script that was mended is read again', async () => {
  const before = engine().pid
  expect((await user.slipway('resume')).stderr).not.toContain(BEGINS_ANEW)
  expect(engine().pid).toBe(before)
  user.write('../scenario.yaml', JSON.stringify({ replies: HANGS.slice(0, 1) }))
  expect((await user.slipway('resume')).stderr).toContain(BEGINS_ANEW)
  expect(engine().pid).not.toBe(before)
}, 60_000)

/** Has the engine end as soon as a command looks for the models of its provider. */
async function endWhenAsked(during: () => Promise<void>): Promise<void> {
  const { pid } = engine()
  const listed = { id: 'claude-sonnet-4-5', type: 'model', created_at: '2025-01-01T00:00:00Z' }
  const provider = createServer((_, response) => {
    if (engine().pid === pid) user.killEngine()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ data: [listed], has_more: false }))
  })
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  try {
    delete user.env.SLIPWAY_SCENARIO
    user.env.ANTHROPIC_API_KEY = 'k'
    user.env.ANTHROPIC_BASE_URL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
    await during()
    expect(engine().pid).not.toBe(pid)
  } finally {
    provider.close()
  }
}

test.each(WAYS.slice(1))(
  'one that ends by itself meanwhile is in nobody’s way: %s',
  async (...args) => {
    await endWhenAsked(async () => {
      const { code, stderr } = await user.slipway(...args)
      expect([code, stderr]).toEqual([0, expect.stringContaining(BEGINS_ANEW)])
    })
  },
  60_000,
)

test('nor is it where nothing could confine, and it is asked how its runs began', async () => {
  await user.slipway('stop')
  user.killEngine()
  const run = await typeWithoutBubblewrap('$slipway run ../spec.md --detach')
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('Nothing is confined')])
  await endWhenAsked(async () => {
    const { code, stderr } = await typeWithoutBubblewrap('$slipway resume')
    expect([code, stderr]).toEqual([0, expect.stringContaining(BEGINS_ANEW)])
  })
}, 60_000)
