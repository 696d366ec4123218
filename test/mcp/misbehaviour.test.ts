import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { readStatus } from '../../src/effects/process/process-table.ts'
import { inspectMcpServer } from '../../src/effects/tools/mcp/mcp-tools.ts'
import { bundleServer, serverOf, World } from './world.ts'

let bundle: string
let world: World

beforeAll(() => {
  bundle = bundleServer()
})

afterAll(() => rmSync(bundle, { recursive: true }))

beforeEach(() => {
  world = new World(bundle)
})

afterEach(() => {
  vi.restoreAllMocks()
  return world.close()
})

const program = (code: string) => serverOf({ command: process.execPath, args: ['-e', code] })
const SHORT_MS = 400

test.each<[string, string, number, RegExp]>([
  ['ends at once', 'console.error("no licence"); process.exit(3)', 9_000, /code 3: no licence/],
  ['prints garbage', 'setInterval(() => console.log("{]garbage"), 5)', SHORT_MS, /timed out/i],
  ['prints what is no message', 'setInterval(() => console.log("[1]"), 5)', SHORT_MS, /timed out/i],
  ['says nothing', 'setInterval(() => {}, 1000)', SHORT_MS, /timed out/i],
  [
    'prints a line without end',
    'const x = "x".repeat(1e6); const go = () => process.stdout.write(x, go); go()',
    9_000,
    /message without end/,
  ],
  [
    'asks without end and reads no answer',
    `const ping = { jsonrpc: '2.0', id: 'x'.repeat(50_000), method: 'ping' }
     const pings = (JSON.stringify(ping) + '\\n').repeat(10)
     const go = () => process.stdout.write(pings, go); go()`,
    9_000,
    /does not read what it is told/,
  ],
])('a server that %s is refused', async (_, code, connectMs, reason) => {
  const found = await inspectMcpServer(program(code), [], world.parts({ connectMs }))
  expect(found).toMatchObject({ ok: false, reason: expect.stringMatching(reason) })
})

test('a server that is not there is refused', async () => {
  const server = serverOf({ command: join(world.folder, 'nothing') })
  const found = await inspectMcpServer(server, [], world.parts())
  expect(found).toMatchObject({ ok: false, reason: expect.stringMatching(/not_started.*ENOENT/) })
})

test('a server that does not say its tools is refused, and ended', async () => {
  const server = world.ours({ isSilent: true })
  const found = await inspectMcpServer(server, [], world.parts({ connectMs: 2_000 }))
  expect(found).toMatchObject({ ok: false, reason: expect.stringMatching(/timed out/i) })
  expect(world.starts.map((pid) => readStatus(pid))).toEqual([undefined])
})

test('a server that also talks to people is understood', async () => {
  const talking = world.ours({ talk: 'Welcome!\n{"jsonrpc":"1.0"}\n\n{}\n' })
  const tools = await world.use(talking)
  expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toBe('2')
})

test('a call that hangs does not hold us', async () => {
  const tools = await world.use(world.ours(), { callMs: 700 })
  const late = await world.call(tools, 'hang')
  expect(late).toMatchObject({ isError: true, text: expect.stringMatching(/timed out/i) })
  const stop = new AbortController()
  const hanging = world.call(tools, 'hang', {}, stop.signal)
  stop.abort()
  expect((await hanging).isError).toBe(true)
})

test('a server that ends in the middle of a call is started again, a few times', async () => {
  const tools = await world.use(world.ours())
  for (let i = 0; i < 4; i += 1) {
    const crashed = await world.call(tools, 'crash')
    expect(crashed.isError).toBe(true)
    expect(crashed.text).toMatch(/code 7: out of cheese/)
    // Several agents notice it at once, and one process is started for all of them.
    const both = [1, 2].map(() => world.call(tools, 'add', { a: 1, b: 1 }))
    const expected = i < 3 ? /^2$/ : /ended too often/
    for (const answer of await Promise.all(both)) expect(answer.text).toMatch(expected)
  }
  expect(world.starts).toHaveLength(4)
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 600_000)
  expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toBe('2')
})

test('no part of a secret is told where the last words of a server are cut', async () => {
  const complaint = `token=tck_Zx81LmQ0${'x'.repeat(493)}`
  const tools = await world.use(world.ours({ complaint }, { env: { TOKEN: 'tck_Zx81LmQ0' } }))
  const { text } = await world.call(tools, 'crash')
  expect(text).toMatch(/code 7: .*x{490}/)
  expect(text).not.toMatch(/Zx81|LmQ0/)
})

test('a huge answer is shown in part, and kept whole', async () => {
  const tools = await world.use(world.ours())
  const { text } = await world.call(tools, 'huge')
  expect(text.length).toBeLessThan(17_000)
  expect(text).toMatch(/^first x+/)
  expect(text).toMatch(/x+ last$/)
  const name = /path "output:(\w+)"/.exec(text)?.[1]
  const kept = readFileSync(join(world.folder, 'outputs', `${name}.txt`), 'utf8')
  expect(kept).toHaveLength(800_011)
})

test('an answer beyond all bounds is cut off, and the server started again', async () => {
  const tools = await world.use(world.ours())
  expect((await world.call(tools, 'endless')).text).toMatch(/message without end/)
  expect((await world.call(tools, 'add', { a: 1, b: 1 })).text).toBe('2')
})

test('what is no text is named', async () => {
  const tools = await world.use(world.ours())
  expect((await world.call(tools, 'picture')).text).toBe(
    '[image: image/png, 4 characters of base64, not shown]',
  )
  expect((await world.call(tools, 'structured')).text).toBe('{"deep":[1,2]}')
})
