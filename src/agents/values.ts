/** The values that behaviours, the runtime and the journals have in common. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

declare const brand: unique symbol
type Brand<Name extends string> = string & { readonly [brand]: Name }

export type RunId = Brand<'run'>
export type AgentId = Brand<'agent'>
export type EventId = Brand<'event'>
/** `agent:seq.i`: the i-th effect that the agent's row `seq` asked for. Also the idempotency key. */
export type EffectId = Brand<'effect'>

/** Where a large value is kept: its hash and its size before compression. */
export type BlobRef = { readonly sha256: string; readonly bytes: number }

/** What came of an effect. */
export type EffectResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: EffectError }

export interface EffectError {
  readonly code: string
  readonly message: string
}
