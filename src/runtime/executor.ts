import type { EffectError, EffectId, EffectResult } from '../agents/values.ts'
import { checked, describe, threw, timedOut } from './attempts.ts'
import type { BlobStore } from './blobs.ts'
import { type Clock, sleepUntil } from './clock.ts'
import {
  type Attempt,
  type AttemptError,
  DEFAULT_POLICY,
  type Effect,
  type EffectContext,
  type EffectHandler,
  type EffectPolicy,
  NAMED_WAIT_MS_MAX,
  type Service,
} from './effect-handler.ts'
import { Hold } from './hold.ts'
import { PatientBlobs, type Shortage } from './patient-blobs.ts'
import { Places } from './places.ts'
import type { Closure } from './records.ts'
import { ServiceGate } from './service-gate.ts'

/** A wait that a service asks for is sat out when it is short; a longer one suspends the agent. */
const WAIT_MS_MAX = 60_000

/**
 * Those who wait for the same moment do not ask all at once after it: some a tenth of the wait
 * later, within these bounds.
 */
const SPREAD_MS_MIN = 1_000
const SPREAD_MS_MAX = 60_000

const PROBE_TIMEOUT_MS = 10_000

/** How long a handler that was aborted is waited for; then it is taken to have ended. */
const ABORT_GRACE_MS = 5_000

/** One for all: to make one takes longer than to abort with it. */
const OVER = new DOMException('it has ended', 'AbortError')

/** How an effect ended: with a result, with its service out, or because it was not to go on. */
export type Ending =
  | { readonly kind: 'finished'; readonly result: EffectResult }
  | {
      readonly kind: 'unavailable'
      readonly reason: string
      /** How often it was asked. */
      readonly tries: number
      readonly untilMs?: number
      /** What it has failed with, if the service is not out after all; only of one not its own. */
      readonly error?: EffectError
    }
  | { readonly kind: 'aborted' }

/** An effect that is being carried out. */
interface Work {
  readonly effect: Effect
  readonly handler: EffectHandler
  readonly signal: AbortSignal
  readonly hold: Hold
}

/** Why a service is not asked, and until when. */
interface Refusal {
  readonly reason: string
  readonly untilMs?: number
}

export interface ExecutorParts {
  readonly handlers: Readonly<Record<string, EffectHandler>>
  readonly services: Readonly<Record<string, Service>>
  readonly blobs: BlobStore
  readonly clock: Clock
  /** From 0 to below 1. */
  readonly random: () => number
  /** Told of every time that a service named; absent, nobody is. */
  readonly onClosed?: (closure: Closure) => void
  /** Told before an effect waits for its turn, and before it begins after that; absent, nobody is. */
  readonly onHeld?: (effect: EffectId, isHeld: boolean) => Promise<void>
  /** How many effects are carried out at once, over all services; absent, any number. */
  readonly runningMax?: number
}

/** Tries effects until they have an outcome. Never rejects. */
export class Executor {
  readonly #parts: ExecutorParts
  readonly #gates = new Map<string, ServiceGate>()
  readonly #places: Places
  readonly #shortages = new Set<Shortage>()
  /** When all services answered last: everybody who waited for one hears of it then. */
  #restoredMs = -Infinity

  constructor(parts: ExecutorParts) {
    this.#parts = parts
    this.#places = new Places(parts.runningMax ?? Infinity)
    for (const [name, { concurrencyMax }] of Object.entries(parts.services)) {
      this.#gates.set(name, new ServiceGate(name, parts.clock, concurrencyMax))
    }
  }

  /** What the blob store says while somebody waits for room. */
  get shortage(): string | undefined {
    const [longest] = this.#shortages
    return longest?.error
  }

  /**
   * Holds to a time that the service named before; of one that is not there nobody asks. What lies
   * too far off was taken for such a time by an older version, or by a clock that was wrong.
   */
  close({ service, untilMs }: Closure): void {
    if (untilMs - this.#parts.clock.nowMs() > NAMED_WAIT_MS_MAX) return
    this.#gates.get(service)?.closeUntil(untilMs)
  }

  /**
   * Carries an effect out. `repeated` asks the handler first whether that was done already; one
   * that `isHeld` is known not to have begun. When it resolves, nobody works on the effect any more,
   * except a handler that ignores its abort.
   */
  async execute(
    effect: Effect,
    signal: AbortSignal,
    repeated: boolean,
    isHeld = false,
  ): Promise<Ending> {
    const handler = this.#parts.handlers[effect.kind]
    if (handler === undefined) {
      return failure('no_handler', `nothing carries out effects of kind ${effect.kind}`)
    }
    try {
      const recalled = handler.recall?.(effect)
      if (recalled?.ok) return bounded(recalled, { ...DEFAULT_POLICY, ...handler.policy })
      const { onHeld } = this.#parts
      const hold = new Hold(effect.id, isHeld, handler.recall === undefined ? undefined : onHeld)
      return await this.#passGate({ effect, handler, signal, hold }, repeated)
    } catch (error) {
      return failure('handler_threw', describe(error))
    }
  }

  async #passGate(work: Work, repeated: boolean): Promise<Ending> {
    const { effect, handler, signal, hold } = work
    const service = handler.serviceOf?.(effect)
    const gate = service === undefined ? undefined : this.#gates.get(service)
    if (gate?.isFull) hold.begin()
    if (gate !== undefined && !(await gate.enter(effect.agent, signal))) return { kind: 'aborted' }
    try {
      return await this.#tryRepeatedly(work, gate, repeated)
    } finally {
      gate?.leave()
    }
  }

  /**
   * Whether every service answers in time and may be asked again. Those that do are trusted again.
   * Never rejects.
   */
  async probeAll(signal: AbortSignal): Promise<boolean> {
    const { services, clock } = this.#parts
    if ([...this.#gates.values()].some((gate) => gate.isClosed)) return false
    const answers = Object.values(services).map((service) => this.#answers(service, signal))
    if (!(await Promise.all(answers)).every(Boolean)) return false
    for (const gate of this.#gates.values()) gate.reset()
    this.#restoredMs = clock.nowMs()
    return true
  }

  /** Whether one service answers in the time that it has. */
  async #answers(service: Service, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#parts
    const end = new AbortController()
    const both = AbortSignal.any([signal, end.signal])
    const untilMs = clock.nowMs() + (service.probeTimeoutMs ?? PROBE_TIMEOUT_MS)
    const timeout = sleepUntil(clock, untilMs, both).then(() => false)
    const probe = (async () => service.probe(both))().catch(() => false)
    const answer = await Promise.race([probe, timeout])
    end.abort(OVER)
    return answer
  }

  async #tryRepeatedly(
    work: Work,
    gate: ServiceGate | undefined,
    repeated: boolean,
  ): Promise<Ending> {
    const { handler, signal, hold } = work
    const policy = { ...DEFAULT_POLICY, ...handler.policy }
    for (let attempt = 1; ; attempt += 1) {
      const refusal = await this.#enter(work, gate)
      if (refusal === 'aborted') return { kind: 'aborted' }
      if (refusal !== undefined) return { kind: 'unavailable', ...refusal, tries: attempt - 1 }
      const again = repeated || attempt > 1
      const outcome = await this.#attemptInPlace(() => this.#attempt(work, policy, again), gate)
      if (outcome === 'aborted') return { kind: 'aborted' }
      if (outcome.ok) return bounded(outcome, policy)
      const { error } = outcome
      if (error.retry === 'never') return failure(error.code, error.message)
      const waitMs = this.#waitMs(error, policy, attempt)
      const wanting = this.#wanting(error, gate)
      const isLong = wanting !== undefined && (error.retryAfterMs ?? waitMs) > WAIT_MS_MAX
      const isOver = attempt >= policy.attemptsMax || isLong || error.retry === 'restored'
      if (isOver) return this.#giveUp(error, wanting, gate, attempt)
      hold.begin()
      await sleepUntil(this.#parts.clock, this.#parts.clock.nowMs() + waitMs, signal)
    }
  }

  /**
   * Waits for a place, and for a service that asked to be left alone for a short while. Gives why
   * there is to be no try: then there is no place to leave.
   */
  async #enter(
    { effect, signal, hold }: Work,
    gate: ServiceGate | undefined,
  ): Promise<Refusal | 'aborted' | undefined> {
    const { clock } = this.#parts
    const sinceMs = clock.nowMs() - this.#restoredMs
    if (gate !== undefined && sinceMs >= 0 && sinceMs < SPREAD_MS_MIN) {
      hold.begin()
      await this.#sleepPast(clock.nowMs(), signal)
    }
    while (!signal.aborted) {
      if (gate !== undefined && gate.closedUntilMs - clock.nowMs() > WAIT_MS_MAX) {
        return { reason: `${gate.name} asked to be left alone`, untilMs: gate.closedUntilMs }
      }
      if (gate?.isOut) return { reason: `${gate.name} is out` }
      if (gate?.isClosed) {
        hold.begin()
        await this.#sleepPast(gate.closedUntilMs, signal)
        continue
      }
      if (this.#places.isFull) hold.begin()
      if (!(await this.#places.enter(effect.agent, signal))) return 'aborted'
      const isLetGo = await hold.end()
      // Somebody else may have been told to wait meanwhile, or have found that the service is out.
      if (isLetGo && !gate?.isClosed && !gate?.isOut) return undefined
      this.#places.leave()
      if (!isLetGo) return 'aborted'
    }
    return 'aborted'
  }

  /**
   * A place is held for a try, not for the waits between tries. Who gets it next knows what the
   * service said.
   */
  async #attemptInPlace(
    work: () => Promise<Attempt | 'aborted'>,
    gate: ServiceGate | undefined,
  ): Promise<Attempt | 'aborted'> {
    try {
      const outcome = checked(await work())
      if (outcome !== 'aborted') this.#tell(gate, outcome)
      return outcome
    } finally {
      this.#places.leave()
    }
  }

  /** The service that a try failed for; without one that is named, the effect's own. */
  #wanting({ service = '' }: AttemptError, gate: ServiceGate | undefined): ServiceGate | undefined {
    return this.#gates.get(service) ?? gate
  }

  #tell(own: ServiceGate | undefined, outcome: Attempt): void {
    if (outcome.ok) own?.succeeded()
    if (outcome.ok || outcome.error.retry === 'never') return
    const gate = this.#wanting(outcome.error, own)
    if (gate === undefined) return
    gate.failed()
    const { retryAfterMs } = outcome.error
    if (retryAfterMs === undefined) return
    gate.closeUntil(Math.ceil(this.#parts.clock.nowMs() + retryAfterMs))
    this.#parts.onClosed?.({ service: gate.name, untilMs: gate.closedUntilMs })
  }

  /** One try, with its own clock. A handler that rejects or does not return is an outcome too. */
  async #attempt(
    { effect, handler, signal }: Work,
    policy: EffectPolicy,
    repeated: boolean,
  ): Promise<Attempt | 'aborted'> {
    const { clock } = this.#parts
    // Linked by hand: `AbortSignal.any` takes longer than all the rest of this.
    const end = new AbortController()
    const abort = () => end.abort(signal.reason)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    const blobs = new PatientBlobs(this.#parts.blobs, clock, end.signal, this.#shortages)
    const context: EffectContext = { signal: end.signal, blobs }
    const timeout = this.#passTime(policy, blobs, end.signal).then(() =>
      signal.aborted ? ('aborted' as const) : timedOut(policy),
    )
    let isWorking = true
    const work = workOn(effect, handler, context, repeated)
      .catch(threw)
      .finally(() => {
        isWorking = false
      })
    const outcome = await Promise.race([work, timeout])
    signal.removeEventListener('abort', abort)
    end.abort(OVER)
    if (isWorking) await this.#waitForEnd(work)
    return outcome
  }

  /** Resolves when the time of a try is over. That in which it waits for room does not count. */
  async #passTime(policy: EffectPolicy, blobs: PatientBlobs, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    let countedMs = 0
    for (let restMs = policy.timeoutMs; restMs > 0 && !signal.aborted; ) {
      await sleepUntil(clock, clock.nowMs() + restMs, signal)
      restMs = blobs.waitedMs - countedMs
      countedMs = blobs.waitedMs
    }
  }

  /** Two tries of one effect never work at once, unless a handler ignores its abort for too long. */
  async #waitForEnd(work: Promise<unknown>): Promise<void> {
    const { clock } = this.#parts
    const ended = new AbortController()
    void work.then(() => ended.abort(OVER))
    await Promise.race([work, sleepUntil(clock, clock.nowMs() + ABORT_GRACE_MS, ended.signal)])
  }

  #waitMs(error: AttemptError, policy: EffectPolicy, attempt: number): number {
    const { retryAfterMs, failuresBefore = 0 } = error
    if (retryAfterMs !== undefined) return retryAfterMs + this.#spreadMs(retryAfterMs)
    const doublings = attempt - 1 + failuresBefore
    const fullMs = Math.min(policy.retryDelayMs * 2 ** doublings, policy.retryDelayMsMax)
    return Math.ceil(fullMs / 2 + (fullMs / 2) * this.#parts.random())
  }

  /** Sleeps until a time that others sleep for too, and a little longer. */
  #sleepPast(timeMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    return sleepUntil(clock, timeMs + this.#spreadMs(timeMs - clock.nowMs()), signal)
  }

  #spreadMs(waitMs: number): number {
    const mostMs = Math.min(Math.max(SPREAD_MS_MIN, waitMs / 10), SPREAD_MS_MAX)
    return Math.ceil(mostMs * this.#parts.random())
  }

  /** Retries are spent. What depends on a service waits for it; anything else has failed. */
  #giveUp(
    { code, message, retryAfterMs, failuresBefore = 0 }: AttemptError,
    gate: ServiceGate | undefined,
    own: ServiceGate | undefined,
    attempts: number,
  ): Ending {
    if (gate === undefined) return failure(code, message)
    return {
      kind: 'unavailable',
      reason: `${code}: ${message}`,
      tries: attempts + failuresBefore,
      ...(retryAfterMs !== undefined && { untilMs: gate.closedUntilMs }),
      ...(gate !== own && { error: { code, message } }),
    }
  }
}

async function workOn(
  effect: Effect,
  handler: EffectHandler,
  context: EffectContext,
  repeated: boolean,
): Promise<Attempt> {
  const known = repeated ? await handler.recognise?.(effect, context) : undefined
  if (known !== undefined) return known
  // Nobody waits for it any more: to begin now would be to work unwatched.
  if (context.signal.aborted) return threw('aborted before it began')
  return handler.run(effect, context)
}

function bounded(outcome: Attempt & { ok: true }, policy: EffectPolicy): Ending {
  const bytes = Buffer.byteLength(JSON.stringify(outcome.value) ?? '')
  if (bytes <= policy.outputBytesMax) return { kind: 'finished', result: outcome }
  const message = `the outcome has ${bytes} bytes, and at most ${policy.outputBytesMax} fit a row`
  return failure('output_too_large', message)
}

function failure(code: string, message: string): Ending {
  return { kind: 'finished', result: { ok: false, error: { code, message } } }
}
