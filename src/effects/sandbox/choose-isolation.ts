import { setTimeout as sleep } from 'node:timers/promises'
import type { Processes } from '../process/processes.ts'
import { type BubblewrapSettings, openBubblewrap } from './bubblewrap.ts'
import { type ContainerSettings, openContainer } from './container.ts'
import { type Isolation, type IsolationLevel, NotInstalledError } from './sandbox.ts'
import { openUnconfined } from './unconfined.ts'

/** What a user may say about isolation. */
export interface IsolationSettings extends BubblewrapSettings {
  /** Nothing weaker will do; without it the strongest that works is chosen. */
  readonly level?: IsolationLevel
  /** Makes a container the first choice. */
  readonly container?: Omit<ContainerSettings, 'stateFolder'>
  /** Whether no model writes the commands, so that what does not work may be done without. */
  readonly isHarmless?: true
}

/** The isolation that was chosen, and why the ones before it were not. */
export interface ChosenIsolation extends Isolation {
  readonly passedOver: readonly Passed[]
}

interface Passed {
  readonly level: IsolationLevel
  readonly reason: string
  /** Whether there is no such program, and so nothing that could work at another time. */
  readonly isMissing: boolean
}

/** Commands cannot be confined as they are to be; the message says why and what to do. */
export class IsolationError extends Error {
  override readonly name = 'IsolationError'
  readonly reason: string
  readonly advice: string

  constructor(reason: string, advice: string) {
    super(`${reason}. ${advice}`)
    this.reason = reason
    this.advice = advice
  }
}

/** What can be done by whoever is refused because commands would not be confined. */
export const WAYS_OUT =
  'Mend that, or name a container image as isolation.image. To have commands run as you, confined by nothing, set isolation.level to none in your configuration.'

/** A machine may have no more namespaces or processes for a moment. */
const RETRY_AFTER_MS = [500, 1_500]
/** What takes that long to fail is not tried again: somebody waits for the start. */
const TRYING_MS_MAX = 15_000

/**
 * Chooses how commands are kept apart, by trying it. A level that was asked for and does not work
 * is a rejection, never a weaker one. Unasked, nothing is confined only where there is no program
 * that could: one that is there and fails is a rejection too.
 */
export async function chooseIsolation(
  processes: Processes,
  settings: IsolationSettings,
): Promise<ChosenIsolation> {
  const { stateFolder, container, level, isHarmless } = settings
  const choices: readonly [IsolationLevel, (() => Promise<Isolation>) | undefined][] = [
    ['container', container && (() => openContainer(processes, { ...container, stateFolder }))],
    ['bubblewrap', () => openBubblewrap(processes, settings)],
  ]
  const passedOver: Passed[] = []
  for (const [candidate, open] of choices) {
    if (candidate !== level && (level !== undefined || open === undefined)) continue
    try {
      if (open === undefined) throw new NotInstalledError('no image is configured')
      return { ...(await openPatiently(open)), passedOver }
    } catch (error) {
      const isMissing = error instanceof NotInstalledError
      passedOver.push({ level: candidate, reason: (error as Error).message, isMissing })
    }
  }
  const reasons = passedOver.map(({ level: passed, reason }) => `${passed}: ${reason}`).join('; ')
  const isUnsought = level === undefined
  const mayDoWithout = isHarmless || passedOver.every(({ isMissing }) => isMissing)
  if (level === 'none' || (isUnsought && mayDoWithout)) {
    const unconfined = await openUnconfined(processes, settings)
    return { ...unconfined, passedOver, ...(isUnsought && { shortfall: reasons }) }
  }
  const how = isUnsought ? ', though what could confine them is there' : ' as configured'
  throw new IsolationError(`Commands cannot be confined${how} (${reasons})`, WAYS_OUT)
}

async function openPatiently(open: () => Promise<Isolation>): Promise<Isolation> {
  const untilMs = Date.now() + TRYING_MS_MAX
  for (const afterMs of RETRY_AFTER_MS) {
    try {
      return await open()
    } catch (error) {
      if (error instanceof NotInstalledError || Date.now() > untilMs) throw error
      await sleep(afterMs)
    }
  }
  return open()
}
