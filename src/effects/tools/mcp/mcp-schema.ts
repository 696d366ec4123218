import { z } from 'zod'
import { doWithin } from './bounded-work.ts'
import { exactSchema, InexactSchemaError } from './exact-schema.ts'

/** A schema that calls can be held against and that leaves them as they are, or why there is none. */
export type UnderstoodSchema =
  | { readonly ok: true; readonly schema: z.ZodType }
  | { readonly ok: false; readonly reason: string }

const SCHEMA_CHARS_MAX = 40_000
/** With every reference written out, as a provider is sent it. */
const NODES_MAX = 4_000
const LEVELS_MAX = 40

/** Patterns can take forever, and nobody can tell by looking at them; everybody waits meanwhile. */
const CHECK_MS_MAX = 200

/**
 * Makes a schema of a server's JSON Schema. What it cannot say exactly is refused, since a call
 * that was not checked is not sent. Schemas come from outside: no size, no reference and no pattern
 * of theirs keeps us busy for long.
 */
export function understandSchema(given: unknown): UnderstoodSchema {
  try {
    const text = JSON.stringify(given) ?? ''
    if (text.length > SCHEMA_CHARS_MAX) return refuse('its schema is too long')
    const problem = new SchemaWalk(given).problem
    if (problem !== undefined) return refuse(problem)
    const exact = exactSchema(given)
    // Only here all definitions have the name that references know them by.
    const hidden = new SchemaWalk(exact).problem
    if (hidden !== undefined) return refuse(hidden)
    const schema = z.fromJSONSchema(exact as Parameters<typeof z.fromJSONSchema>[0])
    const { $schema: _, ...shown } = z.toJSONSchema(schema, { io: 'input' })
    if (shown.type !== 'object') return refuse('its schema is not that of an object')
    schema.safeParse({})
    return { ok: true, schema: unchanged(schema, shown, text.includes('"pattern')) }
  } catch (error) {
    if (error instanceof InexactSchemaError) return refuse(`its schema ${error.message}`)
    return refuse(`its schema is not understood: ${String(error).slice(0, 200)}`)
  }
}

/** Takes what a schema takes, and gives it on as it came, not as the schema has read it. */
function unchanged(schema: z.ZodType, shown: object, hasPattern: boolean): z.ZodType {
  const check = (payload: z.core.ParsePayload) => {
    const { value: input } = payload
    // A key that zod steps over.
    if (JSON.stringify(input)?.includes('"__proto__":')) {
      payload.issues.push({ code: 'custom', message: '__proto__ is no name', input })
    }
    const parse = () => schema.safeParse(input)
    const checked = hasPattern ? doWithin(CHECK_MS_MAX, parse) : { result: parse() }
    if (checked === undefined) {
      const message = `it could not be checked within ${CHECK_MS_MAX} ms: make it shorter, or try again`
      payload.issues.push({ code: 'custom', message, input })
    }
    const issues = checked?.result.error?.issues ?? []
    payload.issues.push(...issues.map((issue) => ({ ...issue, input }) as z.core.$ZodRawIssue))
  }
  return z
    .unknown()
    .check(check)
    .meta({ ...shown })
}

function refuse(reason: string): UnderstoodSchema {
  return { ok: false, reason }
}

/** Walks a schema as if its references were written out, and stops at what is not to be taken. */
class SchemaWalk {
  problem: string | undefined
  readonly #root: unknown
  #nodes = 0

  constructor(root: unknown) {
    this.#root = root
    this.#visit(root, [], 0)
  }

  #visit(node: unknown, within: readonly string[], level: number): void {
    if (this.problem !== undefined || node === null || typeof node !== 'object') return
    this.#nodes += 1
    if (this.#nodes > NODES_MAX || level > LEVELS_MAX) this.problem = 'its schema is too large'
    else if (Array.isArray(node)) {
      for (const each of node) this.#visit(each, within, level + 1)
    } else this.#visitObject(node as Readonly<Record<string, unknown>>, within, level)
  }

  #visitObject(
    node: Readonly<Record<string, unknown>>,
    within: readonly string[],
    level: number,
  ): void {
    const { $ref } = node
    if (typeof $ref === 'string') {
      if (within.includes($ref)) this.problem = 'its schema refers to itself'
      else this.#visit(this.#find($ref), [...within, $ref], level + 1)
    }
    for (const [key, value] of Object.entries(node)) {
      // Written out where they are referred to.
      if (key !== '$defs' && key !== 'definitions') this.#visit(value, within, level + 1)
    }
  }

  #find(ref: string): unknown {
    let found: unknown = this.#root
    for (const part of ref.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
      found = (found as Readonly<Record<string, unknown>> | undefined)?.[name]
    }
    return ref.startsWith('#') ? found : undefined
  }
}
