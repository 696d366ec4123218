import { describe, expect, test } from 'vitest'
import type { FailureKind } from './brain.ts'
import { explainFailure } from './failure.ts'

/** As the providers' libraries throw it. */
function answer(status: number, message: string, fields: object = {}) {
  const responseBody = JSON.stringify({ error: { message, ...fields } })
  return Object.assign(new Error(message), { statusCode: status, responseBody })
}

/** The same, in a body of another form. */
function otherwise(status: number, body: object) {
  const error = new Error('Bad Request')
  return Object.assign(error, { statusCode: status, responseBody: JSON.stringify(body) })
}

/** What many of them call every request that they do not take. */
const INVALID = 'invalid_request_error'

const WORDS: readonly (readonly [number, string, FailureKind, object?])[] = [
  [400, 'prompt is too long: 210042 tokens > 200000 maximum', 'context_overflow'],
  [
    400,
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000',
    'context_overflow',
  ],
  [400, "This model's maximum prompt length is 131072 but it has 537812", 'context_overflow'],
  [400, 'the request exceeds the available context size, try increasing it', 'context_overflow'],
  [400, 'The number of tokens to keep from the initial prompt is too big', 'context_overflow'],
  [400, 'Input tokens exceed the configured limit of 272000 tokens.', 'context_overflow'],
  [400, 'Your request exceeded model token limit: 262144', 'context_overflow'],
  [
    429,
    'Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000.',
    'context_overflow',
  ],
  [400, 'Range of input length should be [1, 129024]', 'context_overflow', { type: INVALID }],
  [400, 'Prompt exceeds max length', 'context_overflow', { code: '1261' }],
  [422, '`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000', 'context_overflow'],
  [422, '`inputs` must have less than 1024 tokens. Given: 1100', 'context_overflow'],
  [
    400,
    'Unable to submit request because the input token count is 1048600 but model only supports up to 1048576. Reduce the input token count and try again.',
    'context_overflow',
    { status: 'INVALID_ARGUMENT' },
  ],
  [
    400,
    'too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 130000.',
    'context_overflow',
  ],
  [400, 'too many tokens: size limit exceeded by 11326 tokens.', 'context_overflow'],
  [400, 'litellm.ContextWindowExceededError: litellm.BadRequestError', 'context_overflow'],
  [
    400,
    'The decoder prompt (length 2136) is longer than the maximum model length of 2048. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    'context_overflow',
    { type: 'BadRequestError', code: 400 },
  ],
  [
    400,
    'prompt token count of 138898 exceeds the limit of 64000',
    'context_overflow',
    { code: 'model_max_prompt_tokens_exceeded' },
  ],
  [400, 'Too much', 'context_overflow', { code: 'model_max_prompt_tokens_exceeded' }],
  [
    400,
    '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    'rejected',
    { type: INVALID, param: 'max_tokens' },
  ],
  [400, '`prompt` + `max_tokens` must be less than the context_length of 8192', 'context_overflow'],
  [400, 'Range of max_tokens should be [1, 8192]', 'rejected', { type: INVALID }],
  [422, '`max_new_tokens` must be <= 512. Given: 1000', 'rejected'],
  [429, 'Too many tokens per minute, please wait before trying again.', 'rate_limited'],
  [429, 'Too many tokens, please wait before trying again.', 'rate_limited'],
  [400, 'Your credit balance is too low to access the Anthropic API.', 'quota'],
  [400, 'You have reached your specified API usage limits.', 'quota'],
  [402, 'Insufficient Balance', 'quota'],
  [402, 'This request requires more credits, or fewer max_tokens.', 'quota'],
  [429, 'You exceeded your current quota', 'quota', { code: 'insufficient_quota' }],
  [429, 'Your prepayment credits are depleted.', 'quota', { status: 'RESOURCE_EXHAUSTED' }],
  [429, 'You exceeded your current quota', 'rate_limited', { status: 'RESOURCE_EXHAUSTED' }],
  [
    429,
    'Rate limit reached. Add a payment method at https://platform.openai.com/account/billing.',
    'rate_limited',
  ],
  [
    429,
    'Server is temporarily limiting requests (not your usage limit) · This request would exceed',
    'rate_limited',
  ],
  [400, 'Budget has been exceeded! Current cost: 7.2e-05, Max budget: 1e-07', 'quota'],
  [429, 'Budget has been exceeded! Current cost: 7.2e-05, Max budget: 1e-07', 'quota'],
  [400, 'ExceededBudget: User=x over budget. Spend=0.1, Budget=0.05', 'quota'],
  [400, 'ExceededTokenBudget: Current spend for token: 2.1; Max Budget: 2.0', 'quota'],
  [400, 'No more', 'quota', { type: 'budget_exceeded' }],
  [
    429,
    'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day',
    'quota',
  ],
  [429, 'Rate limit exceeded: free-models-per-min.', 'rate_limited'],
  [
    400,
    'Access denied, please make sure your account is in good standing.',
    'quota',
    { code: 'Arrearage' },
  ],
  [429, 'Check your plan', 'quota', { type: 'exceeded_current_quota_error' }],
  [429, 'The usage limit has been reached', 'quota', { type: 'usage_limit_reached' }],
  [429, 'No more for today', 'quota', { type: 'usage_limit_reached' }],
  [
    400,
    'Gemini API free tier is not available in your country. Please enable billing on your project.',
    'quota',
    { status: 'FAILED_PRECONDITION' },
  ],
  [
    400,
    'User location is not supported for the API use without a billing account linked.',
    'quota',
    { status: 'FAILED_PRECONDITION' },
  ],
  [400, 'This organization has been disabled.', 'auth', { type: 'invalid_request_error' }],
  [
    400,
    'Your organization must be verified to stream this model.',
    'auth',
    { type: 'invalid_request_error', param: 'stream', code: 'unsupported_value' },
  ],
  [400, 'API key not valid. Please pass a valid API key.', 'auth'],
  [
    400,
    'Authentication Error - Expired Key. Key Expiry time 2025-01-01 00:00:00+00:00 and current time 2025-01-06 12:00:00+00:00',
    'auth',
    { type: 'expired_key', code: '400' },
  ],
  [
    400,
    'No models loaded. Please load a model in the developer page or use the `lms load` command.',
    'auth',
    { type: INVALID, param: 'model' },
  ],
  [
    500,
    "An error occurred (AccessDeniedException) when calling the ConverseStream operation: You don't have access to the model with the specified model ID.",
    'auth',
  ],
  [
    502,
    'Bedrock streaming failed: Model access is denied due to IAM user or service role is not authorized to perform the required AWS Marketplace actions',
    'auth',
  ],
  [400, 'User location is not supported for the API use.', 'auth'],
  [403, 'Country, region, or territory not supported', 'auth'],
  [404, 'The model `x` does not exist or you do not have access to it.', 'auth'],
  [400, 'Invalid prompt: your prompt was flagged as potentially violating', 'refused'],
  [
    403,
    'openai/gpt-x requires moderation on OpenAI. Your input was flagged for "violence".',
    'refused',
    {
      code: 403,
      metadata: { reasons: ['violence'], flagged_input: 'rate limit', model_slug: 'x' },
    },
  ],
  [403, 'Content violates usage guidelines.', 'refused'],
  [400, 'The response was filtered', 'refused', { code: 'content_filter' }],
  [500, 'error parsing tool call: raw=\'{"a"\', err=unexpected end', 'invalid_output'],
  [
    500,
    'error parsing tool call: raw=\'{"q": "rate limit"\', err=unexpected end',
    'invalid_output',
  ],
  [
    500,
    'Failed to parse input at pos 13: <tool_call>{"name": "read_fi',
    'invalid_output',
    { code: 500, type: 'server_error' },
  ],
  [500, 'XML syntax error on line 3: element <parameter> closed by </function>', 'invalid_output'],
  [
    500,
    'failed to parse XML: XML syntax error on line 1: element <tool_call> closed by </arg_value>',
    'invalid_output',
  ],
  [500, 'expected element type <function> but have <parameter>', 'invalid_output'],
  [
    500,
    'The model produced output that does not match the expected peg-native format',
    'invalid_output',
    { code: 500, type: 'server_error' },
  ],
  [400, 'failed to parse grammar', 'rejected', { type: INVALID }],
  [
    400,
    "Failed to call a function. Please adjust your prompt. See 'failed_generation' for details.",
    'invalid_output',
    { type: 'invalid_request_error', code: 'tool_use_failed', failed_generation: '<function=a' },
  ],
  [
    400,
    'tool call validation failed: parameters for tool a did not match schema: errors: [`/b`: ...]',
    'invalid_output',
    { type: 'invalid_request_error', code: 'tool_use_failed' },
  ],
  [
    400,
    'Provider returned error',
    'context_overflow',
    { code: 400, metadata: { raw: '{"error":{"message":"prompt is too long: 2 > 1"}}' } },
  ],
  [
    400,
    'Provider returned error',
    'rejected',
    { code: 400, metadata: { raw: '{"error":{"message":"tools.0: Field required"}}' } },
  ],
  [400, 'tools.0.input_schema: Field required', 'rejected', { type: 'invalid_request_error' }],
  [401, 'Invalid token (request id: 2025)', 'auth', { type: 'new_api_error', code: '' }],
  [401, '无效的令牌 (request id: 20240101)', 'auth', { type: 'one_api_error' }],
  [
    403,
    'user quota is not enough, remaining: $0.00',
    'quota',
    { type: 'new_api_error', code: 'insufficient_user_quota' },
  ],
  [403, '用户额度不足', 'quota', { type: 'one_api_error', code: 'insufficient_user_quota' }],
  [
    403,
    'token quota is not enough',
    'quota',
    { type: 'one_api_error', code: 'pre_consume_token_quota_failed' },
  ],
  [400, 'field messages is required', 'rejected', { type: 'new_api_error' }],
  [429, 'Slow down', 'rate_limited', { type: 'new_api_error' }],
  [503, 'No available channel for model x', 'overloaded', { type: 'new_api_error' }],
  [500, 'Internal server error', 'overloaded', { type: 'api_error' }],
  [400, 'Provider returned error: Overloaded', 'overloaded'],
  [301, 'Moved Permanently', 'rejected'],
  [408, 'Request Timeout', 'timeout'],
  [409, 'Conflict', 'overloaded'],
  [424, 'Model stream error, try your request again', 'overloaded'],
  [424, 'Request failed during generation: CUDA out of memory', 'overloaded', { type: INVALID }],
  [424, 'prompt is too long: 210042 tokens > 200000 maximum', 'context_overflow'],
  [424, 'API key not valid. Please pass a valid API key.', 'auth'],
  [498, 'Flex tier capacity exceeded', 'overloaded', { code: 'capacity_exceeded' }],
  [499, 'The request was cancelled', 'overloaded'],
  [400, 'The model has crashed without additional information. (Exit code: 1)', 'overloaded'],
  [400, 'Model unloaded.', 'overloaded'],
  [400, 'Model was unloaded while the request was still in queue.', 'overloaded'],
  [529, 'Overloaded', 'overloaded'],
  [503, '', 'overloaded'],
]

describe('words of real providers', () => {
  const context = { answering: false, secrets: [], nowMs: Date.now() }

  for (const [status, message, kind, fields] of WORDS) {
    test(`${status} ${message}: ${kind}`, () => {
      const failure = explainFailure(answer(status, message, fields), context)
      expect(failure.kind).toBe(kind)
      expect(failure.message).toContain(String(status))
    })
  }

  test.each([
    ['Incorrect API key provided: xa***Ju. You can obtain an API key from https://console.x.ai.'],
    ['Incorrect%20API%20key%20provided:%20ba***na.%20You%20can%20obtain%20an%20API%20key'],
  ])('400 with a code beside it, from xAI: %s: auth', (error) => {
    const body = { code: 'Client specified an invalid argument', error }
    const failure = explainFailure(otherwise(400, body), context)
    expect(failure).toMatchObject({ kind: 'auth', message: expect.stringContaining('key') })
  })

  test('500 with a detail, from Xinference: context_overflow', () => {
    const said =
      'The decoder prompt (length 66501) is longer than the maximum model length of 65536.'
    const body = { detail: `[address=0.0.0.0:43769, pid=1065] ${said}` }
    expect(explainFailure(otherwise(500, body), context).kind).toBe('context_overflow')
  })
})
