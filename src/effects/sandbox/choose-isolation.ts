import type { Processes } from '../process/processes.ts'
import { type BubblewrapSettings, openBubblewrap } from './bubblewrap.ts'
import { type ContainerSettings, openContainer } from './container.ts'
import type { Isolation, IsolationLevel } from './sandbox.ts'
import { openUnconfined } from './unconfined.ts'

/** What a user may say about isolation. */
export interface IsolationSettings extends BubblewrapSettings {
  /** Nothing weaker will do; without it the strongest that works is chosen. */
  readonly level?: IsolationLevel
  /** Makes a container the first choice. */
  readonly container?: Omit<ContainerSettings, 'stateFolder'>
}

/** The isolation that was chosen, and why the ones before it were not. */
export interface ChosenIsolation extends Isolation {
  readonly passedOver: readonly { readonly level: IsolationLevel; readonly reason: string }[]
}

/**
 * Chooses how commands are kept apart, by trying it. A level that was asked for and does not work
 * is a rejection, never a weaker one.
 */
export async function chooseIsolation(
  processes: Processes,
  settings: IsolationSettings,
): Promise<ChosenIsolation> {
  const { stateFolder, container, level } = settings
  const choices: readonly [IsolationLevel, (() => Promise<Isolation>) | undefined][] = [
    ['container', container && (() => openContainer(processes, { ...container, stateFolder }))],
    ['bubblewrap', () => openBubblewrap(processes, settings)],
    ['none', () => openUnconfined(processes, settings)],
  ]
  const passedOver: { level: IsolationLevel; reason: string }[] = []
  for (const [candidate, open] of choices) {
    if (candidate !== level && (level !== undefined || open === undefined)) continue
    try {
      if (open === undefined) throw new Error('no image is configured')
      return { ...(await open()), passedOver }
    } catch (error) {
      passedOver.push({ level: candidate, reason: (error as Error).message })
    }
  }
  const reasons = passedOver.map((passed) => `${passed.level}: ${passed.reason}`)
  throw new Error(`commands cannot be confined as configured (${reasons.join('; ')})`)
}
