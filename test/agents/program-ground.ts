import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { openAcpBrain } from '../../src/effects/brains/agents/acp-brain.ts'
import type { Agent } from '../../src/effects/brains/agents/agent.ts'
import type { BrainEvent } from '../../src/effects/brains/brain.ts'
import { openProcesses, type Processes } from '../../src/effects/process/processes.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
import { PATIENT } from '../brains/api-subjects.ts'
import { breachIn, TURN, thinkThrough } from '../brains/turn.ts'

type AgentSettings = Parameters<typeof openAcpBrain>[0]

/** Where programs of the tests' own are agents. */
export interface ProgramGround {
  readonly stateFolder: string
  /** Their workspace. */
  readonly folder: string
  readonly isolation: Isolation
  close(): Promise<void>
}

export async function openProgramGround(
  openIsolation: (
    processes: Processes,
    place: { readonly stateFolder: string },
  ) => Promise<Isolation>,
): Promise<ProgramGround> {
  const stateFolder = await mkdtemp(join(tmpdir(), 'slipway-agents-'))
  const folder = join(stateFolder, 'workspace')
  await mkdir(folder)
  const processes = openProcesses(stateFolder)
  const isolation = await openIsolation(processes, { stateFolder })
  const close = async () => {
    await processes.close()
    await rm(stateFolder, { recursive: true })
  }
  return { stateFolder, folder, isolation, close }
}

/** A program as an agent of which nobody knows anything. */
export function programAgent(argv: readonly [string, ...string[]]): Agent {
  const headless = { argv, dialect: 'claude' } as const
  const nothing = { variables: [], addresses: [], home: [], hosts: [] }
  return { name: 'program', acp: { argv }, headless, ...nothing }
}

/** What an agent is opened with, where a test says nothing else. */
export function settingsOn(
  { isolation, stateFolder }: ProgramGround,
  agent: Agent,
  more: Partial<AgentSettings> = {},
): AgentSettings {
  const budget = { stepsMax: 10, updatesMax: 1_000 }
  const environment = process.env
  return { agent, isolation, stateFolder, environment, timeouts: PATIENT, budget, ...more }
}

/** All that is told of one turn of an agent, which keeps to what a brain promises. */
export async function turnOf(
  { folder }: ProgramGround,
  brain: ReturnType<typeof openAcpBrain>,
  access: 'read' | 'write' = 'write',
): Promise<readonly BrainEvent[]> {
  const events = await thinkThrough(brain, { ...TURN, workspace: { folder, access } })
  expect(breachIn(events)).toBeUndefined()
  return events
}
