import type { ServerError } from '../answer.ts'
import type { HttpAnswer } from '../wire.ts'

const ERRORS: Readonly<
  Record<ServerError, readonly [status: number, type: string, code: string | null, message: string]>
> = {
  rate_limited: [
    429,
    'tokens',
    'rate_limit_exceeded',
    'Rate limit reached for MODEL in organization org-x on tokens per min (TPM): Limit 30000, Used 29500, Requested 1200. Visit https://platform.openai.com/account/rate-limits to learn more. You can increase your rate limit by adding a payment method to your account at https://platform.openai.com/account/billing.',
  ],
  overloaded: [
    503,
    'server_error',
    null,
    'The engine is currently overloaded, please try again later',
  ],
  unavailable: [503, 'service_unavailable', null, 'Service temporarily unavailable.'],
  server_error: [
    500,
    'server_error',
    null,
    'The server had an error while processing your request. Sorry about that!',
  ],
  unauthorized: [
    401,
    'invalid_request_error',
    'invalid_api_key',
    'Incorrect API key provided: GIVEN-KEY. You can find your API key at https://platform.openai.com/account/api-keys.',
  ],
  forbidden: [
    403,
    'request_forbidden',
    'unsupported_country_region_territory',
    'Country, region, or territory not supported',
  ],
  no_credit: [
    429,
    'insufficient_quota',
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
  ],
  context_overflow: [
    400,
    'invalid_request_error',
    'context_length_exceeded',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130211 tokens. Please reduce the length of the messages.",
  ],
  unknown_model: [
    404,
    'invalid_request_error',
    'model_not_found',
    'The model `MODEL` does not exist or you do not have access to it.',
  ],
  bad_request: [
    400,
    'invalid_request_error',
    'unsupported_parameter',
    "Unsupported parameter: 'max_tokens' is not supported with this model.",
  ],
}

/** An error of OpenAI's API, the same for both of its protocols. */
export function openaiError(error: ServerError, model: string): HttpAnswer {
  const [status, type, code, message] = ERRORS[error]
  const body = { error: { message: message.replace('MODEL', model), type, param: null, code } }
  return { status, headers: { 'x-request-id': 'req_5f2c' }, body }
}
