import { expect, test } from 'vitest'
import { explainWords } from './agent-failure.ts'

// As the agents said it to a loopback server that failed like this.
test.each([
  ['rate_limited', 'Internal error: API Error: Request rejected (429) · This request would exceed'],
  [
    'rate_limited',
    'exceeded retry limit, last status: 429 Too Many Requests, request id: req_5f2c',
  ],
  ['overloaded', 'API Error: Repeated 529 Overloaded errors. The API is at capacity'],
  ['overloaded', 'unexpected status 503 Service Unavailable: The engine is currently overloaded'],
  ['auth', 'unexpected status 401 Unauthorized: Incorrect API key provided: sk-x'],
  ['auth', 'Internal error: Incorrect API key provided: k. You can find your API key at'],
  ['auth', '{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}'],
  ['network', 'stream disconnected before completion: stream closed before response.completed'],
  [
    'network',
    'Connection to the API was lost (ECONNRESET). This is usually temporary\nserver_error',
  ],
  ['network', 'API returned an empty or malformed response (HTTP 200) — check for a proxy'],
  ['network', 'terminated'],
  ['quota', 'Your credit balance is too low to access the Anthropic API.'],
  ['context_overflow', 'prompt is too long: 210000 tokens > 200000 maximum'],
  ['overloaded', 'something that nobody has heard before'],
])('%s: %s', (kind, words) => {
  expect(explainWords(words, []).kind).toBe(kind)
})

test('the message holds no secret, and how long to wait is read from it', () => {
  const failure = explainWords('status 429: key own-secret-value, try again in 6m0s', [
    'own-secret-value',
  ])
  expect(failure.message).not.toContain('own-secret-value')
  expect(failure.retryAfterMs).toBe(360_000)
})
