import { expect, test } from 'vitest'
import type { Ended } from '../../process/command.ts'
import { explainSilence, explainWords } from './agent-failure.ts'

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
  ['auth', 'Your ANTHROPIC_API_KEY belongs to a disabled organization\ninvalid_request'],
  ['auth', '{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}'],
  ['auth', '401 bad key k-1'],
  ['auth', 'Internal error: 403 Forbidden'],
  ['auth', 'bad key k-1'],
  ['rate_limited', '429: slow down'],
  ['overloaded', '400 files were read and then something happened'],
  ['network', 'stream disconnected before completion: stream closed before response.completed'],
  [
    'network',
    'Connection to the API was lost (ECONNRESET). This is usually temporary\nserver_error',
  ],
  ['network', 'API returned an empty or malformed response (HTTP 200) — check for a proxy'],
  ['network', 'terminated'],
  ['quota', 'Your credit balance is too low to access the Anthropic API.'],
  ['quota', 'Internal error: Credit balance is too low\nbilling_error'],
  [
    'rate_limited',
    'Internal error: API Error: Server is temporarily limiting requests (not your usage limit) · This request would exceed\nrate_limit',
  ],
  ['quota', 'Claude AI usage limit reached|1794848400'],
  ['quota', '5-hour limit reached ∙ resets 3pm'],
  ['quota', 'Weekly limit reached ∙ resets Oct 9 at 5pm'],
  ['quota', 'Session limit reached ∙ resets 3pm'],
  ['quota', 'Opus weekly limit reached ∙ resets Oct 9 at 5pm'],
  ['rate_limited', 'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000'],
  ['quota', "You've hit your limit · resets 5:48pm (UTC)"],
  ['quota', "Internal error: You've hit your weekly limit · resets Nov 19, 3pm (UTC)\nrate_limit"],
  ['quota', "You've hit your org's monthly spend limit · ask your admin to raise it"],
  ['quota', "You've reached your Fable limit. Switch to another model to continue."],
  ['quota', "You've hit your team's shared budget. /model to switch models.\nrate_limit"],
  ['quota', "You're out of usage credits · resets 3pm (UTC)"],
  ['quota', 'Internal error: API Error: Usage credits required for 1M context\nrate_limit'],
  ['quota', "You're out of extra usage · resets 3pm (UTC)"],
  ['quota', 'Your org is out of usage · contact your admin\nrate_limit'],
  ['quota', "Your seat type doesn't include usage"],
  ['quota', 'Your usage allocation has been disabled by your admin'],
  ['quota', 'This service is disabled for your org\nrate_limit'],
  ['quota', "Your group's usage limit is set to $0"],
  ['quota', 'You have exhausted your daily quota on this model.'],
  ['quota', 'You have exhausted your capacity on this model. Your quota will reset after 3s.'],
  ['rate_limited', "You've hit your rate limit, status 429"],
  ['context_overflow', 'prompt is too long: 210000 tokens > 200000 maximum'],
  ['context_overflow', 'Prompt is too long · turn on usage credits for 1M context'],
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

test('a key that was not taken is not told', () => {
  const failure = explainWords('401 bad key own-secret-value', ['own-secret-value'])
  expect(failure.kind).toBe('auth')
  expect(failure.message).toContain('401 bad key [redacted]')
})

test('what an agent says beside its words counts before them', () => {
  const kindOf = (told: Parameters<typeof explainWords>[2]) =>
    explainWords('API Error: it did not work', [], told).kind
  expect(kindOf({ statusCode: 429 })).toBe('rate_limited')
  expect(kindOf({ statusCode: 429, code: 'usage_limit_reached' })).toBe('quota')
  expect(kindOf({ statusCode: 404, type: 'not_found_error' })).toBe('auth')
  expect(kindOf({ type: 'overloaded_error' })).toBe('overloaded')
  expect(kindOf({})).toBe('overloaded')
})

const MODEL = 'I add the page that unauthorized users of the author see: API Error: 401, code: 404.'

const silent = (
  ended: Partial<Record<'how' | 'stdout' | 'stderr', string>>,
  exitCode: number | null,
  hasSpoken = true,
) =>
  explainSilence(
    {
      how: ended.how,
      exitCode,
      stdout: Buffer.from(ended.stdout ?? ''),
      stderr: Buffer.from(ended.stderr ?? ''),
    } as unknown as Ended,
    { secrets: [], hasSpoken },
  )

test('an agent that is gone is not judged by the words of its model', () => {
  expect(silent({ how: 'killed', stdout: MODEL }, null).kind).toBe('network')
  expect(silent({ how: 'killed', stderr: MODEL }, null).kind).toBe('network')
  expect(silent({ how: 'exited', stdout: MODEL }, 0).kind).toBe('network')
  expect(silent({ how: 'exited', stdout: MODEL, stderr: MODEL }, 137).kind).toBe('network')
  expect(silent({ how: 'exited', stdout: MODEL, stderr: 'something happened' }, 1).kind).toBe(
    'network',
  )
})

test('one that ended by itself is believed what it complained of', () => {
  expect(silent({ how: 'exited', stderr: 'Not logged in. Please run /login' }, 1).kind).toBe('auth')
  expect(silent({ how: 'not_started', stderr: 'no such program' }, null).kind).toBe('rejected')
})

// As the libraries say it that agents read their arguments with.
test.each([
  "error: unknown option '--setting-sources'",
  "error: unexpected argument '--json' found\n\nUsage: codex exec [OPTIONS] [PROMPT]",
  "error: unrecognized subcommand 'acp'",
  'agent: unrecognized option --acp',
  'usage: agent [-h]\nagent: error: unrecognized arguments: --acp',
  'Unknown arguments: acp, experimentalAcp',
  'Error: unknown flag: --acp',
  'Error: unknown command "acp" for "agent"',
  'flag provided but not defined: -acp',
  'Error: No such command "acp".',
])('one that does not know how it is started is not asked again: %s', (stderr) => {
  const { kind, message } = silent({ how: 'exited', stderr }, 1, false)
  expect(kind).toBe('rejected')
  expect(message).toContain(stderr)
  expect(message).toContain('may have to be updated')
  expect(silent({ how: 'exited', stderr }, 1, true).kind).toBe('network')
  expect(silent({ how: 'killed', stderr }, null, false).kind).toBe('network')
})

test('a fault of the machine is not taken for that', () => {
  const stderr = 'Error: EINVAL: invalid argument, open /home/sandbox/a'
  expect(silent({ how: 'exited', stderr }, 1, false).kind).toBe('network')
})

test('what one printed that never spoke is a complaint, unless it was content', () => {
  const stdout = 'Invalid API key · Please run /login'
  expect(silent({ how: 'exited', stdout }, 1, false).kind).toBe('auth')
  const both = silent({ how: 'exited', stdout, stderr: 'a warning' }, 1, false)
  expect(both).toMatchObject({ kind: 'auth', message: expect.stringContaining(stdout) })
  expect(silent({ how: 'exited', stdout }, 1, true).kind).toBe('network')
  expect(silent({ how: 'exited', stdout }, 0, false).kind).toBe('network')
})

test('what it said is told without colours, and a secret between them is none the less one', () => {
  const stderr = Buffer.from('\u001b[91m\u001b[1mError: \u001b[0mkey own-\u001b[1msecret-value\r\n')
  const ended = { how: 'exited', exitCode: 1, stdout: Buffer.alloc(0), stderr } as unknown as Ended
  const { message } = explainSilence(ended, { secrets: ['own-secret-value'], hasSpoken: true })
  expect(message).toBe('the agent exited with 1: Error: key [redacted]')
})

test.each([1_980, 1_981, 1_990])(
  'no part of a secret is told, with %i characters behind it',
  (chars) => {
    const secret = 'b7Qz91LmPw44xT8kR2vN'
    const said = Buffer.from(`${'x'.repeat(3_000)} key ${secret}${'x'.repeat(chars)}`)
    const ended = { how: 'exited', exitCode: 1, stdout: said, stderr: said } as unknown as Ended
    const { message } = explainSilence(ended, { secrets: [secret], hasSpoken: true })
    for (let at = 0; at + 4 <= secret.length; at += 1) {
      expect(message).not.toContain(secret.slice(at, at + 4))
    }
  },
)

test('a number in a sentence is no status', () => {
  expect(explainWords('killed in code 404 handler', []).kind).toBe('overloaded')
})
