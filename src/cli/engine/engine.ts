import { storyAgentOf } from '../../agents/team/protocol.ts'
import type { EffectId, EventId, RunId } from '../../agents/values.ts'
import { loadConfig } from '../config/load-config.ts'
import { refuseTrackedState } from '../tracked-state.ts'
import { UsageError } from '../usage-error.ts'
import { readView } from '../view/follow.ts'
import { journalSource } from '../view/run-source.ts'
import { type ConfiguredTeam, openConfiguredTeam } from './configured-team.ts'
import { type Control, serveControl } from './control.ts'

/** What works on the runs of a state folder, in this process. */
export interface Engine {
  readonly control: Control
  readonly description: string
  /** Resolves when nothing is left to do. */
  rest(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

const REST_POLL_MS = 1_000
/** So long an engine stays that nobody has given anything to do. */
const IDLE_MS = 15_000

/** Opens the engine for a repository, and goes on with the runs that are under way. */
export async function openEngine(
  folder: string,
  stateFolder: string,
  environment: NodeJS.ProcessEnv,
): Promise<Engine> {
  const loaded = await loadConfig(folder, environment)
  const { repository } = loaded
  if (repository === undefined) throw new UsageError(`${folder} is not in a git repository.`)
  await refuseTrackedState(repository, stateFolder)
  const configured = await openConfiguredTeam({ ...loaded, repository }, stateFolder, environment)
  const control = controlOf(configured)
  const server = await serveControl(stateFolder, control)
  return {
    control,
    description: configured.team.isolation.description,
    rest: (signal) => waitForRest(control, signal),
    async close() {
      await server.close()
      await configured.team.close()
    },
  }
}

/** What a team does for other processes. */
export function controlOf({ team, start, clean }: ConfiguredTeam): Control {
  const { runtime, journal } = team
  return {
    ...journalSource(journal),
    start,
    answer: (question, { choice, text }) =>
      runtime.answer(question as EffectId, { choice: clean(choice), text: clean(text) }),
    pause: (run) => runtime.pause(run as RunId),
    resume: (run) => runtime.resume(run as RunId),
    stop: (run) => runtime.stop(run as RunId),
    tellStory: (run, story, type) =>
      runtime.deliver({
        id: `${run}:${story}:${type}:${crypto.randomUUID()}` as EventId,
        agent: storyAgentOf(run, story),
        type,
        payload: null,
      }),
  }
}

/** Nothing is left when every run is over, or rests because somebody said so. */
async function waitForRest(control: Control, signal: AbortSignal): Promise<void> {
  let idleSinceMs = Date.now()
  while (!signal.aborted) {
    const runs = await control.runs()
    const views = await Promise.all(runs.map(({ id }) => readView(control, id)))
    const isBusy = views.some(({ status }) => status === 'running' || status === 'waiting')
    if (isBusy) idleSinceMs = Date.now()
    if (Date.now() - idleSinceMs > IDLE_MS) return
    await new Promise((resolve) => setTimeout(resolve, REST_POLL_MS))
  }
}
