import { storyAgentOf } from '../../agents/team/protocol.ts'
import type { EffectId, EventId, RunId } from '../../agents/values.ts'
import { fullDisk, hasNoRoom } from '../../journal/file-system.ts'
import { loadConfig } from '../config/load-config.ts'
import { isDemoUnderWay, openDemo } from '../demo/demo-team.ts'
import { refuseTrackedState } from '../tracked-state.ts'
import { UsageError } from '../usage-error.ts'
import { journalSource } from '../view/run-source.ts'
import { compileBeforeFirstCall } from './baseline-code.ts'
import { changeBudget } from './budget.ts'
import { closeEngine } from './closing.ts'
import { type ConfiguredTeam, openConfiguredTeam } from './configured-team.ts'
import { type Control, isAddressLeft, serveControl } from './control.ts'
import { readGrounds } from './grounds.ts'
import { unconfinedNote } from './isolation-of-runs.ts'
import { supervise, tellOfAbnormalEnd } from './supervision.ts'
import { abortTask, confirmTask, followUpTask } from './task.ts'
import { waitForFailure, waitForRest } from './waiting.ts'

/** What works on the runs of a state folder, in this process. */
export interface Engine {
  readonly control: Control
  readonly description: string
  /** Says that nothing is confined; null where commands are. */
  readonly unconfined: string | null
  /** Begins nothing new in a run, and resolves when what is under way has ended. */
  drain(run: string): Promise<void>
  /** Resolves when nothing is left to do. Rejects when nothing can be done any more. */
  rest(signal: AbortSignal): Promise<void>
  /** Rejects when nothing can be done any more; resolves when nobody wants to know, and it is well. */
  fail(signal: AbortSignal): Promise<void>
  /** Waits for who still works with it, once nothing holds them up, and before nothing can be read. */
  close(working?: Promise<unknown>): Promise<void>
}

/**
 * Opens the engine for a repository, and goes on with the runs that are under way. One in the
 * background may be ended by who has other keys.
 */
export async function openEngine(
  folder: string,
  stateFolder: string,
  environment: NodeJS.ProcessEnv,
  isBackground = false,
): Promise<Engine> {
  return openParts(folder, stateFolder, environment, isBackground).catch((error) => {
    throw hasNoRoom(error) ? fullDisk(stateFolder, error) : error
  })
}

async function openParts(
  folder: string,
  stateFolder: string,
  environment: NodeJS.ProcessEnv,
  isBackground: boolean,
): Promise<Engine> {
  compileBeforeFirstCall()
  const loaded = await loadConfig(folder, environment)
  const { repository } = loaded
  if (repository === undefined) throw new UsageError(`${folder} is not in a git repository.`)
  await refuseTrackedState(repository, stateFolder)
  const isDemo = await isDemoUnderWay(stateFolder)
  // No keys and settings of anybody decide how a demo goes on.
  const isBound = isBackground && !isDemo
  const grounds = isBound ? await readGrounds(folder, loaded.config, environment) : null
  const configured = isDemo
    ? await openDemo(stateFolder)
    : await openConfiguredTeam({ ...loaded, repository }, stateFolder, environment)
  return offer(configured, stateFolder, grounds).catch(async (error) => {
    // What it has begun is ended, and the folder is free for the next.
    await configured.team.close().catch(() => {})
    throw error
  })
}

/** Offers a team to other processes, and looks after it. */
async function offer(
  configured: ConfiguredTeam,
  stateFolder: string,
  grounds: string | null,
): Promise<Engine> {
  const { team } = configured
  // It is removed at every end but an abnormal one, and behind the journal's lock nobody else is.
  if (isAddressLeft(stateFolder)) await tellOfAbnormalEnd(team)
  const control = controlOf(configured)
  const server = await serveControl(stateFolder, control, grounds)
  const leaving = new AbortController()
  const supervising = supervise(team, leaving.signal)
  return {
    control,
    description: team.isolation.description,
    unconfined: unconfinedNote(team.isolation),
    async drain(run) {
      await team.runtime.pause(run as RunId)
      await team.runtime.idle()
    },
    rest: (signal) => waitForRest(control, team.runtime, server.isAsked, signal),
    fail: (signal) => waitForFailure(team.runtime, signal),
    close: (working) => closeEngine({ team, server, supervising, leaving, working }),
  }
}

/** What a team does for other processes. */
export function controlOf(configured: ConfiguredTeam): Control {
  const { team, takeIn, start, startTask, bring, clean } = configured
  const { runtime, journal } = team
  return {
    ...journalSource(journal),
    condition: async () => ({
      health: runtime.health(),
      unconfined: unconfinedNote(team.isolation),
    }),
    takeIn,
    start,
    async bring(run, spec) {
      await team.requireIsolation(run)
      await bring(run, spec)
    },
    answer: (question, { choice, text }) =>
      runtime.answer(question as EffectId, { choice: clean(choice), text: clean(text) }),
    pause: (run) => runtime.pause(run as RunId),
    async resume(run) {
      await team.requireBrains(run)
      await team.requireIsolation(run)
      await runtime.resume(run as RunId)
    },
    async stop(run) {
      if (!(await abortTask(team, run))) await runtime.stop(run as RunId)
    },
    startTask,
    async followUp(run, brought) {
      await team.requireIsolation(run)
      await followUpTask(team, run, { ...brought, text: clean(brought.text) })
    },
    async confirm(run) {
      await team.requireIsolation(run)
      await confirmTask(team, run)
    },
    setBudget: (run, change) => changeBudget(team, run, change),
    tellStory: (run, story, type) =>
      runtime.deliver({
        id: `${run}:${story}:${type}:${crypto.randomUUID()}` as EventId,
        agent: storyAgentOf(run, story),
        type,
        payload: null,
      }),
  }
}
