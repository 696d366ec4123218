import type { BrainFailure, FailureKind } from '../brain.ts'
import { explainFailure } from '../failure.ts'

/** Where agents put the status that a provider answered them with. */
const STATUS =
  /(?:API Error|status(?: code)?|HTTP(?: status)?|code|rejected)["':= ]{0,4}\(?([45]\d\d)\b/i

/** How agents put in their own words what no provider says like this; the first that fits. */
const OWN_WORDS: readonly (readonly [FailureKind, RegExp])[] = [
  [
    'auth',
    /(?:incorrect|invalid|missing) api key|unauthori[sz]ed|not logged in|please (?:run )?\/?login/i,
  ],
  [
    'network',
    /ECONN(?:REFUSED|RESET)|ENOTFOUND|EPIPE|socket hang up|fetch failed|connection (?:error|closed|refused|reset)|stream (?:disconnected|closed|error)|error sending request|network error|unable to connect|terminated/i,
  ],
  // A 200 without a body, which is some proxy's doing.
  ['network', /empty (?:or malformed )?(?:response|stream|body)|no response from/i],
]

/** Says what an agent's words about a failure mean. Secrets are the values it was given. */
export function explainWords(words: string, secrets: readonly string[]): BrainFailure {
  const message = words.trim()
  const context = { answering: true, secrets, nowMs: Date.now() }
  const status = STATUS.exec(message)?.[1]
  if (status !== undefined) return explainFailure({ message, statusCode: status }, context)
  const failure = explainFailure({ message }, context)
  // What providers say themselves is known better, but an agent calls nearly everything an error.
  if (failure.kind !== 'overloaded') return failure
  const kind = OWN_WORDS.find(([, pattern]) => pattern.test(message))?.[0]
  return kind === undefined ? failure : { ...failure, kind }
}
