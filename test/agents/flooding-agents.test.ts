import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openAcpBrain } from '../../src/effects/brains/agents/acp-brain.ts'
import { openProcesses, type Processes } from '../../src/effects/process/processes.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { PATIENT } from '../brains/api-subjects.ts'
import { breachIn, TURN, thinkThrough } from '../brains/turn.ts'

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

let stateFolder: string
let folder: string
let processes: Processes
let isolation: Isolation

beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), 'slipway-agents-'))
  folder = join(stateFolder, 'workspace')
  await mkdir(folder)
  await writeFile(join(stateFolder, 'flooding.cjs'), FLOODING)
  processes = openProcesses(stateFolder)
  isolation = await openUnconfined(processes, { stateFolder })
})

afterAll(async () => {
  await processes.close()
  await rm(stateFolder, { recursive: true })
})

/** How a turn ends with an agent that prints one line without end. */
async function endOf(line: string, updatesMax: number) {
  const argv = [process.execPath, join(stateFolder, 'flooding.cjs'), line] as const
  const brain = openAcpBrain({
    agent: { name: 'flooding', acp: { argv }, variables: [], addresses: [], home: [], hosts: [] },
    isolation,
    stateFolder,
    environment: process.env,
    timeouts: PATIENT,
    budget: { stepsMax: 10, updatesMax },
  })
  const workspace = { folder, access: 'write' } as const
  const events = await thinkThrough(brain, { ...TURN, workspace })
  expect(breachIn(events)).toBeUndefined()
  return events.at(-1)
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
