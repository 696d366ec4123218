import { rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readStatus } from '../../src/effects/process/process-table.ts'
import { inspectMcpServer } from '../../src/effects/tools/mcp/mcp-tools.ts'
import { trustMcpServer } from '../../src/effects/tools/mcp/mcp-trust.ts'
import { definitionOf } from '../../src/effects/tools/tool-calls.ts'
import { bundleServer, CANARY, variable, World } from './world.ts'

let bundle: string
let world: World

beforeAll(() => {
  bundle = bundleServer()
})

afterAll(() => rmSync(bundle, { recursive: true }))

beforeEach(() => {
  world = new World(bundle)
})

afterEach(() => world.close())

const isAlive = (pid: number) => readStatus(pid) !== undefined

describe('a server that is not trusted', () => {
  test('is not started', async () => {
    const tools = await world.open(world.ours())
    expect(tools).toMatchObject({
      tools: [],
      refused: [{ server: 'test', reason: 'it is not trusted' }],
    })
    expect(world.starts).toEqual([])
  })

  test('is not started when its entry differs by a letter from the trusted one', async () => {
    await world.agree(world.ours())
    const { tools, refused } = await world.open(world.ours({}, { env: { NODE_OPTIONS: '' } }))
    expect(tools).toEqual([])
    expect(refused[0]?.reason).toMatch(/entry .* has changed/)
    expect(world.starts).toEqual([])
  })

  test('is not started with a variable that it was not given', async () => {
    const server = world.ours({}, { env: { KEY: variable('ANTHROPIC_API_KEY') } })
    expect(await inspectMcpServer(server, ['NAMED'], world.parts())).toEqual({
      ok: false,
      reason: 'it wants the variable ANTHROPIC_API_KEY, which it was not given',
    })
    await trustMcpServer(world.folder, server, { definitions: 'a'.repeat(64), variables: [] })
    expect((await world.open(server)).refused[0]?.reason).toMatch(/ANTHROPIC_API_KEY/)
    expect(world.starts).toEqual([])
  })

  test('tells nobody the keys in its entry either, whatever it lacks', async () => {
    const env = { TICKETS_TOKEN: 'tck_Zx81LmQ0', OTHER: variable('ABSENT') }
    const server = world.ours({}, { env })
    expect((await world.open(server)).secrets).toEqual(['tck_Zx81LmQ0'])
    await trustMcpServer(world.folder, server, { definitions: 'a'.repeat(64), variables: [] })
    expect((await world.open(server)).secrets).toEqual(['tck_Zx81LmQ0'])
    const changed = await world.open(world.ours({}, { env, cwd: '.' }))
    expect(changed.refused[0]?.reason).toMatch(/entry .* has changed/)
    expect(changed.secrets).toEqual(['tck_Zx81LmQ0'])
  })
})

describe('a trusted server', () => {
  test('is called', async () => {
    const tools = await world.use(world.ours())
    expect(tools.refused).toEqual([])
    expect(await world.call(tools, 'add', { a: 2, b: 40 })).toMatchObject({
      text: '42',
      isError: false,
    })
    expect(await world.call(tools, 'fail')).toMatchObject({ text: 'it is Sunday', isError: true })
    expect(tools.tools.every(({ isReadOnly }) => !isReadOnly)).toBe(true)
  })

  test('describes its tools as a provider takes them', async () => {
    const { tools } = await world.use(world.ours())
    const definitions = tools.map(definitionOf)
    for (const { name, input } of definitions) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect(input).toMatchObject({ type: 'object' })
    }
    expect(definitions[0]).toEqual({
      name: 'mcp__test__add',
      description: 'Adds two numbers.',
      input: {
        type: 'object',
        properties: {
          a: expect.objectContaining({ type: 'integer' }),
          b: expect.objectContaining({ type: 'integer' }),
        },
        required: ['a', 'b'],
        additionalProperties: false,
      },
    })
  })

  test('is never sent a bad call', async () => {
    const tools = await world.use(world.ours())
    const inputs = [{}, { a: 1 }, { a: 1, b: '2' }, { a: 1, b: 2, c: 3 }, '{"a":1,"b":2}', null, []]
    for (const input of inputs) {
      expect(await world.call(tools, 'add', input)).toMatchObject({ isError: true })
    }
    expect((await world.call(tools, 'count')).text).toBe('1')
  })

  test('is sent a call as the model made it', async () => {
    const level = { type: 'integer', default: 3 }
    const inputSchema = { type: 'object', properties: { level, deep: { type: 'object' } } }
    const tools = await world.use(world.ours({ tools: [{ name: 'plain', inputSchema }] }))
    const { text } = await world.call(tools, 'plain', { other: [1], deep: { b: 1, a: 2 } })
    expect(text).toBe('called plain with {"other":[1],"deep":{"b":1,"a":2}}')
  })

  test('sees nothing of our environment but what it was given', async () => {
    const given = `x-${variable('NAMED')}-${variable('OTHER:-else')}`
    const server = world.ours({}, { env: { GIVEN: given, PLAIN: '$HOME' } })
    await world.agree(server, ['NAMED'])
    const { text } = await world.call(await world.open(server), 'environment')
    expect(text).not.toContain(CANARY)
    const seen = JSON.parse(text)
    // A named value that could be a key does not come back either.
    expect(seen).toMatchObject({ GIVEN: 'x-[redacted]-else', PLAIN: '$HOME', HOME: world.folder })
    const names = Object.keys(seen).filter((name) => name !== 'SLIPWAY_PROCESS')
    expect(names.sort()).toEqual(['GIVEN', 'HOME', 'PATH', 'PLAIN'])
  })

  test('tells nobody what its entry gives it under the name of a secret', async () => {
    const server = world.ours(
      {},
      { env: { TICKETS_TOKEN: 'tck_Zx81LmQ0', TICKETS_STAGE: 'test-1' } },
    )
    const tools = await world.use(server)
    const seen = JSON.parse((await world.call(tools, 'environment')).text)
    expect(seen).toMatchObject({ TICKETS_TOKEN: '[redacted]', TICKETS_STAGE: 'test-1' })
    expect(tools.secrets).toEqual(['tck_Zx81LmQ0'])
  })

  test('tells nobody what it was given when it describes its tools', async () => {
    const value = variable('NAMED')
    const described = (name: string, properties: object = {}) => ({
      name,
      description: `Asks /?token=${value}.`,
      inputSchema: { type: 'object', properties, additionalProperties: false },
    })
    const leaking = [
      described('words'),
      described('usual', { key: { type: 'string', default: value } }),
      described('choice', { key: { type: 'string', enum: ['other', value] } }),
      described('property', { [value]: { type: 'string' } }),
      described(`name_${value}`),
    ]
    const server = world.ours({ tools: leaking })
    const inspection = await inspectMcpServer(server, ['NAMED'], world.parts())
    await world.agree(server, ['NAMED'])
    const { tools, refused, secrets } = await world.open(server)
    expect(secrets).toEqual(['nv-81LmQ0zP'])
    const definitions = tools.map(definitionOf)
    expect(definitions.at(-1)).toMatchObject({
      name: 'mcp__test__words',
      description: 'Asks /?token=[redacted].',
    })
    const names = refused.map(({ tool }) => tool)
    expect(names).toEqual(['choice', 'name_[redacted]', 'property', 'usual'])
    expect(refused[0]?.reason).toContain('holds a secret')
    expect(JSON.stringify([inspection, definitions, refused])).not.toContain('nv-81LmQ0zP')
    expect(inspection).toMatchObject({ ok: true, refused })
  })

  test('tells nobody what only we know when it describes its tools', async () => {
    const tools = [{ name: 'words', description: CANARY, inputSchema: { type: 'object' } }]
    const server = world.ours({ tools })
    await world.agree(server)
    const opened = await world.open(server, {}, [CANARY])
    expect(opened.tools.map(definitionOf).at(-1)?.description).toBe('[redacted]')
  })

  test('may have tools with odd names', async () => {
    const odd = ['ünï/cødé tool!', 'a.b', 'a_b', 'x'.repeat(200), '__proto__', '']
    const inputSchema = { type: 'object' }
    const mood = { tools: odd.map((name) => ({ name, inputSchema })) }
    const opened = await world.use(world.ours(mood))
    const names = opened.tools.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    const called: string[] = []
    for (const name of names.filter((each) => /_[0-9a-f]{8}$|a_b/.test(each))) {
      const { text } = await world.call(opened, name.slice('mcp__test__'.length))
      called.push(text.replace('called ', ''))
    }
    expect(called.sort()).toEqual([...odd].sort())
  })

  test('leaves out a tool whose schema is not understood, and says why', async () => {
    const not = { type: 'object', properties: { x: { not: { type: 'string' } } } }
    const mood = { tools: [{ name: 'strange', inputSchema: not }] }
    const { tools, refused } = await world.use(world.ours(mood))
    expect(tools.map(({ name }) => name)).not.toContain('mcp__test__strange')
    expect(refused).toMatchObject([{ server: 'test', tool: 'strange' }])
    expect(refused[0]?.reason).toMatch(/not understood/)
  })

  test('ends with all that it started', async () => {
    const tools = await world.use(world.ours())
    const child = Number((await world.call(tools, 'child')).text)
    const all = [child, ...world.starts]
    expect(all.map(isAlive)).toEqual([true, true])
    await tools.close()
    expect(all.map(isAlive)).toEqual([false, false])
    expect((await world.call(tools, 'count')).text).toMatch(/the run has ended/)
  })

  test('that knows only the newest protocol is understood', async () => {
    const tools = await world.use(world.ours({ isModern: true }))
    expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toBe('2')
    await world.call(tools, 'change')
    expect((await world.call(tools, 'count')).text).toMatch(/its tools have changed/)
  })
})

describe('tools that change', () => {
  const CHANGED = 'its tools have changed since it was trusted'

  test('between two runs refuse the server', async () => {
    const server = world.ours()
    // As if it had said something else when it was trusted.
    const { trustKey } = world.ours({ description: 'Adds. Honestly.' })
    await world.agree(world.ours({ description: 'Adds. Honestly.' }))
    const tools = await world.open({ ...server, trustKey })
    expect(tools.tools).toEqual([])
    expect(tools.refused).toEqual([{ server: 'test', reason: CHANGED }])
    expect(world.starts.map(isAlive)).toEqual([false])
  })

  test('while a run lasts refuse it too, with a word to the user', async () => {
    const tools = await world.use(world.ours())
    await world.call(tools, 'change')
    const after = await world.call(tools, 'add', { a: 1, b: 1 })
    expect(after.isError).toBe(true)
    expect(after.text).toContain(CHANGED)
    expect(world.refusals).toEqual([{ server: 'test', reason: CHANGED }])
    expect(world.starts.map(isAlive)).toEqual([false])
  })

  test('in name only change nothing', async () => {
    const tools = await world.use(world.ours())
    await world.call(tools, 'announce')
    expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toBe('2')
    expect(world.refusals).toEqual([])
  })

  test('in name only, however often it is called, change nothing', async () => {
    const tools = await world.use(world.ours())
    const texts: string[] = []
    for (let i = 0; i < 60; i += 1) texts.push((await world.call(tools, 'announce')).text)
    expect(texts).toEqual(Array(60).fill('announced'))
    expect(world.refusals).toEqual([])
  })

  test('without end are too many', async () => {
    const tools = await world.use(world.ours())
    await world.call(tools, 'announce_often')
    expect((await world.call(tools, 'count')).text).toMatch(/changes its tools all the time/)
  })
})
