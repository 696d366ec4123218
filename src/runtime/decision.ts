import type { Decision } from '../agents/role.ts'

/** Event types with which the runtime itself speaks to agents; nobody else may use them. */
export const RESERVED_TYPES: ReadonlySet<string> = new Set([
  'effect_finished',
  'timer_fired',
  'service_unavailable',
  'service_restored',
  'revived',
])

/** The most that one decision may bring into the journal; what is larger belongs into a blob. */
export const DECISION_CHARS_MAX = 2_097_152

/**
 * Throws unless a behaviour's answer can be stored as it is: JSON throughout, small, whole times,
 * and no name that belongs to the runtime. A bug of one agent must not reach the commit of all.
 */
export function checkDecision(decision: Decision): void {
  if (decision === null || typeof decision !== 'object') throw new TypeError('no decision')
  const { set, send, effects, cancel, timers, reason, retry } = decision
  let chars = cancel === undefined ? 0 : requireJson(listOf(cancel, 'cancel'), 'cancel')
  if (set !== undefined) chars += requireJson(set, 'set')
  for (const { to, type, payload } of listOf(send, 'send')) {
    chars += requireJson([to, type, payload], 'send')
    requireStorable(type, 'the event type')
    if (RESERVED_TYPES.has(type)) throw new TypeError(`the event type ${type} is the runtime's`)
  }
  for (const { kind, input } of listOf(effects, 'effects')) {
    chars += requireJson([kind, input], 'effects')
    requireStorable(kind, 'the kind of effect')
  }
  if (reason !== undefined) chars += requireJson(reason, 'reason')
  if (retry !== undefined) chars += requireJson(retry, 'retry')
  if (timers !== undefined) checkTimers(timers)
  if (chars <= DECISION_CHARS_MAX) return
  throw new RangeError(
    `the decision has ${chars} characters, and at most ${DECISION_CHARS_MAX} fit a row: put what is large into a blob`,
  )
}

const NONE: readonly never[] = []

function checkTimers(timers: NonNullable<Decision['timers']>): void {
  for (const [name, dueMs] of Object.entries(timers)) {
    requireStorable(name, 'the timer')
    if (name.startsWith('$')) throw new TypeError(`the timer ${name} is the runtime's`)
    if (dueMs !== null && !Number.isSafeInteger(dueMs)) {
      throw new TypeError(`timer ${name} is due at ${dueMs}, which is no whole number of ms`)
    }
  }
}

function listOf<T>(list: readonly T[] | undefined, name: string): readonly T[] {
  if (list === undefined) return NONE
  if (!Array.isArray(list)) throw new TypeError(`${name} is no list`)
  return list
}

/**
 * Throws unless a name or an id is the same after it was stored: in a text column half a character
 * becomes U+FFFD, and a NUL is an end, so that two would become one. Texts within JSON are stored
 * with escapes, and may hold anything.
 */
export function requireStorable(text: string, name: string): void {
  if (text.isWellFormed() && !text.includes('\0')) return
  throw new TypeError(`${name} ${JSON.stringify(text)} holds half a character or a NUL`)
}

/** Throws unless the value is the same after it was stored as JSON; gives its size in characters. */
export function requireJson(value: unknown, name: string): number {
  if (typeof value === 'string') return value.length
  if (value === null || typeof value === 'boolean') return 4
  if (typeof value === 'number' && Number.isFinite(value)) return 8
  if (typeof value !== 'object') throw new TypeError(`${name} holds ${String(value)}, no JSON`)
  let chars = 2
  if (Array.isArray(value)) for (const part of value) chars += requireJson(part, name)
  else
    for (const key of Object.keys(value))
      chars += key.length + requireJson((value as never)[key], name)
  return chars
}
