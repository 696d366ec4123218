import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAcpBrain } from '../../src/effects/brains/agents/acp-brain.ts'
import { openHeadlessBrain } from '../../src/effects/brains/agents/headless-brain.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import {
  openProgramGround,
  type ProgramGround,
  programAgent,
  settingsOn,
  turnOf,
} from './program-ground.ts'

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

/** Prints what it is told before it has read anything, and ends. */
const REFUSING = `
process.exitCode = 1
console.log(process.argv[2])
`

let ground: ProgramGround

beforeAll(async () => {
  ground = await openProgramGround(openUnconfined)
  await writeFile(join(ground.stateFolder, 'endless.cjs'), ENDLESS)
  await writeFile(join(ground.stateFolder, 'odd.cjs'), ODD)
  await writeFile(join(ground.stateFolder, 'refusing.cjs'), REFUSING)
})

afterAll(() => ground.close())

/** The last event of a turn with a program of the state folder as its agent. */
async function endOf(open: typeof openAcpBrain, file: string, argument: string) {
  const agent = programAgent([process.execPath, join(ground.stateFolder, file), argument])
  return (await turnOf(ground, open(settingsOn(ground, agent)))).at(-1)
}

const WAYS = [
  ['over the protocol', openAcpBrain],
  ['without it', openHeadlessBrain],
] as const

describe.each(WAYS)('an agent that ends before it has spoken, %s', (_, open) => {
  test.each([
    ['auth', 'You are not logged in. Please run /login'],
    ['rejected', "error: unknown option '--acp'"],
  ])('is taken at its word: %s', async (kind, words) => {
    const message = expect.stringContaining(`the agent exited with 1: ${words}`)
    const failure = { kind, message }
    expect(await endOf(open, 'refusing.cjs', words)).toEqual({ type: 'failed', failure })
  })
})

test.each(WAYS)('a line that does not end ends the turn, %s', async (_, open) => {
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
