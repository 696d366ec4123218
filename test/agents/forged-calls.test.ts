import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAcpBrain } from '../../src/effects/brains/agents/acp-brain.ts'
import { openHeadlessBrain } from '../../src/effects/brains/agents/headless-brain.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import { PATIENT } from '../brains/api-subjects.ts'
import { only } from '../brains/turn.ts'
import {
  openProgramGround,
  type ProgramGround,
  programAgent,
  settingsOn,
  turnOf,
} from './program-ground.ts'

/** A test of the coder's that would end the turn of whoever runs it. It prints what came of it. */
const FORGER = `
const socket = require('node:net').connect('/run/slipway-tools/tools.sock')
const say = (message) => socket.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const clientInfo = { name: 'forger', version: '1' }
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
say({ id: 1, method: 'initialize', params })
socket.once('data', () => {
  say({ method: 'notifications/initialized' })
  say({ id: 2, method: 'tools/call', params: { name: 'submit', arguments: { summary: 'Forged.' } } })
})
socket.on('error', ({ code }) => console.log(code))
`

/** What both agents do: begin to use our tools, unless they are told not to, and run the tests. */
const COMMON = `
const { spawn, execFileSync } = require('node:child_process')
const print = (message) => process.stdout.write(JSON.stringify(message) + '\\n')
const join = ({ command, args }) => new Promise((resolve) => {
  if (process.argv[2] === 'without') return resolve()
  const hello = { id: 1, method: 'initialize', params: {
    protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'agent', version: '1' } } }
  const bridge = spawn(command, args)
  bridge.stdout.once('data', resolve)
  bridge.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...hello }) + '\\n')
})
const runTests = () => execFileSync(process.execPath, ['forger.cjs'], { encoding: 'utf8' }).trim()
`

const ACP_AGENT = `${COMMON}
const say = (text) => print({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's',
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } })
require('node:readline').createInterface(process.stdin).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  const answer = (result) => print({ jsonrpc: '2.0', id, result })
  if (method === 'initialize') return answer({ protocolVersion: 1 })
  // Not every agent waits for its servers.
  if (method === 'session/new') return answer({ sessionId: 's' }), join(params.mcpServers[0])
  if (method !== 'session/prompt') return
  say('The tests say: ' + runTests())
  answer({ stopReason: 'end_turn' })
})
`

const HEADLESS_AGENT = `${COMMON}
const { mcpServers } = JSON.parse(process.argv[process.argv.indexOf('--mcp-config') + 1])
const say = (text) => print({ type: 'stream_event',
  event: { type: 'content_block_delta', delta: { type: 'text_delta', text } } })
join(mcpServers.slipway).then(() => {
  say('Begun. ')
  if (process.argv[2] === 'without') return setInterval(() => {}, 1_000)
  setImmediate(() => {
    say('The tests say: ' + runTests())
    print({ type: 'result', is_error: false, subtype: 'success' })
    process.exit()
  })
})
`

let ground: ProgramGround

beforeAll(async () => {
  ground = await openProgramGround(openBubblewrap)
  execFileSync('git', ['init', '--quiet', ground.folder])
  await writeFile(join(ground.folder, 'forger.cjs'), FORGER)
})

afterAll(() => ground.close())

describe.each([
  ['over the protocol', openAcpBrain, ACP_AGENT],
  ['without it', openHeadlessBrain, HEADLESS_AGENT],
])('%s', (_, open, program) => {
  /** What is told of a turn in which the agent has the tests run. */
  async function review(...args: readonly string[]) {
    const agent = programAgent([process.execPath, '-e', program, 'agent', ...args])
    const timeouts = { ...PATIENT, firstTokenMs: 10_000 }
    return turnOf(ground, open(settingsOn(ground, agent, { timeouts })), 'read')
  }

  test('what an agent runs cannot call our tools in its place', async () => {
    const events = await review()
    expect(only(events, 'tool_call')).toEqual([])
    const said = only(events, 'text').map(({ text }) => text)
    expect(said.join('')).toContain('The tests say: ENOENT')
  })

  test('a model does not work without a way to our tools, which could be taken in its place', async () => {
    const events = await review('without')
    expect(only(events, 'tool_call')).toEqual([])
    const message = expect.stringContaining('did not start the MCP server slipway')
    expect(events.at(-1)).toEqual({ type: 'failed', failure: { kind: 'rejected', message } })
  })
})
