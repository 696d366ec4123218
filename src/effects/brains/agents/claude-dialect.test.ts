import { describe, expect, test } from 'vitest'
import type { ConversationTask } from './agent-turn.ts'
import { claudeDialect } from './claude-dialect.ts'

/** How a turn ends by a line as `claude -p` prints it when its provider has failed. */
function endBy(result: string, told: Readonly<Record<string, unknown>>) {
  const task = { report: {}, place: { secrets: [] } } as unknown as ConversationTask
  const line = { type: 'result', is_error: true, subtype: 'success', result, ...told }
  return claudeDialect(task).read(line)
}

// As it said it to a loopback server, signed in with a token of a subscription or with a key.
describe('a failure', () => {
  test.each([
    [
      'rate_limited',
      'API Error: Server is temporarily limiting requests (not your usage limit) · Not now',
      { api_error_status: 429, api_error_type: 'rate_limit_error' },
    ],
    [
      'quota',
      "You've hit your limit",
      {
        api_error_status: 429,
        api_error_type: 'rate_limit_error',
        api_error: 'usage_limit_reached',
      },
    ],
    [
      'quota',
      'API Error: Usage credits required for 1M context · turn on usage credits',
      {
        api_error_status: 429,
        api_error_type: 'rate_limit_error',
        api_error: 'long_context_credits_required',
      },
    ],
    [
      'auth',
      'Failed to authenticate: OAuth token revoked. Please log in again or contact your administrator.',
      { api_error_status: 403, api_error_type: 'permission_error' },
    ],
    [
      'auth',
      'Your organization has disabled Claude subscription access for Claude Code · Use an Anthropic API key instead',
      { api_error_status: 403, api_error_type: 'permission_error' },
    ],
    [
      'auth',
      "There's an issue with the selected model (m). It may not exist or you may not have access to it.",
      { api_error_status: 404, api_error_type: 'not_found_error' },
    ],
    [
      'auth',
      'Your ANTHROPIC_API_KEY belongs to a disabled organization · Update or unset the variable',
      { api_error_status: 400, api_error_type: 'invalid_request_error' },
    ],
    [
      'quota',
      'Credit balance is too low',
      { api_error_status: 400, api_error_type: 'invalid_request_error' },
    ],
    [
      'overloaded',
      'API Error: 529 Overloaded. This is a server-side issue, usually temporary',
      { api_error_status: 529, api_error_type: 'overloaded_error' },
    ],
  ])('%s: %s', (kind, words, told) => {
    expect(endBy(words, told)).toMatchObject({ how: 'failed', failure: { kind } })
  })

  test.each([null, 200, '429', {}])('without a status of an error: %j', (status) => {
    const told = { api_error_status: status, api_error_type: null }
    const end = endBy('API Error: Connection closed mid-response', told)
    expect(end).toMatchObject({ how: 'failed', failure: { kind: 'network' } })
  })
})
