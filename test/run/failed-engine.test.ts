import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reply } from '../team/replies.ts'
import { begin, makeUser, type User } from './slipway.ts'

let user: User

beforeEach(async () => {
  user = await makeUser()
  await user.play([reply({ role: 'architect' }, { hang: true })], {})
})

afterEach(() => user.close())

const pidOf = () => JSON.parse(readFileSync(join(user.state, 'engine.json'), 'utf8')).pid

/** From now on a process can write to no file beyond its beginning, as where a disk fails. */
const failWritesOf = (pid: number) => user.type(`prlimit --pid ${pid} --fsize=1000`)

/** Has something stored. */
const tell = () => user.slipway('budget', '--dollars', '5')

test('an engine whose journal fails ends and says why, and the next command goes on', async () => {
  expect(await user.slipway('run', '../spec.md', '--detach')).toMatchObject({ code: 0 })
  const pid = pidOf()
  await failWritesOf(pid)
  expect(await tell()).toMatchObject({ code: 1, stderr: /cannot be read or written/ })
  await expect
    .poll(() => user.type(`kill -0 ${pid}`), { timeout: 30_000 })
    .toMatchObject({ code: 1 })
  expect(readFileSync(join(user.state, 'logs/engine.log'), 'utf8')).toContain(
    'cannot be read or written',
  )
  const { stderr } = await user.slipway('status')
  expect(stderr).toContain('Nobody works on it')
  expect(await user.slipway('resume')).toMatchObject({ code: 0 })
  expect(await tell()).toMatchObject({ code: 0 })
}, 120_000)

test('a run in the foreground that cannot take its address back ends, says so, and is kept', async () => {
  const { child, ended, said } = begin(user, 'run', '../spec.md', '--foreground')
  await expect.poll(said, { timeout: 30_000 }).toContain('REQUEST')
  await user.type('rm .slipway/engine.json && mkdir .slipway/engine.json')
  for (let i = 0; i < 2; i += 1) {
    interrupt(child)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  expect(await ended).toBe(1)
  expect(said()).toContain('engine.json cannot be removed')
  expect(said()).not.toMatch(/^\s+at /m)
  // Nobody can be found under such an address.
  const again = begin(user, 'resume', '--foreground')
  expect(await again.ended).toBe(1)
  expect(again.said()).toContain('engine.json cannot be written (EISDIR). Remove it')
  expect(again.said()).not.toMatch(/^\s+at /m)
  await user.type('rmdir .slipway/engine.json')
  expect(await user.slipway('resume')).toMatchObject({ code: 0 })
  expect(await tell()).toMatchObject({ code: 0 })
}, 120_000)

const interrupt = (child: ChildProcess) => child.kill('SIGINT')

test.each([
  ['something is stored', () => tell()],
  ['it is to end what is under way', interrupt],
  [
    'it is to end and cannot take its address back',
    async (child: ChildProcess) => {
      await user.type('rm .slipway/engine.json && mkdir .slipway/engine.json')
      interrupt(child)
    },
  ],
])(
  'a run in the foreground whose journal fails when %s ends and says why',
  async (_, act) => {
    const { child, ended, said } = begin(user, 'run', '../spec.md', '--foreground')
    await expect.poll(said, { timeout: 30_000 }).toContain('REQUEST')
    await failWritesOf(child.pid as number)
    await act(child)
    expect(await ended).toBe(1)
    expect(said()).toContain('cannot be read or written')
    expect(said()).not.toMatch(/^\s+at /m)
  },
  120_000,
)
