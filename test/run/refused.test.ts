import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openEngine } from '../../src/cli/engine/engine.ts'
import { prepareStateFolder } from '../../src/cli/state-folder.ts'
import { plainGit } from '../git/world.ts'
import { PLAIN, writes } from '../team/replies.ts'
import { HELLO, makeGreeter, SPEC, TESTS } from './greeter.ts'
import type { User } from './slipway.ts'

let user: User

beforeEach(async () => {
  user = await makeGreeter()
})

afterEach(() => user.close())

/** The newest run, as `slipway status` sees it. */
const view = async () => JSON.parse((await user.slipway('status', '--json')).stdout)

test('a branch whose name nothing could be made on is refused before anybody thinks', async () => {
  await user.play([HELLO].concat(writes('hello'), PLAIN), { tests: TESTS })
  plainGit(user.repository, 'checkout', '-q', '-b', 'основная')
  const refused = await user.slipway('run', '../spec.md')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--target') })
})

test('a spec that nobody has filled in is not built', async () => {
  expect((await user.slipway('init')).code).toBe(0)
  const { code, stderr } = await user.slipway('run', 'spec.md')
  expect([code, stderr]).toEqual([2, expect.stringContaining('as slipway init wrote it')])
  expect(readFileSync(join(user.repository, 'spec.md'), 'utf8')).toContain('Acceptance criteria')
})

/** Nobody gets anywhere for a while. */
const SLOW = [{ ...HELLO, do: [{ wait_ms: 30_000 }, ...HELLO.do] }, writes('hello'), ...PLAIN]

test('a spec that is under way is not begun again, unless that one is stopped', async () => {
  await user.play(SLOW, { tests: TESTS })
  const start = () => user.slipway('run', '../spec.md', '--detach')
  const both = await Promise.all([start(), start()])
  expect(both.map(({ code }) => code).toSorted()).toEqual([0, 2])
  const { run } = await view()
  const refused = await start()
  expect(refused.stderr).toContain(`This spec is under way as ${run}. slipway watch ${run} shows`)
  expect((await user.slipway('stop', run)).code).toBe(0)
  expect((await start()).code).toBe(0)
  expect((await view()).others).toEqual([{ run, status: 'stopped' }])
  const also = `Also: ${run} (stopped). slipway status <run> shows one.\n`
  expect((await user.slipway('status')).stdout).toContain(also)
  expect((await user.slipway('stop')).stderr).toContain(`is the newest. ${also}`)
  // The configuration is tracked, and was written anew.
  const changed = '1 tracked file is changed and not committed: the run works from the last commit'
  expect(refused.stderr).toContain(`${changed} on main.\n`)
}, 60_000)

test('a further spec is brought once, although it is stored without what looks like a secret', async () => {
  await user.play(SLOW, { tests: TESTS })
  prepareStateFolder(user.state)
  const { control, close } = await openEngine(user.repository, user.state, user.env)
  try {
    const run = 'greeter-1'
    const document = `${SPEC}\nThe token is ghp_${'a1B2'.repeat(9)}.\n`
    await control.start({ id: run, document: SPEC, target: 'main', isWish: false })
    const bring = () => control.bring(run, { document, isWish: false })
    const both = await Promise.allSettled([bring(), bring()])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    user.write('../more.md', document)
    const { code, stderr } = await user.slipway('run', '../more.md', '--into', run, '--detach')
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${run} is at this spec already`)])
  } finally {
    await close()
  }
}, 60_000)
