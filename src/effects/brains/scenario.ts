import { type Document, LineCounter, parseDocument, visit } from 'yaml'
import { z } from 'zod'
import type { FailureKind } from './brain.ts'
import { FAILURE_POLICY } from './failure-policy.ts'
import { explainUnknown } from './scenario-names.ts'
import { TOKENS_MAX } from './token-count.ts'

const FAILURE_KINDS = Object.keys(FAILURE_POLICY) as [FailureKind, ...FailureKind[]]

const count = z.int().nonnegative()
const tokens = count.max(TOKENS_MAX)
const some = z.union([z.string(), z.array(z.string()).min(1)])
const numbers = z.union([
  z.int().positive(),
  z
    .strictObject({ from: z.int().positive(), to: z.int().positive().optional() })
    .refine(({ from, to = from }) => from <= to, { path: ['to'], message: 'is less than from' }),
])

/** Names of ours: with any other a reply would be for no turn. */
const ours = (kind: Parameters<typeof explainUnknown>[0]) =>
  some.superRefine((names, context) => {
    for (const [index, name] of [names].flat().entries()) {
      const message = explainUnknown(kind, name)
      const path = Array.isArray(names) ? [index] : []
      if (message !== undefined) context.addIssue({ code: 'custom', path, message })
    }
  })

/** Which turns a reply is for. What is not said does not matter. */
const WHEN = z.strictObject({
  role: ours('role').optional(),
  task: ours('task').optional(),
  state: ours('state').optional(),
  story: some.nullable().optional(),
  turn: numbers.optional(),
  attempt: numbers.optional(),
  /** A part of the last message. */
  contains: z.string().min(1).optional(),
  /** The tool that the turn forces. */
  forced: z.string().optional(),
})

const VERBS = ['text', 'reasoning', 'call', 'usage', 'wait_ms', 'fail', 'hang'] as const

/** JSON, whose key `__proto__` nobody would be told. */
const INPUT = z
  .unknown()
  .refine((input) => !JSON.stringify(input)?.includes('"__proto__":'), '__proto__ is no name')
  .pipe(z.json())

const STEP = z
  .strictObject({
    text: z.string().min(1).optional(),
    reasoning: z.string().min(1).optional(),
    call: z.string().min(1).optional(),
    input: INPUT.optional(),
    usage: z
      .strictObject({
        input: tokens.optional(),
        cached: tokens.optional(),
        cache_write: tokens.optional(),
        output: tokens.optional(),
      })
      .optional(),
    wait_ms: count.optional(),
    fail: z.enum(FAILURE_KINDS).optional(),
    message: z.string().optional(),
    retry_after_ms: count.optional(),
    hang: z.literal(true).optional(),
  })
  .superRefine((step, context) => {
    const verbs = VERBS.filter((verb) => step[verb] !== undefined)
    const message = `has to have one of ${VERBS.join(', ')}`
    if (verbs.length !== 1) context.addIssue({ code: 'custom', message })
    if (step.input !== undefined && step.call === undefined) {
      context.addIssue({ code: 'custom', message: 'has an input, but no call' })
    }
    for (const key of ['message', 'retry_after_ms'] as const) {
      if (step[key] === undefined || step.fail !== undefined) continue
      const said = 'says how it fails, but there is no fail'
      context.addIssue({ code: 'custom', path: [key], message: said })
    }
  })

const REPLY = z
  .strictObject({
    when: WHEN.default({}),
    do: z.array(STEP).min(1),
    finish: z.literal('length').optional(),
  })
  .superRefine(({ do: steps, finish }, context) => {
    const ending = steps.findIndex(({ fail, hang }) => (fail ?? hang) !== undefined)
    if (ending >= 0 && ending < steps.length - 1) {
      const message = 'is never played: the reply ends with the step before'
      context.addIssue({ code: 'custom', path: ['do', ending + 1], message })
    }
    if (ending >= 0 && finish !== undefined) {
      const message = 'is never said: the reply does not end by itself'
      context.addIssue({ code: 'custom', path: ['finish'], message })
    }
    const isSomething = steps.some(({ text, call, fail, hang }) => text ?? call ?? fail ?? hang)
    const message = 'says nothing: it needs a text, a call, a fail or a hang'
    if (!isSomething) context.addIssue({ code: 'custom', path: ['do'], message })
    const first = steps.findIndex(({ usage }) => usage !== undefined)
    const second = steps.findIndex(({ usage }, index) => usage !== undefined && index > first)
    if (second < 0) return
    const again = 'says what the turn used a second time: it is told once'
    context.addIssue({ code: 'custom', path: ['do', second], message: again })
  })

const SCENARIO = z.strictObject({ title: z.string().optional(), replies: z.array(REPLY).min(1) })

/** What a scripted brain plays: replies, of which the first that fits a turn is given. */
export type Scenario = z.infer<typeof SCENARIO>
export type ScenarioReply = Scenario['replies'][number]
export type ScenarioStep = ScenarioReply['do'][number]
type When = ScenarioReply['when']

export type ScenarioResult =
  | { readonly ok: true; readonly scenario: Scenario }
  /** Each problem begins with its place: the file, the line and the column. */
  | { readonly ok: false; readonly problems: readonly string[] }

/** Reads a scenario from YAML. `name` is what problems call the file. */
export function readScenario(text: string, name: string): ScenarioResult {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }) => `${placeOf(pos[0])}: ${message}`)
    return { ok: false, problems }
  }
  const value = readValue(document)
  if (!value.ok) {
    const problems = value.problems.map(({ offset, message }) => `${placeOf(offset)}: ${message}`)
    return { ok: false, problems }
  }
  const parsed = SCENARIO.safeParse(value.value)
  const found = parsed.success ? findUnreachable(parsed.data) : parsed.error.issues
  if (parsed.success && found.length === 0) return { ok: true, scenario: parsed.data }
  const problems = found.map(({ path, message }) => {
    const known = [...path.keys(), path.length].toReversed().map((length) => path.slice(0, length))
    const node = known.map((part) => document.getIn(part, true)).find(hasRange)
    return `${placeOf(node?.range[0] ?? 0)}: ${printPath(path)}: ${message}`
  })
  return { ok: false, problems }
}

type ReadValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly { offset: number; message: string }[] }

/** What a document says. The parser leaves it to this whether its aliases lead anywhere. */
function readValue(document: Document): ReadValue {
  const problems: { offset: number; message: string }[] = []
  visit(document, {
    Alias(_, alias, around) {
      const named = alias.resolve(document)
      const offset = alias.range?.[0] ?? 0
      if (named === undefined) {
        problems.push({ offset, message: `*${alias.source} names nothing before it` })
      } else if (around.includes(named)) {
        problems.push({ offset, message: `*${alias.source} stands in what it names` })
      }
    },
  })
  if (problems.length > 0) return { ok: false, problems }
  try {
    return { ok: true, value: document.toJS() }
  } catch (error) {
    const { message } = error as Error
    return { ok: false, problems: [{ offset: 0, message: `the file: ${message}` }] }
  }
}

interface Problem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Replies that an earlier one leaves nothing for; what only several do together is not noticed. */
function findUnreachable({ replies }: Scenario): Problem[] {
  return replies.flatMap((reply, index) => {
    const earlier = replies.slice(0, index).findIndex((other) => covers(other, reply))
    const message = `is never given: replies[${earlier}] is for all of its turns`
    return earlier === -1 ? [] : [{ path: ['replies', index], message }]
  })
}

/** Whether a reply fits every turn that another one fits. */
function covers(earlier: ScenarioReply, later: ScenarioReply): boolean {
  const [wide, narrow] = [earlier.when, later.when]
  return (
    (['role', 'task', 'state', 'story'] as const).every((key) => hasAll(wide[key], narrow[key])) &&
    (['turn', 'attempt'] as const).every((key) => spans(wide[key], narrow[key])) &&
    (wide.contains === undefined || narrow.contains?.includes(wide.contains) === true) &&
    coversForced(earlier, later)
  )
}

function hasAll(wide: When['story'], narrow: When['story']): boolean {
  if (wide === undefined || narrow === undefined) return wide === undefined
  const names = [wide].flat()
  return [narrow].flat().every((name) => names.includes(name))
}

function spans(wide: When['turn'], narrow: When['turn']): boolean {
  const [outer, inner] = [rangeOf(wide), rangeOf(narrow)]
  return outer.from <= inner.from && outer.to >= inner.to
}

function rangeOf(numbers: When['turn'] = { from: 1 }): { from: number; to: number } {
  if (typeof numbers === 'number') return { from: numbers, to: numbers }
  return { from: numbers.from, to: numbers.to ?? Infinity }
}

/** A turn that forces a tool is only for replies that call it, that fail, or are written for it. */
function coversForced({ when, do: steps }: ScenarioReply, later: ScenarioReply): boolean {
  const { forced } = later.when
  if (when.forced !== undefined) return when.forced === forced
  const fails = ({ fail }: ScenarioStep) => fail !== undefined
  if (steps.some(fails)) return true
  if (forced === undefined && later.do.some(fails)) return false
  const tools = forced === undefined ? later.do.flatMap(({ call }) => call ?? []) : [forced]
  return tools.every((tool) => steps.some(({ call }) => call === tool))
}

function hasRange(node: unknown): node is { readonly range: readonly [number, number, number] } {
  return Array.isArray((node as { range?: unknown } | undefined)?.range)
}

function printPath(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
  return parts.join('').replace(/^\./, '') || 'the file'
}
