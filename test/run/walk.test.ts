import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { plainGit } from '../git/world.ts'
import type { Answer } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { makeUser, type User } from './slipway.ts'

const KEY = 'sk-ant-api03-not-a-real-key-0123456789abcdef'

const SPEC = `# Greeter

The command greets people.

## Acceptance criteria

1. \`greet Ada\` prints \`Hello, Ada.\`
`

let user: User
let server: ProviderServer

beforeEach(async () => {
  server = await startProviderServer()
  user = await makeUser()
  plainGit(user.repository, 'rm', '-q', 'slipway.config.yaml')
  plainGit(user.repository, 'commit', '-q', '-m', 'without a configuration')
  delete user.env.SLIPWAY_SCENARIO
})

afterEach(async () => {
  await user.close()
  await server.close()
})

const calls = (name: string, input: unknown): Answer => ({
  reply: { parts: [{ type: 'call', name, input }] },
})

const GREET = 'console.log("Hello, " + process.argv[2] + ".")\n'
const TEST = `import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

test('it greets', () => {
  assert.equal(String(execFileSync('node', ['greet.js', 'Ada'])), 'Hello, Ada.\\n')
})
`

/** A model that can do just this, by the tools that it is offered. */
function think(body: Readonly<Record<string, unknown>>): Answer {
  const tools = ((body.tools ?? []) as { name: string }[]).map(({ name }) => name)
  const said = JSON.stringify(body.messages)
  if (tools.includes('submit_stories')) {
    const story = {
      id: 'greet',
      title: 'Greet people',
      description: 'Write greet.js.',
      criteria: ['1'],
    }
    return calls('submit_stories', { stories: [story] })
  }
  if (tools.includes('submit_plan')) {
    return calls('submit_plan', { plan: 'greet.js and its test.', confidence: 'high' })
  }
  if (tools.includes('review_complete')) return calls('review_complete', { verdict: 'approved' })
  if (!said.includes('greet.js: ')) return calls('write_file', { path: 'greet.js', text: GREET })
  if (!said.includes('greet.test.js: ')) {
    return calls('write_file', { path: 'test/greet.test.js', text: TEST })
  }
  return calls('done', { summary: 'It greets.' })
}

test('a new user gets from nothing but a key to merged code', async () => {
  user.env.ANTHROPIC_API_KEY = KEY
  user.env.ANTHROPIC_BASE_URL = server.url
  server.answer(({ body }) => think(body))
  expect(await user.slipway('init')).toMatchObject({ code: 0 })
  expect(existsSync(join(user.repository, 'slipway.config.yaml'))).toBe(true)
  const doctor = await user.slipway('doctor', '--json')
  expect(doctor.stdout + doctor.stderr).not.toContain(KEY)
  expect(doctor.code).toBe(0)
  writeFileSync(join(user.repository, 'spec.md'), SPEC)
  const run = await user.slipway('run', 'spec.md', '--foreground')
  expect(run.stderr).toContain('CLOSED')
  expect(run.stderr).toContain('Nobody knows the price of the model of pm, architect, coder')
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('shown') })
  const evidence = await user.slipway('evidence')
  expect(evidence).toMatchObject({ code: 0, stdout: expect.stringContaining('passed') })
  plainGit(user.repository, 'fetch', '-q', '.slipway/git/mirror.git', 'main:slipway-main')
  plainGit(user.repository, 'checkout', '-q', 'slipway-main')
  const greeting = execFileSync('node', ['greet.js', 'you'], { cwd: user.repository })
  expect(String(greeting)).toBe('Hello, you.\n')
  // The key went to the provider and nowhere else.
  expect(server.requests.length).toBeGreaterThan(5)
  expect(server.requests.every(({ headers }) => headers['x-api-key'] === KEY)).toBe(true)
  expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain(KEY)
  const found = execFileSync('sh', ['-c', 'grep -rla "$0" . || true', KEY], { cwd: user.state })
  expect(String(found)).toBe('')
}, 180_000)

test('with dollars limited, a model of unknown price is refused before anything is begun', async () => {
  user.env.ANTHROPIC_API_KEY = KEY
  user.env.ANTHROPIC_BASE_URL = server.url
  server.answer(({ body }) => think(body))
  user.write('../home/.config/slipway/config.yaml', 'budget: { run: { dollars: 5 } }\n')
  user.write('../spec.md', SPEC)
  for (const how of ['--foreground', '--detach']) {
    const { code, stderr } = await user.slipway('run', '../spec.md', how)
    expect([code, stderr]).toEqual([2, expect.stringContaining('budget.allowUnpriced')])
  }
  expect(server.requests.filter(({ path }) => path.includes('messages'))).toEqual([])
}, 60_000)

test('what the guide for beginners says is in it', () => {
  const guide = readFileSync('docs/getting-started.md', 'utf8')
  for (const line of SPEC.trim().split('\n').slice(0, 7)) expect(guide).toContain(line)
  for (const command of [
    'slipway init',
    'slipway doctor',
    'slipway run spec.md',
    'slipway evidence',
  ]) {
    expect(guide).toContain(command)
  }
})
