import type { FailureKind } from './brain.ts'

/** What a provider's error looks like, by its status or by its words. */
interface FailureRule {
  readonly kind: FailureKind
  readonly statuses?: readonly number[]
  readonly words?: RegExp
  /** Beside a status that is lower, the words say nothing. */
  readonly statusMin?: number
}

// Not the bare "too many tokens": some say it of a minute.
const CONTEXT =
  /prompt is too long|prompt too long|prompt exceeds max|input is too long|(?:input length|input tokens|input token count)\b[^.]{0,60}\bexceed|range of input length|input token count is \d+ but|\binputs\W+tokens \+ \W?max_new_tokens\W+must be <=|\binputs\W+must have less than \d+ tokens|too many tokens: (?:total number|size limit)|context[_ -](?:length|window|limit|size)|ContextWindowExceeded|maximum (?:context|prompt) length|model token limit|request[_ ]too[_ ]large|reduce the length of|tokens to keep from the initial prompt|too large for model with|prompt \(length \d+\) is longer than|prompt token count of \d+ exceeds|max_prompt_tokens_exceeded/i

// Of a sum with the input it would be about the context.
const OUTPUT_LIMIT = /(?<!\+ \W?)max_(?:completion_|new_)?tokens\W+must be less/i

// Not the bare word "billing": a per-minute limit of OpenAI links to the billing page. And Claude
// Code says of a per-minute limit that it is "not your usage limit".
const QUOTA =
  /credit balance is too low|insufficient[_ ](?:(?:user_)?quota|credits?|balance|funds)|quota is not enough|billing_(?:hard_limit|not_active)|BILLING_DISABLED|billing to be enabled|enable billing|without a billing account|account is not active|(?<!not your )usage[_ ]limits?(?:\b|_reached)|spend(?:ing)? limit|out of credits|exhausted your (?:daily )?(?:quota|capacity)|purchase (?:more )?credits|prepayment credits|payment required|budget has been exceeded|budget_exceeded|Exceeded\w{0,12}Budget|exceeded_current_quota|free-models-per-day|Arrearage|PerDay/i

const REFUSED =
  /usage (?:polic|guideline)|content[_ ](?:filter|policy)|content management policy|flagged as potentially|input was flagged|invalid_prompt/i

// xAI sends its words as they would stand in an address at times. And LM Studio has no model loaded,
// as Bedrock has none for that account: in both only a human can do something about it.
const AUTH =
  /incorrect(?: |%20)api(?: |%20)key|expired[_ ]key|AccessDeniedException|model access is denied|no models loaded|api[_ ]key (?:not valid|not found|expired|is invalid|was reported)|API_KEY_INVALID|invalid[_ ](?:x-)?api[_ -]key|authentication_error|permission_error|not_found_error|model_not_found|location is not supported|organization (?:has been disabled|must be verified)|disabled organization/i

// The model's doing, although the server calls it an error of its own, or of the request.
const INVALID_OUTPUT =
  /error parsing tool call|tool_use_failed|failed_generation|tool call validation failed|failed to parse input at pos \d|model produced output that does not match|XML syntax error on line \d|expected element type <\w+> but have/i

/**
 * How errors of real providers are told apart; the first rule that fits decides. Words come before
 * statuses, since a spent credit and a full context are plain 400s and a spent quota is a 429.
 */
export const FAILURE_RULES: readonly FailureRule[] = [
  // Before all others, since it quotes what the model wrote.
  { kind: 'invalid_output', words: INVALID_OUTPUT },
  // It may name the context window, and no shorter conversation would help.
  { kind: 'rejected', words: OUTPUT_LIMIT },
  { kind: 'context_overflow', words: CONTEXT },
  { kind: 'quota', words: QUOTA },
  { kind: 'refused', words: REFUSED },
  { kind: 'auth', words: AUTH },
  { kind: 'rate_limited', words: /rate_limit|rate limit|too many requests|slow_down/i },
  { kind: 'timeout', words: /timeout_error/i },
  // LM Studio says with a 400 that a model crashed, or was unloaded.
  {
    kind: 'overloaded',
    words: /overloaded|UNAVAILABLE|model (?:has crashed|(?:was )?unloaded)/i,
  },
  // Some gateways call each of their errors a `new_api_error`, also that a key is not taken.
  { kind: 'overloaded', words: /server_error|api_error/i, statusMin: 500 },
  { kind: 'context_overflow', statuses: [413] },
  { kind: 'quota', statuses: [402] },
  { kind: 'rate_limited', statuses: [429] },
  // 404: the model is not there, or not for this key.
  { kind: 'auth', statuses: [401, 403, 404] },
  { kind: 'timeout', statuses: [408, 504] },
  // 424: what is behind Bedrock or Text Generation Inference failed. 498: Groq has no room. 499:
  // somebody in between hung up.
  { kind: 'overloaded', statuses: [409, 424, 425, 498, 499] },
  { kind: 'rejected', words: /invalid_request_error|INVALID_ARGUMENT/ },
]
