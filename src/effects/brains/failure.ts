import { redact } from '../guards/redaction.ts'
import type { BrainFailure, FailureKind } from './brain.ts'
import { errorWordsIn } from './error-words.ts'
import { FAILURE_RULES } from './failure-rules.ts'
import { unwrapPlainError } from './plain-error.ts'
import { readRetryAfterMs } from './retry-after.ts'

const MESSAGE_CHARS_MAX = 1_000

/** A page of a proxy says in its first line what it is. */
const BODY_CHARS_MAX = 200
const BODY_CHARS_READ = 10_000

/** Codes of failed connections that are about time. */
const SLOW: Readonly<Record<string, FailureKind>> = {
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'stalled',
}

// Not ERR_INVALID_URL and its like: those are about the request.
const CONNECTION_CODE =
  /^(E(?!RR_)[A-Z_]{3,}|UND_ERR_|ERR_(?:TLS|SSL)|CERT_|DEPTH_|SELF_|UNABLE_TO_)/

const UNNAMED_CONNECTION = /^(?:fetch failed|terminated|Cannot connect to API\b.*)$/i

/** What is known beside the error itself. */
export interface FailureContext {
  /** Whether a reply had begun: then what cannot be read is the provider's, not our request. */
  readonly answering: boolean
  readonly secrets: readonly string[]
  readonly nowMs: number
}

/** What an error says, wherever it says it. */
interface Evidence {
  readonly status: number | undefined
  readonly message: string
  /** All that names the cause: the message, types, codes and details, but not the whole body. */
  readonly words: string
  readonly headers: Readonly<Record<string, string>>
  readonly details: unknown
  readonly metadata: unknown
  /** Whether the provider said it, in a stream that was fine until then. */
  readonly told: boolean
}

/** Says what an error of a provider, of the connection or of a stream means. Never throws. */
export function explainFailure(error: unknown, context: FailureContext): BrainFailure {
  const connection = connectionCodeOf(error)
  if (connection !== undefined) {
    const message = `no whole answer (${connection}): ${messageOf(error)}`
    return failure(SLOW[connection] ?? 'network', message, context)
  }
  const evidence = evidenceOf(unwrapPlainError(error), context.secrets)
  const { status, message } = evidence
  const kind = kindOf(evidence, context.answering)
  const shown = status === undefined || isSuccess(status) ? message : `${status}: ${message}`
  return failure(kind, shown, context, readRetryAfterMs(evidence, context.nowMs))
}

function failure(
  kind: FailureKind,
  message: string,
  { secrets }: FailureContext,
  retryAfterMs?: number,
): BrainFailure {
  const safe = redact(message, secrets).slice(0, MESSAGE_CHARS_MAX).toWellFormed()
  return retryAfterMs === undefined
    ? { kind, message: safe }
    : { kind, message: safe, retryAfterMs }
}

function kindOf({ status, words, told }: Evidence, answering: boolean): FailureKind {
  // A reply that says it is one and cannot be read: a proxy's page, half a line, another protocol.
  if (status !== undefined && isSuccess(status)) return 'network'
  const rule = FAILURE_RULES.find(({ words: known, statuses, statusMin = 0 }) => {
    if (status === undefined) return known?.test(words)
    return statuses?.includes(status) || (status >= statusMin && known?.test(words))
  })
  if (rule !== undefined) return rule.kind
  if (status !== undefined) return status >= 500 ? 'overloaded' : 'rejected'
  if (told) return 'overloaded'
  return answering ? 'network' : 'rejected'
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function evidenceOf(error: unknown, secrets: FailureContext['secrets']): Evidence {
  const fields = asRecord(error)
  const body = typeof fields.responseBody === 'string' ? fields.responseBody : ''
  // In the middle of a stream there is no body: what was said is the error itself.
  const said = saidBy(body === '' ? (fields.data ?? fields) : parseJson(body))
  const plain = messageOf(error)
  // Where the library does not know the form of an error, it says no more than the status.
  const other = isWords(said.message) ? undefined : errorWordsIn(body)
  const spoken = isWords(said.message) ? said.message : other?.words || plain
  const { details, metadata } = said
  // What a router was told by the provider behind it, of which it says only that there was an error.
  const { raw } = asRecord(metadata)
  const whole = isWords(raw) ? `${spoken}: ${raw}` : spoken
  const told = !(error instanceof Error)
  const text = body === '' && told ? jsonOf(error) : body
  const named = other?.place ? `${other.place}: ${whole}` : whole
  const message = named === '' ? openingOf(text, secrets) : named
  const status = statusOf(fields.statusCode) ?? statusOf(said.code) ?? statusOf(fields.code)
  const causes = [said.message, said.type, said.code, said.status, fields.type, fields.code]
  const words = [whole || message, plain, ...causes, jsonOf(details)]
    .filter((word) => typeof word === 'string')
    .join('\n')
  return { status, message, words, headers: headersOf(fields), details, metadata, told }
}

/** Empty for what JSON cannot say. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

/** Secrets are taken out first: half of one would no longer be known for what it is. */
function openingOf(body: string, secrets: FailureContext['secrets']): string {
  return redact(body.slice(0, BODY_CHARS_READ), secrets).slice(0, BODY_CHARS_MAX)
}

/**
 * The error object inside a body: providers have one, at the top or one level down. Some servers
 * have a plain text in its place, or beside it.
 */
function saidBy(parsed: unknown): Record<string, unknown> {
  const outer = asRecord(Array.isArray(parsed) ? parsed[0] : parsed)
  if (typeof outer.error === 'string') {
    return { message: [outer.error, outer.message, outer.detail].filter(isWords).join(': ') }
  }
  const response = asRecord(outer.response)
  const said = asRecord(outer.error ?? response.error ?? outer)
  return isWords(said.message) ? said : { ...said, message: said.detail }
}

function isWords(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error
  const { message } = asRecord(error)
  return typeof message === 'string' ? message : ''
}

function headersOf(fields: Record<string, unknown>): Readonly<Record<string, string>> {
  const entries = Object.entries(asRecord(fields.responseHeaders))
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]))
}

function statusOf(value: unknown): number | undefined {
  const status = Number(value)
  return Number.isInteger(status) && status >= 200 && status < 600 ? status : undefined
}

/** The code of a connection that failed, which hides somewhere among the causes of an error. */
function connectionCodeOf(error: unknown): string | undefined {
  let cause = error
  for (let depth = 0; depth < 5 && cause instanceof Error; depth += 1) {
    const { code } = cause as NodeJS.ErrnoException
    if (typeof code === 'string' && CONNECTION_CODE.test(code)) return code
    if (UNNAMED_CONNECTION.test(cause.message)) return connectionCodeOf(cause.cause) ?? 'connection'
    cause = cause.cause
  }
  return undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
