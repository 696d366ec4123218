import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readMcpConfig } from './mcp-config.ts'
import { distrustMcpServer, readMcpTrust, trustMcpServer } from './mcp-trust.ts'

let scratch: string
let folder: string
let file: string

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-trust-'))
  folder = join(scratch, 'state')
  file = join(folder, 'mcp-trust.json')
})

afterEach(() => rmSync(scratch, { recursive: true, force: true }))

function serverNamed(name: string) {
  const [server] = readMcpConfig(`{"mcpServers":{"${name}":{"command":"x"}}}`).servers
  if (server === undefined) throw new Error('no server')
  return server
}

const definitions = 'd'.repeat(64)

test('nobody is trusted to begin with', async () => {
  expect((await readMcpTrust(folder)).size).toBe(0)
  expect(existsSync(folder)).toBe(false)
})

test('what is trusted is remembered, for its owner alone', async () => {
  const [a, b] = [serverNamed('a'), serverNamed('b')]
  await trustMcpServer(folder, a, { definitions, variables: ['TOKEN'] })
  await trustMcpServer(folder, b, { definitions, variables: [] })
  const trust = await readMcpTrust(folder)
  expect(trust.get('a')).toEqual({ entry: a.trustKey, definitions, variables: ['TOKEN'] })
  expect(trust.get('b')?.entry).toBe(b.trustKey)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(readdirSync(folder)).toEqual(['mcp-trust.json'])
})

test('trusting again replaces, and distrusting forgets', async () => {
  await trustMcpServer(folder, serverNamed('a'), { definitions, variables: [] })
  // A file that somebody opened up is closed again.
  chmodSync(file, 0o644)
  const again = 'e'.repeat(64)
  await trustMcpServer(folder, serverNamed('a'), { definitions: again, variables: [] })
  expect((await readMcpTrust(folder)).get('a')?.definitions).toBe(again)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await distrustMcpServer(folder, 'a')
  expect((await readMcpTrust(folder)).size).toBe(0)
})

test.each([
  ['half of it', (text: string) => text.slice(0, -20)],
  ['another version', (text: string) => text.replace('"version": 1', '"version": 2')],
  ['a hash that is none', (text: string) => text.replace(definitions, 'anything')],
  ['more than we know', (text: string) => text.replace('"entry"', '"all": true, "entry"')],
  ['nothing', () => ''],
])('a file with %s trusts nobody', async (_, damage) => {
  await trustMcpServer(folder, serverNamed('a'), { definitions, variables: [] })
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, damage(text))
  expect(readFileSync(file, 'utf8')).not.toBe(text)
  expect((await readMcpTrust(folder)).size).toBe(0)
})
