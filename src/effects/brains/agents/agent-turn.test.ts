import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as soon } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProcesses, type Processes } from '../../process/processes.ts'
import type { Isolation } from '../../sandbox/sandbox.ts'
import { openUnconfined } from '../../sandbox/unconfined.ts'
import type { BrainEvent, Turn } from '../brain.ts'
import { type AgentBrainOptions, type ConversationTask, thinkWithAgent } from './agent-turn.ts'
import type { TurnReport } from './turn-report.ts'

let folder: string
let processes: Processes
let options: AgentBrainOptions

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-agent-turn-'))
  processes = openProcesses(folder)
  options = {
    agent: { name: 'mine', variables: [], addresses: [], home: [], hosts: [] },
    isolation: await openUnconfined(processes, { stateFolder: folder }),
    stateFolder: folder,
    environment: process.env,
    // Shorter than calls are waited for that come at once.
    timeouts: { firstTokenMs: 20_000, idleMs: 30, totalMs: 20_000 },
    budget: { stepsMax: 3, updatesMax: 10 },
  }
})

afterAll(async () => {
  await processes.close()
  await rm(folder, { recursive: true })
})

const TURN: Omit<Turn, 'workspace'> = {
  role: 'coder',
  state: 'CODING',
  story: 'S1',
  number: 1,
  system: '',
  messages: [],
  tools: [{ name: 'done', description: 'Ends the state.', input: { type: 'object' } }],
  outputTokensMax: 100,
  tokensMax: 100,
}

type Act = (report: TurnReport) => void

/** What comes of a turn in which an agent makes two calls at once, and does something about then. */
async function think(
  after: Act,
  before: Act = () => {},
  isolation = options.isolation,
): Promise<BrainEvent[]> {
  const client = new Client({ name: 'agent', version: '1.0.0' })
  const act = async ({ place: { bridge, tools }, report }: ConversationTask) => {
    const { command, args } = bridge
    await client.connect(new StdioClientTransport({ command, args: [...args] }))
    before(report)
    times(2, () => void client.callTool({ name: 'done', arguments: {} }).catch(() => {}))
    while (tools.calls.length === 0) await soon()
    after(report)
  }
  const protocol = {
    command: { argv: [process.execPath] as const },
    begin(task: ConversationTask) {
      void act(task)
      return { ended: new Promise<never>(() => {}), cancel: () => false }
    },
  }
  const turn: Turn = { ...TURN, workspace: { folder, access: 'read' } }
  const events: BrainEvent[] = []
  const { signal } = new AbortController()
  const own = { ...options, isolation }
  for await (const event of thinkWithAgent(own, async () => protocol, turn, signal)) {
    events.push(event)
  }
  await client.close()
  return events
}

const times = (count: number, act: (at: number) => void) => {
  for (let at = 0; at < count; at += 1) act(at)
}

test.each<[string, Act]>([
  ['messages are used up', (report) => times(11, () => report.update())],
  ['requests are used up', (report) => times(4, () => report.requested())],
  ['steps are used up', (report) => times(4, (at) => report.stepBegan(`step ${at}`))],
  ['tokens are used up', (report) => report.used(101)],
  ['it goes silent', (report) => report.text('One moment.')],
  ['a step ends', (report) => times(2, (at) => report[at ? 'stepEnded' : 'stepBegan']('step'))],
])('a call counts, although %s before others could have come with it', async (_, act) => {
  const events = await think(act)
  expect(events.filter(({ type }) => type === 'tool_call')).toHaveLength(2)
  expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
})

test('who calls has worked, also where nothing else was told', async () => {
  expect((await think(() => {})).map(({ type }) => type)).toEqual([
    ...['usage', 'tool_call', 'tool_call', 'finished'],
  ])
})

test('a call counts, and all else is cleared away, also where a sandbox cannot be closed', async () => {
  const { level, description } = options.isolation
  const close = () => Promise.reject(new Error('the disk is gone'))
  const run = () => Promise.reject(new Error('nobody runs anything'))
  const broken: Isolation = { level, description, open: async () => ({ level, run, close }) }
  const events = await think(
    () => {},
    () => {},
    broken,
  )
  expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
  expect(await readdir(join(folder, 'sandbox'))).toEqual([])
})

test('a call does not count that comes after all is used up', async () => {
  const events = await think(
    () => {},
    (report) => report.used(101),
  )
  expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'invalid_output' } })
})
