import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reply } from '../team/replies.ts'
import { begin, makeUser, type User } from './slipway.ts'

let user: User
let pid: number

beforeEach(async () => {
  user = await makeUser()
  await user.play([reply({ role: 'architect' }, { hang: true })], {})
  expect(await user.slipway('run', '../spec.md', '--detach')).toMatchObject({ code: 0 })
  pid = JSON.parse(readFileSync(join(user.state, 'engine.json'), 'utf8')).pid
  process.kill(pid, 'SIGSTOP')
})

afterEach(() => user.close())

test('beside an engine that does not answer, what is stored is shown, and that it is', async () => {
  const words = `The engine (process ${pid}) does not answer; this is what it has stored.\n`
  const watching = begin(user, 'watch')
  const looks = ['status --json', 'logs', 'answer', 'budget', 'evidence']
  const seen = await Promise.all(looks.map((look) => user.slipway(...look.split(' '))))
  expect(seen.map(({ stderr }) => stderr.split(words).length)).toEqual(looks.map(() => 2))
  const [status, logs, answer, budget, evidence] = seen.map(({ code }) => code)
  expect({ status, logs, answer, budget, evidence }).toEqual({
    ...{ status: 0, logs: 0, answer: 0, budget: 0 },
    // Nothing is shown yet by anything.
    evidence: 1,
  })
  expect(JSON.parse(seen[0]?.stdout ?? '')).toMatchObject({ hasEngine: true, engine: null })
  expect(seen[0]?.stderr).not.toContain('Nobody works on it')
  // Who watches sees what is stored, and sees it go on.
  await vi.waitFor(() => expect(watching.said()).toContain(words), 40_000)
  process.kill(pid, 'SIGCONT')
  expect(await user.slipway('stop')).toMatchObject({ code: 0 })
  expect(await watching.ended).toBe(130)
  expect(watching.said()).toContain('The run is stopped.')
}, 120_000)

test('whatever an engine is needed for names the process that does not answer', async () => {
  const ways = ['pause', 'stop', 'resume', 'answer yes', 'budget --dollars 5', 'cut it'].concat(
    'run ../spec.md',
  )
  const refused = await Promise.all(ways.map((way) => user.slipway(...way.split(' '))))
  for (const [i, { code, stdout, stderr }] of refused.entries()) {
    expect([ways[i], code, stdout]).toEqual([ways[i], 1, ''])
    expect(stderr).toMatch(
      new RegExp(`^slipway: The engine \\(process ${pid}\\) .* kill -CONT ${pid} .*\\n$`, 'm'),
    )
  }
  user.killEngine()
  expect(await user.slipway('stop')).toMatchObject({ code: 0 })
}, 120_000)
