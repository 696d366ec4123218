import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe } from 'vitest'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
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
  isolation = await openBubblewrap(processes, { stateFolder })
})

afterAll(async () => {
  await processes.close()
  process.env = environment
  for (const folder of [stateFolder, home]) rmSync(folder, { recursive: true })
})

describe('bubblewrap', () => {
  describeIsolation({ level: 'bubblewrap', uid, stateFolder, isolation: () => isolation }, home)
})
