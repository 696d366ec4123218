import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Usage } from '../../effects/brains/brain.ts'
import { readScenario } from '../../effects/brains/scenario.ts'
import { openScriptedBrain } from '../../effects/brains/scripted-brain.ts'
import { chooseIsolation } from '../../effects/sandbox/choose-isolation.ts'
import { writeOwnFile } from '../../journal/file-system.ts'
import { openSqliteJournalReader } from '../../journal/sqlite/sqlite-journal.ts'
import type { ConfiguredTeam } from '../engine/configured-team.ts'
import { openTeam, type Team } from '../engine/team.ts'
import { UsageError } from '../usage-error.ts'
import { readView } from '../view/read-view.ts'
import { isRunOver } from '../view/run-end.ts'
import { journalSource } from '../view/run-source.ts'

// Beside this file, and beside the folder of the chunk that it is bundled into.
export const DEMO_FOLDER = new URL('../demo/', import.meta.url)
export const DEMO_RUN = 'demo'
/** The brain that plays the demo, by the name under which its run knows it. */
export const DEMO_BRAIN = 'scripted'
export const DEMO_TESTS = { argv: ['node', '--test'], reason: 'the demo says so' } as const

/** What the model would cost, in dollars for a million tokens of input and of output. */
export const DEMO_PRICES = { input: 3, output: 15 }

/** Says in a state folder that its run is a demo, and so who thinks for it. */
const MARK = 'demo'

/** Marks a state folder with a journal as that of a demo, which is about to begin. */
export function markDemo(stateFolder: string): void {
  writeOwnFile(join(stateFolder, MARK), 'slipway demo\n')
}

/** Whether a demo was begun in a state folder and is not over. */
export async function isDemoUnderWay(stateFolder: string): Promise<boolean> {
  if (!existsSync(join(stateFolder, MARK))) return false
  const journal = await openSqliteJournalReader(stateFolder)
  try {
    const isBegun = (await journal.readRuns()).some(({ id }) => id === DEMO_RUN)
    return isBegun && !isRunOver(await readView(journalSource(journal), DEMO_RUN))
  } finally {
    await journal.close()
  }
}

/** Opens the team of a demo, which takes no other run. */
export async function openDemo(stateFolder: string): Promise<ConfiguredTeam> {
  const team = await openDemoTeam(stateFolder)
  return {
    team,
    takeIn: refuse,
    start: refuse,
    startTask: refuse,
    bring: refuse,
    clean: (text) => text,
  }
}

/** The demo is one run; what is asked in it can be answered from outside. */
async function refuse(): Promise<void> {
  throw new UsageError(
    'The demo is under way here, and takes nothing else. Go to a repository of your own.',
  )
}

async function openDemoTeam(stateFolder: string): Promise<Team> {
  const file = new URL('scenario.yaml', DEMO_FOLDER)
  const scenario = readScenario(await readFile(file, 'utf8'), 'scenario.yaml')
  if (!scenario.ok) throw new Error(scenario.problems.join('\n'))
  const startedMs = Date.now()
  return openTeam({
    stateFolder,
    // What is run was written by us, and is to be seen on every machine.
    openIsolation: (processes) => chooseIsolation(processes, { stateFolder, isHarmless: true }),
    mayLackIsolation: true,
    openBrains: async () => ({
      brains: {
        [DEMO_BRAIN]: { brain: openScriptedBrain(scenario.scenario), service: 'model', priceOf },
      },
      // The outage of the demo is over after a moment.
      services: { model: { probe: async () => Date.now() - startedMs > 1_000 } },
    }),
    hosts: [],
    testCommands: [DEMO_TESTS],
    testTimeoutMs: 60_000,
    secrets: [],
    suspension: { probeIntervalMs: 1_500 },
    thinkAttemptsMax: 2,
  })
}

async function priceOf({ inputTokens, cachedTokens, outputTokens }: Usage): Promise<number> {
  const { input, output } = DEMO_PRICES
  const cached = cachedTokens ?? 0
  const fresh = (inputTokens ?? 0) - cached
  return Math.ceil(fresh * input + (cached * input) / 10 + (outputTokens ?? 0) * output)
}
