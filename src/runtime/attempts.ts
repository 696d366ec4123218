import { requireJson } from './decision.ts'
import { type Attempt, type EffectPolicy, NAMED_WAIT_MS_MAX } from './effect-handler.ts'

const MESSAGE_CHARS_MAX = 4_096

/** A handler's answer, made fit to be stored; one that is no answer throws. */
export function checked(outcome: Attempt | 'aborted'): Attempt | 'aborted' {
  if (outcome === 'aborted') return outcome
  if (outcome.ok) {
    requireJson(outcome.value, 'the outcome')
    return outcome
  }
  const { code, message, retry, service, retryAfterMs, failuresBefore = 0 } = outcome.error
  const isNamed = retryAfterMs !== undefined && retryAfterMs <= NAMED_WAIT_MS_MAX
  const named = {
    ...(service && { service }),
    ...(isNamed && { retryAfterMs: Math.max(0, Math.ceil(retryAfterMs)) }),
  }
  const error = { code: String(code), message: describe(message), retry, failuresBefore }
  return { ok: false, error: { ...error, ...named } }
}

/** An error in words, short enough for a row. */
export function describe(error: unknown): string {
  try {
    return String(error).slice(0, MESSAGE_CHARS_MAX)
  } catch {
    return 'an error that has no words'
  }
}

/** A try that took too long. */
export function timedOut(policy: EffectPolicy): Attempt {
  const message = `no outcome within ${policy.timeoutMs} ms`
  return { ok: false, error: { code: 'timeout', message, retry: 'later' } }
}

/** A try whose handler did not answer at all. */
export function threw(error: unknown): Attempt {
  return { ok: false, error: { code: 'handler_threw', message: describe(error), retry: 'never' } }
}
