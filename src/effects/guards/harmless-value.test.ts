import { expect, test } from 'vitest'
import { isHarmless } from './harmless-value.ts'

test.each([
  ...['us-east-1', 'eu-central-1a', 'dev-team', 'acme-corp', 'shop_db', 'web-frontend', 'debug'],
  ...['production', 'authentication', 'true', 'DEBUG', 'GitHub', 'AcmeCorp', 'Platform Team', 'l3'],
  ...['localhost', 'localhost:5432', 'db.internal.acme.com:5432', '10.0.0.1', '127.0.0.1:8080'],
  ...['dev-1.us.auth0.com', 'abc123xyz.execute-api.us-east-1.amazonaws.com'],
  ...[
    'https://acme.atlassian.net',
    'https://a.test/v2/items?team=web&page=2#top',
    'redis://cache:6379',
  ],
  ...['postgres://shop@db.acme.com/shop_db', 'http://localhost:3000/', 'https://10.0.0.1:8443/api'],
  ...['jane@acme.com', 'jane.doe+ci@mail.acme.co', '2024-06-01', '2024-06-01T10:00:00Z', '10:30'],
  ...['1.2.3', 'v1.2.3-beta.1', '3.11', '20', '-1', '0.5', '80%', '123456789012', '2022-06-28'],
  ...[
    './build/output',
    '../a',
    '/var/lib/shop',
    '~/notes',
    'src/main.ts',
    'C:\\Users\\jane',
    '.env',
  ],
  ...[
    'acme/web-frontend',
    '@acme/tools',
    'gpt-4o-mini',
    'claude-3-5-sonnet-20241022',
    'k8s',
    'e2e',
  ],
  ...['llama-3.1-70b', 'a, b, c', 'read,write', 'node20', 'project2024', 'customer-notifications'],
])('%s is harmless', (value) => {
  expect(isHarmless(value)).toBe(true)
})

test.each([
  ...['b7Qz91LmPw44xT', 'tck_81LmQ0', 'xKqPwTzRvB', 'Qw7z', 'abcdefghijklmnop', '/f3kQ/9zX=='],
  ...['3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'deadbeef00112233445566778899aabb', 'a3f9c2d'],
  ...['AKIAIOSFODNN7EXAMPLE', 'ABCDEFGHIJKLMNOP', 'xoxb-123456789012-abc', 'abcdefghijklm1234'],
  ...['dXNlcjpwYXNz', 'Zx81qPl0TrM4vWn9KcYe27HbGdSuJf6A', 'wqzr kplx tnbv jhgd', '1234567890123'],
  ...['me:swordfish', 'postgres://shop:swordfish@db/shop', 'https://a.test/?q=b7Qz91LmPw44xT'],
  ...['https://hooks.slack.com/services/T024BE7LD/B1JAB2C3D/b7Qz91LmPw44xT', 'Bearer b7Qz91Lm'],
  ...['https://b7Qz91LmPw44xT@sentry.test/1', 'eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl', '{"a":"b"}'],
  ...[
    '1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d.example',
    'word\nword',
    'Abcdefgh-Jklmno-2',
    'qwrtplkj-abcd-efgh',
    '',
    ' ',
    'p4ssw0rd',
    'https://',
  ],
])('%j may be a key', (value) => {
  expect(isHarmless(value)).toBe(false)
})

test.each(['a', 'a-', '1', 'aA', 'https://a.test/', 'a@', '/', 'Aa', '%41'])(
  'a long text of %s is looked at once',
  (part) => {
    const startedMs = performance.now()
    for (let chars = 100; chars <= 200; chars += 1) {
      isHarmless(part.repeat(chars).slice(0, chars))
      isHarmless(`${part.repeat(chars).slice(0, chars - 1)}!`)
    }
    // Some 10 ms; to try every way of dividing one of them would take for ever.
    expect(performance.now() - startedMs).toBeLessThan(5_000)
  },
)
