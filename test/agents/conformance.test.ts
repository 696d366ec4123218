import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll } from 'vitest'
import { openAcpBrain } from '../../src/effects/brains/agents/acp-brain.ts'
import type { Agent } from '../../src/effects/brains/agents/agent.ts'
import type { TurnTimeouts } from '../../src/effects/brains/turn-watch.ts'
import { openProcesses, type Processes } from '../../src/effects/process/processes.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { PATIENT } from '../brains/api-subjects.ts'
import { describeBrain, type Play } from '../brains/conformance.ts'

const WORKER = new URL('acp-agent-worker.ts', import.meta.url).pathname

let stateFolder: string
let folder: string
let processes: Processes
let isolation: Isolation

beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), 'slipway-agents-'))
  folder = join(stateFolder, 'workspace')
  await mkdir(folder)
  // One file starts in a quarter of the time that a folder of packages takes.
  const bundle = await rolldown({ input: WORKER, platform: 'node' })
  await bundle.write({ file: join(stateFolder, 'worker.mjs'), minify: true })
  processes = openProcesses(stateFolder)
  isolation = await openUnconfined(processes, { stateFolder })
})

afterAll(async () => {
  await processes.close()
  await rm(stateFolder, { recursive: true })
})

describeBrain({
  name: 'acp',
  // The tools' own protocol has objects for inputs.
  without: ['bad_input'],
  open: async (play) => {
    const brain = openAcpBrain({
      agent: playing(play),
      isolation,
      stateFolder,
      environment: process.env,
      timeouts: patienceWith(play),
      budget: { stepsMax: 10, updatesMax: 1_000 },
    })
    // Unlike a model, an agent works somewhere.
    const workspace = { folder, access: 'write' } as const
    return {
      name: brain.name,
      think: (turn, signal) => brain.think({ ...turn, workspace }, signal),
    }
  },
})

function playing(play: Play): Agent {
  return {
    name: 'worker',
    acp: { argv: [process.execPath, join(stateFolder, 'worker.mjs')] },
    variables: [],
    addresses: [],
    environment: { PLAY: JSON.stringify(play) },
    home: [],
    hosts: [],
  }
}

function patienceWith(play: Play): TurnTimeouts {
  if (!('fails' in play)) return PATIENT
  if (play.fails === 'timeout') return { ...PATIENT, firstTokenMs: 1_000 }
  return play.fails === 'stalled' ? { ...PATIENT, idleMs: 300 } : PATIENT
}
