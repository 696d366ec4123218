import { redact } from '../../guards/redaction.ts'
import type { Ended } from '../../process/command.ts'
import { plainText } from '../../testing/plain-text.ts'
import type { BrainFailure, FailureKind } from '../brain.ts'
import { explainFailure } from '../failure.ts'
import { LINE_BYTES_MAX } from './agent-process.ts'
import { TOOL_SERVER } from './agent-prompt.ts'

const WORDS_CHARS_MAX = 2_000

/** A shell says of a signal that it ended a command with this and the signal's number. */
const EXIT_CODE_OF_SIGNALS = 128

/** Where agents put the status that a provider answered them with. */
const STATUS =
  /(?:API Error|status(?: code)?|HTTP(?: status)?|rejected|code["']?\s?[:=])["':= ]{0,4}\(?([45]\d\d)\b/i

/** Some begin with it. Of these only such as nothing is counted with: "400 files" is no status. */
const FIRST_STATUS = /^(?:(?:internal )?error:? )?\(?(40[13]|429|5(?:0[0-4]|29))\b/i

/** How Claude Code says that an allowance is spent, which is a 429 like any other by its status. */
const SPENT =
  /you['’]ve (?:hit|reached) your (?!rate\b)|\b(?:\d+-hour|session|daily|weekly|monthly) limit reached|usage credits|extra usage|out of usage|seat type doesn['’]t include usage|usage allocation has been disabled|this service is disabled for your org/i

/** How agents put in their own words what no provider says like this; the first that fits. */
const OWN_WORDS: readonly (readonly [FailureKind, RegExp])[] = [
  [
    'auth',
    /(?:incorrect|invalid|missing|bad|wrong) (?:api )?key|unauthori[sz]ed|not logged in|please (?:run )?\/?login/i,
  ],
  [
    'network',
    /ECONN(?:REFUSED|RESET)|ENOTFOUND|EPIPE|socket hang up|fetch failed|connection (?:error|closed|refused|reset)|stream (?:disconnected|closed|error)|error sending request|network error|unable to connect|terminated/i,
  ],
  // A 200 without a body, which is some proxy's doing.
  ['network', /empty (?:or malformed )?(?:response|stream|body)|no response from/i],
]

/** How programs say of an option or a command that they have none such: they are too old for it. */
const UNKNOWN_OPTION =
  /\b(?:unknown|unrecogni[sz]ed|unexpected|no such) (?:option|argument|flag|(?:sub)?command)s?\b|\b(?:bad|invalid) option\b|flag provided but not defined/i

/** What an agent says of its provider's error beside its own words about it. */
export interface ToldError {
  readonly statusCode?: number | undefined
  readonly type?: string | undefined
  readonly code?: string | undefined
}

/** Says what an agent's words about a failure mean. Secrets are the values it was given. */
export function explainWords(
  words: string,
  secrets: readonly string[],
  told: ToldError = {},
): BrainFailure {
  const message = words.trim()
  const context = { answering: true, secrets, nowMs: Date.now() }
  const [, first] = FIRST_STATUS.exec(message) ?? STATUS.exec(message) ?? []
  const statusCode = told.statusCode ?? first
  const failure = explainFailure({ ...told, message, statusCode }, context)
  // A longer context is among the things that more credit would buy.
  const isSpent = failure.kind !== 'context_overflow' && SPENT.test(message)
  if (isSpent) return { ...failure, kind: 'quota' }
  // What providers say themselves is known better, but an agent calls nearly everything an error.
  if (statusCode !== undefined || failure.kind !== 'overloaded') return failure
  const kind = OWN_WORDS.find(([, pattern]) => pattern.test(message))?.[0]
  return kind === undefined ? failure : { ...failure, kind }
}

/**
 * What it means that an agent is gone and has not said how it ended, whatever its exit code. What it
 * printed is the model's words, in which anything may be said, and of one that was killed so are its
 * complaints; only an agent that ended by itself is believed what it complained of. Of one that had
 * not spoken in its protocol no model was asked, and what it printed is a complaint too.
 */
export function explainSilence(
  ended: Ended,
  { secrets, hasSpoken }: { readonly secrets: readonly string[]; readonly hasSpoken: boolean },
): BrainFailure {
  const hasExited = ended.how === 'exited' && Number(ended.exitCode) <= EXIT_CODE_OF_SIGNALS
  const isUnstarted = hasExited && ended.exitCode !== 0 && !hasSpoken
  const [printed, complained] = [plainText(ended.stdout).trim(), plainText(ended.stderr).trim()]
  const complaint = isUnstarted ? `${complained}\n${printed}`.trim() : complained
  const words = lastWords(ended, redact(complaint || printed, secrets))
  const { message } = explainWords(words, secrets)
  if (ended.how === 'not_started') return { kind: 'rejected', message }
  if (!hasExited || complaint === '') return { kind: 'network', message }
  if (isUnstarted && UNKNOWN_OPTION.test(complaint)) {
    const advice = 'the program does not know what it is started with, and may have to be updated'
    return { kind: 'rejected', message: `${advice}: ${message}` }
  }
  const said = explainWords(complaint.slice(-WORDS_CHARS_MAX), secrets)
  return { ...said, message, kind: said.kind === 'overloaded' ? 'network' : said.kind }
}

/** What it means that an agent prints a line that is too long to be kept: no clock has to end it. */
export function explainLongLine(): BrainFailure {
  const message = `the agent printed a line of more than ${LINE_BYTES_MAX / (1024 * 1024)} MiB`
  return { kind: 'invalid_output', message }
}

/** What it means that an agent's model would work, or works, without a way to our tools. */
export function explainNoTools(): BrainFailure {
  const message = `the agent did not start the MCP server ${TOOL_SERVER} before its model began, so it could call none of our tools`
  return { kind: 'rejected', message }
}

/** What it means that an agent answers with something that the protocol does not have. */
export function explainOddAnswer(error: unknown, secrets: readonly string[]): BrainFailure {
  const why = error instanceof Error ? error.message : String(error)
  const { message } = explainWords(`the agent's answer cannot be read: ${why}`, secrets)
  return { kind: 'invalid_output', message }
}

/** What it means that an agent speaks a version of the protocol that we do not: none will do. */
export function explainVersion(theirs: number, ours: number): BrainFailure {
  const message = `the agent speaks version ${theirs} of the Agent Client Protocol, and we speak version ${ours}`
  return { kind: 'rejected', message }
}

/**
 * The last that a process said, for people. Secrets have been taken out of it: a part of one would
 * not be known for what it is.
 */
function lastWords({ how, exitCode }: Ended, words: string): string {
  const said = words.slice(-WORDS_CHARS_MAX)
  const end = exitCode === null ? how : `${how} with ${exitCode}`
  return said === '' ? `the agent ${end}` : `the agent ${end}: ${said}`
}
