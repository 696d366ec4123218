import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '../../runtime/runtime.ts'
import type { RunSource } from '../view/run-source.ts'
import { EngineError } from './engine-error.ts'
import { RunsUnderWay } from './runs-under-way.ts'

/** What is looked at of a runtime. */
type Watched = Pick<Runtime, 'health' | 'idle'>

const REST_POLL_MS = 1_000
/** So long an engine stays that nobody has given anything to do. */
const IDLE_MS = 15_000

/**
 * Resolves when nothing is left: every run is over, or rests because somebody said so and what was
 * under way in it has ended, and nobody has something begun, as takes its time in a large
 * repository. Rejects where the runtime has failed, also as it is to be left.
 */
export async function waitForRest(
  source: RunSource,
  runtime: Watched,
  isAsked: () => boolean,
  signal: AbortSignal,
  idleMs = IDLE_MS,
): Promise<void> {
  let idleSinceMs = Date.now()
  const runs = new RunsUnderWay(source)
  while (!signal.aborted) {
    requireWorking(runtime)
    const views = await runs.read()
    // A proposal that waits to be confirmed asks nothing, and needs nobody meanwhile.
    const isBusy = views.some(
      ({ status, questions }) =>
        status === 'running' || (status === 'waiting' && questions.length > 0),
    )
    const isResting = !isBusy && (await isIdle(runtime))
    // Looked at last: whoever asks from then on finds nobody, and is told so.
    if (!isResting || isAsked()) idleSinceMs = Date.now()
    if (Date.now() - idleSinceMs > idleMs) break
    await sleep(REST_POLL_MS, undefined, { signal }).catch(() => {})
  }
  requireWorking(runtime)
}

/** Rejects when a runtime has failed, also as it is to be left; resolves where it is left and well. */
export async function waitForFailure(runtime: Watched, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    requireWorking(runtime)
    await sleep(REST_POLL_MS, undefined, { signal }).catch(() => {})
  }
  requireWorking(runtime)
}

/** Throws where a runtime has failed: then nothing goes on in this process, and only another helps. */
function requireWorking(runtime: Watched): void {
  const health = runtime.health()
  if (health.state === 'failed') throw new EngineError(health.error)
}

function isIdle(runtime: Watched): Promise<boolean> {
  return Promise.race([runtime.idle().then(() => true), sleep(REST_POLL_MS, false)])
}
