import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentId } from '../../agents/values.ts'
import { resolveBrains, toMind } from './brains.ts'
import { mergeLayers } from './layers.ts'
import type { Environment } from './place.ts'
import type { ConfigFile } from './settings/schema.ts'

const DAY_S = 86_400

/** What a provider lists, on the wires of all of them. */
const LISTS = {
  '/v1/models?limit=1000': {
    data: [
      { id: 'old-3', created_at: '2025-01-01T00:00:00Z' },
      { id: 'new-4', created_at: '2026-01-01T00:00:00Z', max_input_tokens: 1_000_000 },
      { id: '--bad id' },
    ],
  },
  '/v1/models': {
    data: [
      { id: 'text-embedding-9', created: 900 * DAY_S },
      { id: 'acme-5', created: 500 * DAY_S },
    ],
  },
  '/v1beta/models?pageSize=1000': {
    models: [
      { name: 'models/only-embeds-9', supportedGenerationMethods: ['embedContent'] },
      {
        name: 'models/acme-2.5',
        supportedGenerationMethods: ['generateContent'],
        inputTokenLimit: 50_000,
        outputTokenLimit: 8_192,
      },
    ],
  },
  '/api/tags': { models: [{ name: 'mute:8b', modified_at: '2026-01-02' }, { name: 'able:8b' }] },
}

/** A model of which nothing is asked. */
const ANY = { provider: 'anthropic' as const, model: 'x' }

let lists: Record<string, unknown>
let server: Server
let url: string
let asked: { readonly path: string; readonly key: string }[]
let status: number

beforeEach(async () => {
  asked = []
  lists = { ...LISTS }
  status = 200
  server = createServer((request, response) => {
    const { headers, url: path = '' } = request
    const key = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization ?? ''
    asked.push({ path, key: String(key) })
    let text = ''
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      const tools = { capabilities: ['tools'], model_info: { 'a.context_length': 131_072 } }
      const body = path === '/api/show' ? (text.includes('able') ? tools : MUTE) : lists[path]
      response.writeHead(body === undefined ? 404 : status)
      response.end(JSON.stringify(body ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const MUTE = { capabilities: ['completion'] }

const resolve = (user: ConfigFile, environment: Environment) =>
  resolveBrains(mergeLayers({ user, repository: {}, isTrusted: false }).config, environment)

async function coderOf(user: ConfigFile, environment: Environment) {
  const result = await resolve(user, environment)
  if (!result.ok) throw new Error(result.problems.join('\n'))
  return result.brains.coder
}

describe('with nothing but a key in the environment', () => {
  test.each([
    ['anthropic', { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: '' }, 'new-4', 200_000, 16_000],
    ['openai', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: '' }, 'acme-5', 128_000, 16_000],
    ['google', { GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: '' }, 'acme-2.5', 50_000, 8_192],
    ['ollama', { OLLAMA_HOST: '' }, 'able:8b', 32_768, 16_000],
  ])(
    '%s: the newest suitable model of its list',
    async (provider, variables, model, context, output) => {
      const environment = Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [name, value || url]),
      )
      const plan = await coderOf({}, environment)
      expect(plan).toMatchObject({
        kind: 'api',
        choice: { provider, model },
        contextTokens: context,
        outputTokensMax: output,
      })
      // Asked once for all roles.
      expect(asked.filter(({ path }) => path !== '/api/show')).toHaveLength(1)
      if (provider !== 'ollama') expect(asked[0]?.key).toMatch(/^(Bearer )?k$/)
    },
  )

  test('a model named in the environment wins, and nobody is asked', async () => {
    const environment = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: url }
    const named = { ...environment, SLIPWAY_MODEL: 'mine-1' }
    const files = { models: { coder: { provider: 'anthropic' as const, model: 'other' } } }
    expect(await coderOf(files, named)).toMatchObject({ choice: { model: 'mine-1' } })
    const both = { ...environment, OPENAI_API_KEY: 'o', SLIPWAY_MODEL: 'openai/org/mine-2' }
    expect(await coderOf(files, both)).toMatchObject({
      choice: { provider: 'openai', model: 'org/mine-2', apiKey: 'o' },
    })
    expect(asked).toEqual([])
  })
})

describe('with configuration', () => {
  const environment = { ANTHROPIC_API_KEY: 'a', MY_KEY: ' m\n' }

  test('each role has its own entry, or the default one', async () => {
    const result = await resolve(
      {
        models: {
          default: { provider: 'anthropic', model: 'x', prices: { input: 3, output: 15 } },
          coder: {
            provider: 'openai-compatible',
            baseUrl: `${url}/v1`,
            apiKeyEnv: 'MY_KEY',
            outputTokens: 2_000,
          },
        },
      },
      environment,
    )
    expect(result).toMatchObject({
      ok: true,
      brains: {
        pm: { choice: { provider: 'anthropic', model: 'x', apiKey: 'a' } },
        architect: { choice: { provider: 'anthropic', model: 'x' } },
        coder: {
          choice: { provider: 'openai-compatible', model: 'acme-5', apiKey: 'm' },
          keyVariable: 'MY_KEY',
          outputTokensMax: 2_000,
        },
      },
    })
    expect(result).not.toHaveProperty('brains.pm.keyVariable')
    expect(asked).toEqual([{ path: '/v1/models', key: 'Bearer m' }])
    if (!result.ok) return
    const ledger = 'run/ledger' as AgentId
    expect(await toMind(result.brains.pm, 'pm', ledger)).toEqual({
      brain: 'pm',
      contextTokens: 128_000,
      outputTokensMax: 16_000,
      price: { inputPerMillion: 3_000_000, outputPerMillion: 15_000_000 },
      ledger,
    })
    expect((await toMind(result.brains.coder, 'coder', ledger)).price).toBeNull()
  })

  test.each([
    ['max_model_len', 16_384],
    ['context_length', 65_536],
    ['context_window', 40_000],
    ['max_context_length', 32_000],
  ])('the window of a model is what its server lists as %s', async (name, tokens) => {
    const models = { data: [{ id: 'local-1', [name]: tokens }] }
    lists['/own/models'] = models
    const coder = { provider: 'openai-compatible' as const, baseUrl: `${url}/own` }
    expect(await coderOf({ models: { coder, default: ANY } }, environment)).toMatchObject({
      contextTokens: tokens,
      outputTokensMax: Math.min(16_000, Math.floor(tokens / 2)),
    })
  })

  test.each([
    [127_999, true],
    [128_000, false],
  ])('a reply of %i tokens has to leave room for its request', async (outputTokens, ok) => {
    const result = await resolve({ models: { default: { ...ANY, outputTokens } } }, environment)
    expect(result.ok).toBe(ok)
    if (!result.ok) expect(result.problems.join()).toMatch(/leaves no room .* Set outputTokens/)
  })

  test('the price of a model is known at the own address of its provider alone', async () => {
    const priceAt = async (baseUrl: string, prices?: { input: number; output: number }) => {
      const entry = { provider: 'openai', model: 'gpt-4o', baseUrl, apiKeyEnv: 'MY_KEY' } as const
      const models = { default: { ...entry, ...(prices && { prices }) } }
      const result = await resolve({ models }, environment)
      if (!result.ok) throw new Error(result.problems.join())
      return (await toMind(result.brains.pm, 'pm', 'run/ledger' as AgentId)).price
    }
    const listed = { inputPerMillion: 2_500_000, outputPerMillion: 10_000_000 }
    expect(await priceAt('https://api.openai.com/v1')).toEqual(listed)
    expect(await priceAt('https://API.openai.com:443/v1/')).toEqual(listed)
    const said = { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 }
    for (const other of ['https://openrouter.ai/api/v1', 'http://127.0.0.1:4000/v1']) {
      expect(await priceAt(other)).toBeNull()
      expect(await priceAt(other, { input: 1, output: 2 })).toEqual(said)
    }
  })

  test('agents by name and by command', async () => {
    const base = { models: { default: { provider: 'anthropic' as const, model: 'x' } } }
    const named = await coderOf(
      { models: { ...base.models, coder: { agent: 'codex' } } },
      environment,
    )
    expect(named).toMatchObject({
      kind: 'agent',
      agent: { name: 'codex', acp: { argv: ['codex-acp'] } },
    })
    const addresses = ['http://127.0.0.1:8080']
    const command = ['/opt/bin/mine', '--acp']
    const agent = { command, variables: ['MY_KEY'], hosts: ['x.org'], addresses }
    const own = await coderOf(
      { models: { ...base.models, coder: { agent, model: 'm' } } },
      environment,
    )
    expect(own).toMatchObject({
      kind: 'agent',
      model: 'm',
      agent: { name: 'mine', acp: { argv: command }, variables: ['MY_KEY'], home: [] },
      addresses,
    })
  })

  test('an agent reviews where it has the code to look at', async () => {
    const provider = { provider: 'anthropic' as const, model: 'x' }
    const models: ConfigFile['models'] = { default: provider, architect: { agent: 'codex' } }
    expect(await resolve({ models }, environment)).toMatchObject({
      brains: { architect: { kind: 'agent', agent: { name: 'codex' } }, coder: { kind: 'api' } },
    })
    const blind = await resolve({ models, revisions: { architect: 'D' } }, environment)
    expect(blind).toEqual({
      ok: false,
      problems: [expect.stringMatching(/^models\.architect: .*needs a workspace.*architect to I/)],
    })
  })

  test('a scenario of the environment plays every role', async () => {
    const result = await resolve({}, { ...environment, SLIPWAY_SCENARIO: '/x.yaml' })
    const plan = { kind: 'scripted', file: '/x.yaml' }
    expect(result).toMatchObject({ brains: { pm: plan, architect: plan, coder: plan } })
  })
})

describe('what stands in the way', () => {
  const problems = async (user: ConfigFile, environment: Environment) => {
    const result = await resolve(user, environment)
    return result.ok ? [] : result.problems
  }

  test('nothing configured: the three ways out, once', async () => {
    const found = await problems({}, { OLLAMA_HOST: '127.0.0.1:1' })
    expect(found).toHaveLength(1)
    for (const way of ['ANTHROPIC_API_KEY', 'Ollama', 'models.default']) {
      expect(found[0]).toContain(way)
    }
  })

  test('a key that is not set is named, and nobody is asked', async () => {
    const coder = { provider: 'openai' as const, baseUrl: `${url}/v1`, apiKeyEnv: 'MY_KEY' }
    const found = await problems({ models: { default: coder } }, { OPENAI_API_KEY: 'other' })
    expect(found).toEqual([
      'models.default: the environment variable MY_KEY is not set. Set it to your key for openai.',
    ])
    expect(asked).toEqual([])
  })

  test.each([
    [401, ': it refuses the key (401). Set ANTHROPIC_API_KEY to a key that it takes.'],
    [500, ': HTTP 500. Mend that, or name one: SLIPWAY_MODEL, or model in the configuration.'],
  ])('an answer of %i is told without the key', async (code, end) => {
    status = code
    const environment = { ANTHROPIC_API_KEY: 'secret-key-1', ANTHROPIC_BASE_URL: url }
    const [found = ''] = await problems({}, environment)
    expect(found).toContain(` at ${url}/v1${end}`)
    expect(found).not.toContain('secret-key-1')
  })

  test.each([
    ['its own variable', { apiKeyEnv: 'MY_KEY' }, 'Set MY_KEY to a key that it takes.'],
    ['no variable', {}, 'Name the variable with a key for it as apiKeyEnv'],
  ])('a key that is refused is named by %s', async (_, entry, fix) => {
    status = 401
    const place = { provider: 'openai-compatible' as const, baseUrl: `${url}/v1`, ...entry }
    const [found = ''] = await problems({ models: { default: place } }, { MY_KEY: 'k' })
    expect(found).toContain(fix)
  })

  test('nobody there, and no list', async () => {
    const environment = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }
    expect((await problems({}, environment))[0]).toContain('it cannot be reached')
    const none = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${url}/none` }
    expect((await problems({}, none))[0]).toContain('HTTP 404')
  })
})
