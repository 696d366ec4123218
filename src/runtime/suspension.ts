import type { AgentId } from '../agents/values.ts'
import { type Clock, sleepUntil } from './clock.ts'
import type { Executor } from './executor.ts'
import type { OpenEffects } from './open-effects.ts'

/** How an outage is waited for. */
export interface SuspensionPolicy {
  readonly probeIntervalMs: number
  readonly timeoutMs: number
  /** Whether a reset time that the provider named is waited for, however far off. */
  readonly waitForReset: boolean
}

export const DEFAULT_SUSPENSION: SuspensionPolicy = {
  probeIntervalMs: 30_000,
  timeoutMs: 900_000,
  waitForReset: true,
}

export interface ServiceWatchParts {
  readonly clock: Clock
  readonly executor: Executor
  readonly effects: OpenEffects
  readonly policy: SuspensionPolicy
  readonly signal: AbortSignal
  restore(agents: Iterable<AgentId>): void
}

/** While effects wait for services, asks all of them from time to time; when all answer, restores. */
export class ServiceWatch {
  readonly #parts: ServiceWatchParts
  #watching = false

  constructor(parts: ServiceWatchParts) {
    this.#parts = parts
  }

  /** Begins to watch if there is a reason to, and is not needed twice. */
  check(): void {
    if (this.#watching || this.#parts.effects.waitingCount === 0) return
    this.#watching = true
    void this.#watch().then(() => {
      this.#watching = false
      if (!this.#parts.signal.aborted) this.check()
    })
  }

  /** Asks at once, where somebody waits. */
  async probeNow(): Promise<boolean> {
    const { executor, effects, signal, restore } = this.#parts
    if (effects.waitingCount === 0 || signal.aborted) return false
    const answering = await executor.probeAll(signal)
    if (answering && !signal.aborted) restore(effects.agentsWaiting())
    return answering
  }

  async #watch(): Promise<void> {
    const { clock, effects, policy, signal } = this.#parts
    while (effects.waitingCount > 0 && !signal.aborted) {
      await sleepUntil(clock, clock.nowMs() + policy.probeIntervalMs, signal)
      if (await this.probeNow()) return
    }
  }
}

/** How long an agent that is suspended now is left to wait. */
export function suspensionDeadlineMs(
  policy: SuspensionPolicy,
  nowMs: number,
  resetMs: number | undefined,
): number {
  const fromMs = policy.waitForReset ? Math.max(nowMs, resetMs ?? nowMs) : nowMs
  return fromMs + policy.timeoutMs
}
