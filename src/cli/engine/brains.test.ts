import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { AGENTS } from '../../effects/brains/agents/agent-catalog.ts'
import type { ApiModelChoice } from '../../effects/brains/api-model.ts'
import type { Brain, BrainEvent, Turn } from '../../effects/brains/brain.ts'
import type { BrainPlan } from '../config/brains.ts'
import { type BrainGround, openBrains, secretsOfBrains } from './brains.ts'

const folder = mkdtempSync(join(tmpdir(), 'slipway-brains-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Where nothing is installed. */
const GROUND: BrainGround = {
  isolation: {
    level: 'none',
    description: '',
    open: () => Promise.reject(new Error('nothing is started here')),
  },
  stateFolder: folder,
  environment: { PATH: '' },
  secrets: [],
}

const SIZES = { contextTokens: 1_000, outputTokensMax: 100, prices: undefined }
const CLAUDE: BrainPlan = {
  kind: 'agent',
  agent: AGENTS.claude,
  model: undefined,
  addresses: [],
  ...SIZES,
}
const GEMINI: BrainPlan = { ...CLAUDE, agent: AGENTS.gemini }

const TURN: Turn = {
  role: 'coder',
  state: 'CODING',
  story: 'S1',
  number: 1,
  system: '',
  messages: [],
  tools: [],
  outputTokensMax: 100,
  workspace: { folder, access: 'write' },
}

async function failureOf(brain: Brain | undefined, turn: Turn): Promise<string> {
  const events: BrainEvent[] = []
  for await (const event of brain?.think(turn, new AbortController().signal) ?? []) {
    events.push(event)
  }
  const last = events.at(-1)
  return last?.type === 'failed' ? last.failure.message : ''
}

test('without its adapter, an agent is wanted as it is', async () => {
  const { brains } = await openBrains({ coder: CLAUDE, architect: GEMINI }, GROUND)
  expect(await failureOf(brains.coder?.brain, TURN)).toBe('claude is not installed')
  expect(await failureOf(brains.architect?.brain, TURN)).toBe('gemini is not installed')
})

test('an agent that has nothing to look at says so', async () => {
  const { brains } = await openBrains({ coder: CLAUDE }, GROUND)
  const { workspace: _, ...turn } = TURN
  const message = 'claude needs a workspace, and SCOPING has none'
  expect(await failureOf(brains.coder?.brain, { ...turn, state: 'SCOPING' })).toBe(message)
})

test('a turn of an agent costs what the user says, and else nobody knows', async () => {
  const priced = { ...CLAUDE, prices: { input: 3, output: 15 } }
  const { brains } = await openBrains({ coder: priced, architect: CLAUDE }, GROUND)
  const tokens = { cachedTokens: 0, cacheWriteTokens: 0 }
  const usage = { inputTokens: 1_000, outputTokens: 100, ...tokens }
  expect(await brains.coder?.priceOf(usage)).toBe(4_500)
  expect(await brains.architect?.priceOf(usage)).toBeNull()
})

test('a turn of a model behind another address costs what nobody knows', async () => {
  const at = (baseUrl: string): BrainPlan => ({
    kind: 'api',
    choice: { provider: 'openai', model: 'gpt-4o', baseUrl, apiKey: 'k' },
    ...SIZES,
  })
  const plans = { pm: at('https://api.openai.com/v1'), coder: at('https://openrouter.ai/api/v1') }
  const { brains } = await openBrains(plans, GROUND)
  const tokens = { cachedTokens: 0, cacheWriteTokens: 0 }
  const usage = { inputTokens: 1_000, outputTokens: 100, ...tokens }
  expect(await brains.pm?.priceOf(usage)).toBe(3_500)
  expect(await brains.coder?.priceOf(usage)).toBeNull()
})

test('the keys of models and of agents are secrets', () => {
  const plans: Readonly<Record<string, BrainPlan>> = {
    pm: {
      kind: 'api',
      choice: { provider: 'openai', model: 'm', apiKey: 'key-of-pm' },
      ...SIZES,
    },
    architect: CLAUDE,
    coder: CLAUDE,
  }
  const environment = { ANTHROPIC_API_KEY: 'key-of-claude', GEMINI_API_KEY: 'key-of-nobody' }
  expect(secretsOfBrains(plans, environment)).toEqual(['key-of-pm', 'key-of-claude'])
})

test('words that a server of the user is given for a key are no secrets', () => {
  const secretsWith = (apiKey: string) => {
    const place = { baseUrl: 'http://127.0.0.1:4000/v1', model: 'm', apiKey }
    const choices: readonly ApiModelChoice[] = [
      { provider: 'ollama', contextTokens: 1_000, ...place },
      { provider: 'openai-compatible', ...place },
      { provider: 'anthropic', ...place },
      { provider: 'openai', model: 'm', apiKey },
    ]
    return choices.map((choice) => secretsOfBrains({ pm: { kind: 'api', choice, ...SIZES } }, {}))
  }
  for (const word of ['ollama', 'lm-studio', 'secret', 'not-needed', 'EMPTY', 'sk-1234']) {
    expect(secretsWith(word)).toEqual([[], [], [], [word]])
  }
  for (const key of ['sk-8f3kQ9zX', 'sk-12345', 'QwzLmpXrtvNaaBcdKeyfu']) {
    expect(secretsWith(key)).toEqual([[key], [key], [key], [key]])
  }
})

/** What is asked at one address by a key, which is in that variable. */
const asking = (baseUrl: string, apiKey: string, keyVariable?: string): BrainPlan => ({
  kind: 'api',
  choice: { provider: 'anthropic', baseUrl, model: 'm', apiKey },
  ...(keyVariable && { keyVariable }),
  ...SIZES,
})

test('every key of a provider is asked for by itself', async () => {
  const server = createServer(({ headers }, response) => {
    response.writeHead(headers['x-api-key'] === 'good' ? 200 : 401).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const plans = {
    pm: asking(url, 'good'),
    coder: asking(url, 'revoked', 'CODER_KEY'),
    reviewer: asking(url, 'good', 'REVIEWER_KEY'),
    tester: asking(url, 'good'),
  }
  const { brains, services } = await openBrains(plans, GROUND)
  const { signal } = new AbortController()
  const found = Object.entries(services).map(async ([name, { probe }]) => [
    name,
    await probe(signal),
  ])
  expect(await Promise.all(found)).toEqual([
    // As it was called before there were several.
    [`anthropic ${url}`, true],
    [`anthropic ${url} (CODER_KEY)`, false],
    [`anthropic ${url} (REVIEWER_KEY)`, true],
  ])
  expect(brains.tester?.service).toBe(brains.pm?.service)
  server.close()
})

test('agents share a service where they are the same command', async () => {
  const own = (script: string): BrainPlan => {
    const agent = { ...AGENTS.claude, name: 'npx', acp: { argv: ['npx', script] as const } }
    return { ...CLAUDE, agent }
  }
  const plans = { architect: CLAUDE, coder: own('a'), reviewer: own('b'), tester: own('b') }
  const { brains, services } = await openBrains(plans, GROUND)
  const names = Object.values(brains).map(({ service }) => service)
  expect(names).toEqual(['claude', 'npx', 'npx of reviewer', 'npx of reviewer'])
  expect(new Set(Object.keys(services))).toEqual(new Set(names))
})

async function eventsOf(brain: Brain | undefined): Promise<BrainEvent[]> {
  const events: BrainEvent[] = []
  for await (const event of brain?.think(TURN, new AbortController().signal) ?? []) {
    events.push(event)
  }
  return events
}

test('what was recorded is played again, and nothing else', async () => {
  const scenario = join(folder, 'scenario.yaml')
  writeFileSync(scenario, 'replies: [{ do: [{ text: Hello. }] }]')
  const cassette = join(folder, 'cassette.jsonl')
  const environment = { ...GROUND.environment, SLIPWAY_RECORD: cassette }
  const scripted: BrainPlan = { kind: 'scripted', file: scenario, ...SIZES }
  const recording = await openBrains({ coder: scripted }, { ...GROUND, environment })
  const said = await eventsOf(recording.brains.coder?.brain)
  expect(said[0]).toMatchObject({ type: 'text', text: 'Hello.' })
  expect(readFileSync(cassette, 'utf8').trim().split('\n')).toHaveLength(1)
  const { brains } = await openBrains({ coder: { ...scripted, file: cassette } }, GROUND)
  expect(await eventsOf(brains.coder?.brain)).toEqual(said)
  const other = { ...TURN, number: 2 }
  expect(await failureOf(brains.coder?.brain, other)).toMatch(/turn 2/)
  writeFileSync(cassette, 'no take\n')
  await expect(openBrains({ coder: { ...scripted, file: cassette } }, GROUND)).rejects.toThrow(
    /cassette\.jsonl:1/,
  )
})
