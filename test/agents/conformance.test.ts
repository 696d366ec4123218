import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll } from 'vitest'
import { openAcpBrain } from '../../src/effects/brains/agents/acp-brain.ts'
import type { Agent } from '../../src/effects/brains/agents/agent.ts'
import type { TurnTimeouts } from '../../src/effects/brains/turn-watch.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { PATIENT } from '../brains/api-subjects.ts'
import { describeBrain, type Play } from '../brains/conformance.ts'
import {
  openProgramGround,
  type ProgramGround,
  programAgent,
  settingsOn,
} from './program-ground.ts'

const WORKER = new URL('acp-agent-worker.ts', import.meta.url).pathname

let ground: ProgramGround

beforeAll(async () => {
  ground = await openProgramGround(openUnconfined)
  // One file starts in a quarter of the time that a folder of packages takes.
  const bundle = await rolldown({ input: WORKER, platform: 'node' })
  await bundle.write({ file: join(ground.stateFolder, 'worker.mjs'), minify: true })
})

afterAll(() => ground.close())

describeBrain({
  name: 'acp',
  // The tools' own protocol has objects for inputs.
  without: ['bad_input'],
  open: async (play) => {
    const timeouts = patienceWith(play)
    const brain = openAcpBrain(settingsOn(ground, playing(play), { timeouts }))
    // Unlike a model, an agent works somewhere.
    const workspace = { folder: ground.folder, access: 'write' } as const
    return {
      name: brain.name,
      think: (turn, signal) => brain.think({ ...turn, workspace }, signal),
    }
  },
})

function playing(play: Play): Agent {
  const agent = programAgent([process.execPath, join(ground.stateFolder, 'worker.mjs')])
  return { ...agent, environment: { PLAY: JSON.stringify(play) } }
}

function patienceWith(play: Play): TurnTimeouts {
  if (!('fails' in play)) return PATIENT
  if (play.fails === 'timeout') return { ...PATIENT, firstTokenMs: 1_000 }
  return play.fails === 'stalled' ? { ...PATIENT, idleMs: 300 } : PATIENT
}
