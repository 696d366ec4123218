import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { HeadlessCommand } from '../../src/effects/brains/agents/agent.ts'
import { openHeadlessBrain } from '../../src/effects/brains/agents/headless-brain.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { PATIENT } from '../brains/api-subjects.ts'
import {
  openProgramGround,
  type ProgramGround,
  programAgent,
  settingsOn,
  turnOf,
} from './program-ground.ts'

/** Starts the way to our tools, prints the lines that it is told, and lives on. */
const LINGERING = `
const [, , lines, ...rest] = process.argv
const after = (option) => rest[rest.indexOf(option) + 1]
const settings = Object.fromEntries(rest.map((word) => word.split(/=(.*)/s)))
const server = rest.includes('--mcp-config')
  ? JSON.parse(after('--mcp-config')).mcpServers.slipway
  : {
      command: JSON.parse(settings['mcp_servers.slipway.command']),
      args: JSON.parse(settings['mcp_servers.slipway.args']),
    }
const bridge = require('node:child_process').spawn(server.command, server.args)
bridge.stdout.once('data', () => {
  for (const line of JSON.parse(lines)) console.log(JSON.stringify(line))
  setInterval(() => {}, 1_000)
})
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } }
bridge.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }) + '\\n')
`

const CLAUDE_DONE = [
  { type: 'stream_event', event: { type: 'content_block_delta', delta: { text: 'All done.' } } },
  { type: 'result', is_error: false, subtype: 'success', result: 'All done.' },
]
const CLAUDE_FAILED = [
  { type: 'result', is_error: true, subtype: 'success', result: 'No', api_error_status: 401 },
]
const CODEX_DONE = [
  { type: 'item.completed', item: { id: 'a', type: 'agent_message', text: 'All done.' } },
  { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
]
const CODEX_FAILED = [
  { type: 'turn.failed', error: { message: 'unexpected status 401 Unauthorized' } },
]

const FINISHED = { type: 'finished', reason: 'stop' }
const REFUSED = { type: 'failed', failure: { kind: 'auth' } }

let ground: ProgramGround

beforeAll(async () => {
  ground = await openProgramGround(openUnconfined)
  await writeFile(join(ground.stateFolder, 'lingering.cjs'), LINGERING)
})

afterAll(() => ground.close())

describe.concurrent('an agent that says how it ended and does not exit', () => {
  test.for<[HeadlessCommand['dialect'], string, readonly unknown[], object]>([
    ['claude', 'done', CLAUDE_DONE, FINISHED],
    ['claude', 'refused', CLAUDE_FAILED, REFUSED],
    ['codex', 'done', CODEX_DONE, FINISHED],
    ['codex', 'refused', CODEX_FAILED, REFUSED],
  ])('is taken at its word: %s, %s', async ([dialect, , lines, end], { expect }) => {
    const file = join(ground.stateFolder, 'lingering.cjs')
    const argv = [process.execPath, file, JSON.stringify(lines)] as const
    const agent = { ...programAgent(argv), headless: { argv, dialect } }
    // Shorter than it is waited for.
    const timeouts = { ...PATIENT, idleMs: 1_000 }
    const events = await turnOf(ground, openHeadlessBrain(settingsOn(ground, agent, { timeouts })))
    expect(events.at(-1)).toMatchObject(end)
  })
})
