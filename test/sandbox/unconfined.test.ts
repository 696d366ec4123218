import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe } from 'vitest'
import { openProcesses } from '../../src/effects/process/processes.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { describeIsolation, plantSecrets } from './conformance.ts'
import { makeFolder } from './subject.ts'

const uid = process.getuid?.() ?? 0
const stateFolder = makeFolder(uid)
const home = makeFolder(uid)
const processes = openProcesses(stateFolder)
const environment = { ...process.env }
let isolation: Isolation

beforeAll(async () => {
  plantSecrets(home, process.env)
  isolation = await openUnconfined(processes, { stateFolder })
})

afterAll(async () => {
  await processes.close()
  process.env = environment
  for (const folder of [stateFolder, home]) rmSync(folder, { recursive: true })
})

describe('none', () => {
  describeIsolation({ level: 'none', uid, stateFolder, isolation: () => isolation }, home)
})
