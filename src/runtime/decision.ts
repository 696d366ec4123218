import type { Decision } from '../agents/role.ts'

/** Event types with which the runtime itself speaks to agents; nobody else may use them. */
export const RESERVED_TYPES: ReadonlySet<string> = new Set([
  'effect_finished',
  'timer_fired',
  'service_unavailable',
  'service_restored',
  'revived',
])

/**
 * Throws unless a behaviour's answer can be stored as it is: JSON throughout, whole times, and no
 * name that belongs to the runtime. A bug of one agent must not reach the commit of all.
 */
export function checkDecision(decision: Decision): void {
  if (decision === null || typeof decision !== 'object') throw new TypeError('no decision')
  const { set, send, effects, cancel, timers, reason, retry } = decision
  if (set !== undefined) requireJson(set, 'set')
  for (const { to, type, payload } of listOf(send, 'send')) {
    requireJson([to, type, payload], 'send')
    if (RESERVED_TYPES.has(type)) throw new TypeError(`the event type ${type} is the runtime's`)
  }
  for (const { kind, input } of listOf(effects, 'effects')) requireJson([kind, input], 'effects')
  requireJson(listOf(cancel, 'cancel'), 'cancel')
  for (const [name, dueMs] of Object.entries(timers ?? {})) {
    if (name.startsWith('$')) throw new TypeError(`the timer ${name} is the runtime's`)
    if (dueMs !== null && !Number.isSafeInteger(dueMs)) {
      throw new TypeError(`timer ${name} is due at ${dueMs}, which is no whole number of ms`)
    }
  }
  if (reason !== undefined) requireJson(reason, 'reason')
  if (retry !== undefined) requireJson(retry, 'retry')
}

function listOf<T>(list: readonly T[] | undefined, name: string): readonly T[] {
  if (list === undefined) return []
  if (!Array.isArray(list)) throw new TypeError(`${name} is no list`)
  return list
}

/** Throws unless the value is the same after it was stored as JSON. */
export function requireJson(value: unknown, name: string): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return
  } else if (typeof value === 'object') {
    const parts: unknown[] = Array.isArray(value) ? value : Object.values(value)
    for (const part of parts) requireJson(part, name)
    return
  }
  throw new TypeError(`${name} holds ${String(value)}, which is not JSON`)
}
