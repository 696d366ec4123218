import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openAcpBrain } from '../../src/effects/brains/agents/acp-brain.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import {
  openProgramGround,
  type ProgramGround,
  programAgent,
  settingsOn,
  turnOf,
} from './program-ground.ts'

/** Prints the line that it is told without end once it has its prompt, and reads nothing any more. */
const FLOODING = `
const lines = (process.argv[2] + '\\n').repeat(100)
const flood = () => {
  while (process.stdout.write(lines));
  process.stdout.once('drain', flood)
}
require('node:readline').createInterface(process.stdin).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'session/new') {
    const [{ command, args }] = params.mcpServers
    require('node:child_process').spawn(command, args)
  }
  if (method === 'session/prompt') {
    process.stdin.pause()
    return flood()
  }
  const result = { protocolVersion: 1, sessionId: 's' }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
})
`

const KEY = 'sk-a-key-of-the-agent'
const NONSENSE = {
  sessionId: 's',
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 7, key: KEY } },
}

let ground: ProgramGround

beforeAll(async () => {
  ground = await openProgramGround(openUnconfined)
  await writeFile(join(ground.stateFolder, 'flooding.cjs'), FLOODING)
})

afterAll(() => ground.close())

/** How a turn ends with an agent that prints one line without end. */
async function endOf(line: string, updatesMax: number) {
  const agent = programAgent([process.execPath, join(ground.stateFolder, 'flooding.cjs'), line])
  const settings = settingsOn(ground, agent, { budget: { stepsMax: 10, updatesMax } })
  return (await turnOf(ground, openAcpBrain(settings))).at(-1)
}

const failed = (message: string) => ({
  type: 'failed',
  failure: { kind: 'invalid_output', message },
})

test.each([
  ['answers that nobody asked for', { id: KEY, result: {} }],
  ['errors that nobody asked for', { id: KEY, error: { code: 1, message: KEY } }],
  ['messages without a meaning', { [KEY]: KEY }],
  ['requests', { id: 1, method: 'fs/read_text_file', params: { path: KEY } }],
  ['notifications', { method: KEY }],
  ['updates without a form', { method: 'session/update', params: { [KEY]: KEY } }],
  ['updates that make no sense', { method: 'session/update', params: NONSENSE }],
])('%s are counted, and nothing of them is printed', async (_, message) => {
  const printed = vi.spyOn(console, 'error')
  const line = JSON.stringify({ jsonrpc: '2.0', ...message })
  const why = 'the agent used up 2000 messages without ending its work'
  expect(await endOf(line, 2_000)).toEqual(failed(why))
  expect(printed).not.toHaveBeenCalled()
  printed.mockRestore()
})

test.each([
  ['asks', JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(900), method: 'fs/read_text_file' })],
  ['prints what is no message', JSON.stringify('x'.repeat(900))],
])(
  'an agent that %s and reads no answer is ended before its answers fill the memory',
  async (_, line) => {
    const why = 'the agent does not read what it is answered'
    expect(await endOf(line, Number.POSITIVE_INFINITY)).toEqual(failed(why))
  },
)
