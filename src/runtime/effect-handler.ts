import type { AgentId, EffectId, Json } from '../agents/values.ts'
import type { BlobStore } from './blobs.ts'
import type { EffectPhase } from './records.ts'

/** One effect to carry out. The id is the same at every try, also after a restart. */
export interface Effect {
  readonly id: EffectId
  readonly agent: AgentId
  readonly kind: string
  readonly input: Json
  /** For what an earlier process asked for: whether it may have worked on it when it ended. */
  readonly inherited?: EffectPhase
}

/** What a handler may use besides its effect. */
export interface EffectContext {
  /**
   * Aborted at the timeout, at a stop, and when the outcome is no longer wanted. A handler then has
   * five seconds to end. One that ignores it is left behind: the effect may be tried again, and the
   * runtime closed, while it still works.
   */
  readonly signal: AbortSignal
  readonly blobs: BlobStore
}

/**
 * What one try came to. `retry` says whether another try could end otherwise: `never`, `later`, or
 * `restored`, when somebody has mended the service that it needs.
 */
export type Attempt =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: AttemptError }

export interface AttemptError {
  readonly code: string
  readonly message: string
  readonly retry: 'never' | 'later' | 'restored'
  /** The service that was wanting, where that is another than the one the effect needs. */
  readonly service?: string
  /** How long the service asked to be left alone, up to `NAMED_WAIT_MS_MAX`; else it named no time. */
  readonly retryAfterMs?: number
  /** How often the same failed before as other effects; what is waited grows with it. */
  readonly failuresBefore?: number
}

/** No allowance takes longer than a month to begin anew: what is beyond is no time to wait for. */
export const NAMED_WAIT_MS_MAX = 35 * 86_400_000

/** How a kind of effect is tried. */
export interface EffectPolicy {
  readonly timeoutMs: number
  /** The longest outcome, as JSON; what is larger belongs into a blob. */
  readonly outputBytesMax: number
  readonly attemptsMax: number
  /** The wait before the second try; it doubles from try to try, with jitter. */
  readonly retryDelayMs: number
  readonly retryDelayMsMax: number
}

export const DEFAULT_POLICY: EffectPolicy = {
  timeoutMs: 600_000,
  outputBytesMax: 65_536,
  attemptsMax: 5,
  retryDelayMs: 500,
  retryDelayMsMax: 60_000,
}

/** Carries out one kind of effect. The only place that touches the outside. */
export interface EffectHandler {
  readonly policy?: Partial<EffectPolicy>
  /** The service that the effect needs; those of one service share its limits and its outages. */
  serviceOf?(effect: Effect): string | undefined
  /**
   * What an earlier try came to, as far as that is known without asking anybody. Looked at before
   * the service is, so that an outage does not stand before it.
   */
  recall?(effect: Effect): Attempt | undefined
  /** Whether an earlier try, of this process or one before it, was carried out already. */
  recognise?(effect: Effect, context: EffectContext): Promise<Attempt | undefined>
  /** Must not reject; when it does, that is an outcome of its own and never tried again. */
  run(effect: Effect, context: EffectContext): Promise<Attempt>
}

/** A service that effects need, such as a model provider, a forge or the machine itself. */
export interface Service {
  readonly concurrencyMax?: number
  /** How long it has for an answer, where that is not the usual time. */
  readonly probeTimeoutMs?: number
  /** Whether it answers. Must not reject, and ends with the signal. */
  probe(signal: AbortSignal): Promise<boolean>
}
