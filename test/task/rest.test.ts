import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { Journal } from '../../src/runtime/journal.ts'
import { begin, makeUser, type User } from '../run/slipway.ts'
import { building } from './replies.ts'

const TASK = 'Add a function that doubles a number'
const CONFIG = { tests: { commands: [['node', '--test']] } }

let user: User

beforeEach(async () => {
  user = await makeUser()
  await user.play([building({}, { hang: true })], CONFIG)
})

afterEach(() => user.close())

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 300; i += 1) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('it did not come about')
}

const start = (...options: string[]) => ['task', TASK, '--mode', 'implementation', ...options]
const report = async (task: string) =>
  JSON.parse((await user.slipway('task', 'report', task, '--json')).stdout)

test('a task that nobody works on is paused and stopped without a model', async () => {
  const { task } = JSON.parse((await user.slipway(...start('--detach', '--json'))).stdout)
  await until(async () => (await user.slipway('logs', task)).stdout.includes('→ build'))
  user.killEngine()
  delete user.env.SLIPWAY_SCENARIO
  user.env.OLLAMA_HOST = 'http://127.0.0.1:9'
  expect(await user.slipway('pause', task)).toMatchObject({ code: 0 })
  expect(await report(task)).toMatchObject({ status: 'paused' })
  const { code, stderr } = await user.slipway('stop', task)
  expect([code, stderr]).toEqual([0, expect.stringContaining('given up')])
  expect(await report(task)).toMatchObject({ outcome: 'canceled', status: 'stopped' })
  // Nobody knows what the call came to that was under way: all that was set aside counts.
  const { spent } = JSON.parse((await user.slipway('budget', task, '--json')).stdout)
  expect(spent).toMatchObject({ iterations: 1, outputTokens: expect.toSatisfy((n) => n > 0) })
  expect((await user.slipway('replay', task)).stdout).toContain('Sound')
}, 60_000)

test('whoever stops a task of another terminal is told that it is stopped', async () => {
  const { ended, said } = begin(user, ...start('--foreground'))
  await until(async () => said().includes('→ build'))
  const { code, stderr } = await user.slipway('stop')
  expect([code, stderr]).toEqual([0, expect.stringContaining('given up')])
  expect(await ended).toBe(130)
}, 60_000)

test('whoever stops a task while an engine lets go of it waits for that', async () => {
  const { task } = JSON.parse((await user.slipway(...start('--detach', '--json'))).stdout)
  await until(async () => (await user.slipway('logs', task)).stdout.includes('→ build'))
  user.killEngine()
  let journal: Journal | undefined
  // Who was killed is gone a moment later.
  await until(async () => {
    journal = await openSqliteJournal(user.state).catch(() => undefined)
    return journal !== undefined
  })
  const stopped = user.slipway('stop', task)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await journal?.close()
  expect(await stopped).toMatchObject({ code: 0, stderr: expect.stringContaining('given up') })
}, 60_000)

test('of two that begin the same task at once, one does', async () => {
  const spaced = ['task', TASK.replaceAll(' ', '  '), '--mode', 'implementation', '--detach']
  const both = await Promise.all([user.slipway(...start('--detach')), user.slipway(...spaced)])
  expect(both.map(({ code }) => code).toSorted()).toEqual([0, 2])
  expect(both.map(({ stderr }) => stderr).join()).toContain('This task is under way')
}, 60_000)
