import { existsSync, readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { Place } from './place.ts'

let place: Place
let server: ProviderServer
beforeEach(async () => {
  place = new Place()
  server = await startProviderServer()
})
afterEach(async () => {
  place.remove()
  await server.close()
})

interface Report {
  readonly ok: boolean
  readonly checks: { name: string; status: string; found: string; fix?: string }[]
}

async function examine(...args: string[]) {
  const { exitCode, stdout } = await place.slipway('doctor', '--json', ...args)
  const report: Report = JSON.parse(stdout)
  const of = (name: string) => report.checks.find((check) => check.name === name)
  return { exitCode, report, of }
}

test('with a key and a provider that answers, a run would work', async () => {
  place.env.ANTHROPIC_API_KEY = 'canary-key-1234567890'
  place.env.ANTHROPIC_BASE_URL = server.url
  const { exitCode, report, of } = await examine()
  expect({ exitCode, ok: report.ok }).toEqual({ exitCode: 0, ok: true })
  expect(of('brain of pm, architect, coder, reviewer, tester')).toEqual({
    name: 'brain of pm, architect, coder, reviewer, tester',
    status: 'warn',
    found: `anthropic, test-model at ${server.url}/v1. Its price is unknown: no limit in dollars holds for it`,
    fix: 'Give its prices in its entry under models to have dollars counted.',
  })
  expect(of('node')).toMatchObject({ status: 'ok', found: process.version })
  expect(of('git')).toMatchObject({ status: 'ok' })
  expect(of('repository')).toMatchObject({ found: `${place.repository}, target main` })
  expect(of('tests')).toMatchObject({
    status: 'warn',
    fix: expect.stringContaining('tests.commands'),
  })
  expect(JSON.stringify(report)).not.toContain('canary-key')
  // Nobody was asked to think, and nothing was left in the repository.
  expect(server.requests).toEqual([])
  expect(existsSync(join(place.repository, '.slipway'))).toBe(false)
})

test('the document has a row for every check', async () => {
  place.env.ANTHROPIC_API_KEY = 'canary-key-1234567890'
  place.env.ANTHROPIC_BASE_URL = server.url
  const { report } = await examine()
  const [, table = ''] =
    /What the doctor looks at\n([\s\S]*)/.exec(readFileSync('docs/configuration.md', 'utf8')) ?? []
  for (const { name } of report.checks) {
    expect(table).toContain(`\`${name.replace(/^brain of .*/, 'brain of …')}\``)
  }
})

test('without any model it says the ways out, and fails', async () => {
  const { exitCode, of } = await examine()
  expect(exitCode).toBe(1)
  expect(of('models')).toMatchObject({
    status: 'missing',
    found: 'No model is configured.',
    fix: expect.stringMatching(/ANTHROPIC_API_KEY[\s\S]*Ollama[\s\S]*models\.default/),
  })
  const { exitCode: again, stdout, stderr } = await place.slipway('doctor')
  expect(again).toBe(1)
  expect(stdout).toMatch(/^missing +models +No model is configured\.$/m)
  expect(stdout).not.toContain('\x1b')
  expect(stderr).toBe('A run would not work.\n')
})

test('a model without a known price is in the way once dollars are limited', async () => {
  place.env.OPENAI_API_KEY = 'k'
  place.env.OPENAI_BASE_URL = `${server.url}/v1`
  place.write('~/.config/slipway/config.yaml', 'budget: { run: { dollars: 5 } }\n')
  const { exitCode, of } = await examine()
  expect(exitCode).toBe(1)
  expect(of('brain of pm, architect, coder, reviewer, tester')?.fix).toContain(
    'budget.allowUnpriced',
  )
})

test.each([
  ['401', 'refuses the key (401)', 'Set OPENAI_API_KEY to a key that it takes.'],
  ['503', 'answers with HTTP 503', 'Wait, or look there.'],
  ['nobody', 'does not answer', 'Look at the address and the network.'],
])('of a named model that says %s, doctor says: %s', async (status, found, fix) => {
  const refusing = createHttpServer((_, response) => response.writeHead(Number(status)).end())
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
  const { port } = refusing.address() as AddressInfo
  if (status === 'nobody') refusing.close()
  const url = `http://127.0.0.1:${port}/v1`
  Object.assign(place.env, { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: url, SLIPWAY_MODEL: 'x' })
  const { of } = await examine().finally(() => refusing.close())
  expect(of('brain of pm, architect, coder, reviewer, tester')).toMatchObject({
    found: `openai, x at ${url} ${found}`,
    fix,
  })
})

test("tracked files that are changed are named, and in nobody's way", async () => {
  place.env.OPENAI_API_KEY = 'k'
  place.env.OPENAI_BASE_URL = `${server.url}/v1`
  place.write('a.txt', 'a')
  place.git('add', 'a.txt')
  const { report, of } = await examine()
  expect(report.ok).toBe(true)
  expect(of('work tree')).toMatchObject({
    status: 'warn',
    found: '1 tracked file is changed and not committed: a run does not see that',
  })
})

test('a state folder that came with the repository is in the way', async () => {
  place.write('.slipway/mcp-trust.json', '{}')
  place.git('add', '--force', '.slipway')
  place.commit('hostile')
  const { exitCode, of } = await examine()
  expect(exitCode).toBe(1)
  expect(of('tracked state')).toMatchObject({
    status: 'missing',
    found: '.slipway came with the repository',
  })
})

test('each further obstacle is named with what to do', async () => {
  place.write(
    '~/.config/slipway/config.yaml',
    [
      'target: nowhere',
      'forge: { kind: github }',
      'models:',
      '  default: { provider: openai, model: x, apiKeyEnv: MY_KEY }',
      '  coder: { agent: { command: [no-such-agent] } }',
      'isolation: { level: container }',
      '',
    ].join('\n'),
  )
  place.env.MY_KEY = 'k'
  place.env.OPENAI_BASE_URL = 'http://127.0.0.1:1/v1'
  const { exitCode, of } = await examine()
  expect(exitCode).toBe(1)
  expect(of('repository')).toMatchObject({ found: 'nowhere has no commit' })
  expect(of('github')).toMatchObject({ status: 'missing', fix: expect.stringContaining('local') })
  expect(of('isolation')?.found).toContain('no image is configured')
  expect(of('brain of pm, architect, reviewer, tester')?.found).toContain('does not answer')
  expect(of('brain of coder')).toMatchObject({ found: 'the agent no-such-agent is not installed' })
})

test('a file with a mistake is an obstacle, and the rest is still looked at', async () => {
  place.write('slipway.config.yaml', 'teem: 1\n')
  const { exitCode, of } = await examine()
  expect(exitCode).toBe(1)
  expect(of('configuration')).toMatchObject({
    status: 'missing',
    found: expect.stringContaining('slipway.config.yaml:1:1: teem: is not known here'),
  })
  expect(of('git')).toMatchObject({ status: 'ok' })
})

test('outside of a repository, and with an unusable state folder', async () => {
  const outside = Object.assign(Object.create(place), { repository: place.home })
  const { exitCode, stdout } = await outside.slipway('doctor')
  expect(exitCode).toBe(1)
  expect(stdout).toMatch(/^missing +repository +this folder is in none$/m)
  const { of } = await examine('--state', place.write('file', ''))
  expect(of('state folder')).toMatchObject({ status: 'missing', fix: 'Remove what is there.' })
})

test('a provider that never answers does not hold it up', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}).resume())
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
  const { port } = silent.address() as { port: number }
  place.env.OPENAI_API_KEY = 'k'
  place.env.OPENAI_BASE_URL = `http://127.0.0.1:${port}/v1`
  const startedMs = performance.now()
  const { of } = await examine()
  expect(of('models')?.found).toContain('no answer within 10 s')
  expect(performance.now() - startedMs).toBeLessThan(30_000)
  await new Promise((done) => silent.close(done))
})
