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

let stateFolder: string
let folder: string
let processes: Processes
let isolation: Isolation

beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), 'slipway-agents-'))
  folder = join(stateFolder, 'workspace')
  await mkdir(folder)
  await writeFile(join(stateFolder, 'endless.cjs'), ENDLESS)
  processes = openProcesses(stateFolder)
  isolation = await openUnconfined(processes, { stateFolder })
})

afterAll(async () => {
  await processes.close()
  await rm(stateFolder, { recursive: true })
})

test.each([
  ['over the protocol', openAcpBrain],
  ['without it', openHeadlessBrain],
])('a line that does not end ends the turn, %s', async (_, open) => {
  const argv = [process.execPath, join(stateFolder, 'endless.cjs'), '65'] as const
  const brain = open({
    agent: {
      name: 'endless',
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
  expect(events.at(-1)).toEqual({
    type: 'failed',
    failure: {
      kind: 'invalid_output',
      message: 'the agent printed a line of more than 64 MiB',
    },
  })
})
