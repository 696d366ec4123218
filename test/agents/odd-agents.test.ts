import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAcpBrain } from '../../src/effects/brains/agents/acp-brain.ts'
import { openHeadlessBrain } from '../../src/effects/brains/agents/headless-brain.ts'
import { openProcesses, type Processes } from '../../src/effects/process/processes.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { PATIENT } from '../brains/api-subjects.ts'
import { breachIn, TURN, thinkThrough } from '../brains/turn.ts'

/** Prints so many MiB of one line that does not end, and lives on. */
const ENDLESS = `
process.stdin.resume()
const piece = 'a'.repeat(1024 * 1024)
const print = (left) => left > 0 && process.stdout.write(piece, () => print(left - 1))
print(Number(process.argv[2]))
`

/** Answers each method with the result that it is told, and with what is usual otherwise. */
const ODD = `
const usual = { initialize: { protocolVersion: 1 }, 'session/new': { sessionId: 's' } }
const results = { ...usual, ...JSON.parse(process.argv[2]) }
require('node:readline').createInterface(process.stdin).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (method === 'session/new') {
    const [{ command, args }] = params.mcpServers
    require('node:child_process').spawn(command, args)
  }
  const answer = { jsonrpc: '2.0', id, ...(method in results && { result: results[method] }) }
  process.stdout.write(JSON.stringify(answer) + '\\n')
})
`

let stateFolder: string
let folder: string
let processes: Processes
let isolation: Isolation

beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), 'slipway-agents-'))
  folder = join(stateFolder, 'workspace')
  await mkdir(folder)
  await writeFile(join(stateFolder, 'endless.cjs'), ENDLESS)
  await writeFile(join(stateFolder, 'odd.cjs'), ODD)
  processes = openProcesses(stateFolder)
  isolation = await openUnconfined(processes, { stateFolder })
})

afterAll(async () => {
  await processes.close()
  await rm(stateFolder, { recursive: true })
})

/** The last event of a turn with a program of the state folder as its agent. */
async function endOf(open: typeof openAcpBrain, file: string, argument: string) {
  const argv = [process.execPath, join(stateFolder, file), argument] as const
  const brain = open({
    agent: {
      name: 'odd',
      acp: { argv },
      headless: { argv, dialect: 'claude' },
      variables: [],
      addresses: [],
      home: [],
      hosts: [],
    },
    isolation,
    stateFolder,
    environment: process.env,
    timeouts: PATIENT,
    budget: { stepsMax: 10, updatesMax: 1_000 },
  })
  const workspace = { folder, access: 'write' } as const
  const events = await thinkThrough(brain, { ...TURN, workspace })
  expect(breachIn(events)).toBeUndefined()
  return events.at(-1)
}

test.each([
  ['over the protocol', openAcpBrain],
  ['without it', openHeadlessBrain],
])('a line that does not end ends the turn, %s', async (_, open) => {
  expect(await endOf(open, 'endless.cjs', '65')).toEqual({
    type: 'failed',
    failure: {
      kind: 'invalid_output',
      message: 'the agent printed a line of more than 64 MiB',
    },
  })
})

test.each([
  [{ initialize: null }, 'initialize without protocolVersion'],
  [{ 'session/new': null }, 'session/new without sessionId'],
  [{ 'session/new': { sessionId: 's', modes: 7 } }, ''],
  [{ 'session/prompt': null }, 'session/prompt without stopReason'],
  [{ 'session/prompt': {} }, 'session/prompt without stopReason'],
  [{}, ''],
])('an answer that makes no sense ends the turn at once: %j', async (results, why) => {
  const message = `the agent's answer cannot be read: ${why}`
  expect(await endOf(openAcpBrain, 'odd.cjs', JSON.stringify(results))).toEqual({
    type: 'failed',
    failure: { kind: 'invalid_output', message: expect.stringContaining(message) },
  })
})

test('an agent that speaks another version of the protocol is refused', async () => {
  const results = JSON.stringify({ initialize: { protocolVersion: 99 } })
  expect(await endOf(openAcpBrain, 'odd.cjs', results)).toEqual({
    type: 'failed',
    failure: {
      kind: 'rejected',
      message: 'the agent speaks version 99 of the Agent Client Protocol, and we speak version 1',
    },
  })
})
