import { createHash, generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { holdsSecret, REDACTED, redact, redactByLine } from './redaction.ts'

const bytes = (seed: string) => createHash('sha512').update(seed).digest()
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const PEM = key.export({ type: 'pkcs8', format: 'pem' }) as string

/** Values of every kind that people use; none of them looks like one of a known provider. */
const CANARIES: readonly string[] = [
  ...['a', 'b', 'c', 'd'].map((seed) => bytes(seed).toString('hex').slice(0, 40)),
  ...['e', 'f', 'g', 'h'].map((seed) => bytes(seed).toString('base64')),
  ...['i', 'j'].map((seed) => bytes(seed).toString('base64url').slice(0, 43)),
  'correct horse battery staple',
  'p@ss/w+rd=100%&more',
  '"quoted" and \\back\\slashed',
  "it's <b>bold</b> & \t tabbed",
  'Grüße, 密码 и пароль',
  '8 emoji 🔑🔒',
  'hunter22',
  'C:\\keys\\mine.pem',
  '$(cat /run/secret) `id`',
  PEM,
]

/** How a text may carry a value. */
const ENCODINGS: Readonly<Record<string, (value: string) => string>> = {
  'as it is': (value) => value,
  'in JSON': (value) => JSON.stringify({ value }),
  'in JSON in JSON': (value) => JSON.stringify({ text: JSON.stringify({ value }) }),
  'in JSON three times': (value) => JSON.stringify(JSON.stringify(JSON.stringify(value))),
  'in JSON of ASCII': (value) =>
    JSON.stringify(value).replace(
      /[\u007f-\uffff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  'in JSON with slashes escaped': (value) => JSON.stringify(value).replaceAll('/', '\\/'),
  'percent-encoded': (value) => `?key=${encodeURIComponent(value)}&x=1`,
  'percent-encoded in small letters': (value) =>
    encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
  'percent-encoded twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  'as a form': (value) => new URLSearchParams({ value }).toString(),
  'as a URL': (value) => encodeURI(value),
  'in hexadecimal': (value) => Buffer.from(value).toString('hex'),
  'in HEXADECIMAL': (value) => Buffer.from(value).toString('hex').toUpperCase(),
  'in base64': (value) => Buffer.from(value).toString('base64'),
  'in base64 after one byte': (value) => Buffer.from(`:${value}`).toString('base64'),
  'in base64 after two': (value) => Buffer.from(`x:${value}:y`).toString('base64'),
  'in base64 for URLs': (value) => Buffer.from(`user:${value}`).toString('base64url'),
  'in base64 in lines': (value) =>
    Buffer.from(`some words before it: ${value}`).toString('base64').replace(/.{76}/g, '$&\r\n'),
  'in base64 in lines in JSON': (value) =>
    JSON.stringify(Buffer.from(`before ${value}`).toString('base64').replace(/.{64}/g, '$&\n')),
  'in base64, percent-encoded': (value) =>
    encodeURIComponent(ENCODINGS['in base64']?.(value) ?? ''),
  'in markup': (value) =>
    value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  'quoted for a shell': (value) => `'${value.replaceAll("'", `'\\''`)}'`,
}

/** Undoes every encoding at every place, and looks. */
function survives(text: string, value: string): boolean {
  const lines = [text, text.replace(/\r?\n|\\r\\n|\\n/g, '')]
  const texts = lines.flatMap((each) => [each, each.replaceAll('\\/', '/')])
  const found = [...texts]
  for (const each of texts) {
    for (const run of each.match(/[A-Za-z0-9+/_-]{8,}/g) ?? []) {
      for (const shift of [0, 1, 2, 3]) {
        found.push(Buffer.from(run.slice(shift), 'base64').toString())
      }
      for (const shift of [0, 1]) found.push(Buffer.from(run.slice(shift), 'hex').toString())
    }
    found.push(
      each.replace(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(`0x${code}` as never)),
    )
    found.push(each.replace(/\\+(["\\])/g, '$1'))
    found.push(unpercent(each), unpercent(unpercent(each)))
  }
  return found.some((each) => each.includes(value.trim()))
}

const unpercent = (text: string) =>
  Buffer.from(
    text.replace(/%([0-9a-fA-F]{2})/g, (_, code) => String.fromCharCode(Number(`0x${code}`))),
    'latin1',
  ).toString()

describe('known secrets', () => {
  test.each(Object.entries(ENCODINGS))('are found %s', (_, encode) => {
    for (const secret of CANARIES) {
      const encoded = encode(secret)
      const redacted = redact(`before ${encoded} after`, CANARIES)
      expect(redacted, secret).toContain(REDACTED)
      expect(holdsSecret(`before ${encoded} after`, [secret]), secret).toBe(true)
      expect(redacted).not.toContain(encoded)
      expect(survives(redacted, secret), `${secret} in ${redacted}`).toBe(false)
    }
  })

  test('are not taken for in what only looks like one, or has half of one', () => {
    const text = `ghp_${'a'.repeat(40)} correct horse`
    expect(redact(text, CANARIES)).not.toBe(text)
    expect(holdsSecret(text, CANARIES)).toBe(false)
  })

  test('of 8 characters and more never survive', () => {
    const printable = fc.string({ minLength: 8, maxLength: 60, unit: 'binary' })
    const secrets = fc
      .array(printable, { minLength: 1, maxLength: 3 })
      .filter((all) => all.every((one) => one.trim().length >= 8 && !REDACTED.includes(one.trim())))
    const around = fc.string({ maxLength: 30, unit: 'binary' })
    const encoding = fc.constantFrom(...Object.keys(ENCODINGS))
    fc.assert(
      fc.property(
        secrets,
        fc.array(fc.tuple(around, encoding, fc.nat(2)), { maxLength: 4 }),
        around,
        (values, parts, end) => {
          const text = parts.map(([before, name, i]) => {
            return `${before} ${ENCODINGS[name]?.(values[i % values.length] as string)}`
          })
          const redacted = redact([...text, end].join(' '), values)
          for (const value of values) {
            const forms = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]
            const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '').slice(0, -1)
            for (const form of [...forms, base64]) expect(redacted).not.toContain(form)
          }
        },
      ),
    )
  })

  test('of several lines are found line by line, indented and cut short', () => {
    const lines = PEM.split('\n')
    const quoted = lines.slice(3, 9).map((line) => `    | ${line}`)
    expect(redact(quoted.join('\n'), [PEM])).toBe(quoted.map(() => `    | ${REDACTED}`).join('\n'))
  })

  test('that overlap disappear together', () => {
    const text = 'first-secret-second'
    expect(redact(`<${text}>`, ['first-secret', 'secret-second'])).toBe(`<${REDACTED}>`)
  })

  test('are found with the line end of the file that they were read from', () => {
    expect(redact('key=abcdefgh1234.', ['abcdefgh1234\n'])).toBe(`key=${REDACTED}.`)
  })

  test('are found where the text was cut', () => {
    const secret = bytes('x').toString('hex').slice(0, 40)
    expect(redact(`token ${secret}`.slice(0, 30), [secret])).toBe(`token ${REDACTED}`)
    expect(redact(`${secret} token`.slice(15), [secret])).toBe(`${REDACTED} token`)
    expect(redact(`token ${secret.slice(0, 10)}`, [secret])).toContain(secret.slice(0, 10))
  })

  test('that are no longer than words are left alone', () => {
    expect(redact('a short word', ['', 'a', 'short'])).toBe('a short word')
  })
})

describe('what looks like a secret', () => {
  const hex = bytes('y').toString('hex')
  test.each([
    `sk-ant-api03-${hex}`,
    `sk-proj-${hex}`,
    `ghp_${hex.slice(0, 36)}`,
    `github_pat_${hex}`,
    `glpat-${hex.slice(0, 20)}`,
    'AKIAIOSFODNN7EXAMPLE',
    `AIza${hex.slice(0, 35)}`,
    `xoxb-${hex.slice(0, 30)}`,
    `npm_${hex.slice(0, 36)}`,
    `hf_${hex.slice(0, 34)}`,
    `sk_live_${hex.slice(0, 24)}`,
    `eyJ${hex.slice(0, 30)}.eyJ${hex.slice(0, 40)}.${hex.slice(0, 43)}`,
  ])('is replaced: %s', (value) => {
    expect(redact(`<${value}>`)).toBe(`<${REDACTED}>`)
  })

  test('is a private key, whole, in JSON and cut short', () => {
    for (const text of [PEM.trim(), PEM.trim().replaceAll('\n', '\\n'), PEM.slice(0, 400)]) {
      expect(redact(`<${text}>`)).toBe(`<${REDACTED}>`)
    }
  })

  test.each([
    ['of the last lines', PEM.trim().split('\n').slice(-3).join('\n')],
    ['of all but the first line', PEM.trim().split('\n').slice(1).join('\n')],
    ['in a diff', `-${PEM.trim().split('\n').slice(3).join('\n-')}`],
    ['with the line ends of Windows', PEM.trim().split('\n').slice(2).join('\r\n')],
    ['in JSON', PEM.trim().split('\n').slice(2).join('\\n')],
  ])('is the rest of a private key, %s', (_, rest) => {
    expect(redact(rest)).toBe(REDACTED)
    const before = rest.includes('\\n') ? 'a key: \\n' : 'These are the last lines\n'
    expect(redact(`${before}${rest}\nand more`)).toBe(`${before}${REDACTED}\nand more`)
  })

  const INNER = PEM.trim().split('\n')
  test.each([
    ['with line numbers', INNER.map((line, i) => `${i + 1}\t${line}`)],
    [
      'with where it was found',
      INNER.map((line, i) => `/srv/app/config/keys/server.pem:${i}:${line}`),
    ],
    ['in pieces of a program', INNER.map((line) => `    "${line}\\n" +`)],
    ['as a comment', INNER.map((line) => `        # ${line}`)],
  ])('is a private key %s', (_, lines) => {
    const shown = redact(lines.join('\n'))
    for (const line of INNER.slice(1, -1)) expect(shown).not.toContain(line.slice(0, 24))
  })

  test('is the end of a private key after a mention of its first line', () => {
    const rest = INNER.slice(-4).join('\n')
    const code = `const EDGE = '${INNER[0]}'\n${"log('nothing here is of a key');\n".repeat(99)}`
    expect(redact(`${code}${rest}`)).toBe(`${code}${REDACTED}`)
  })

  test('is a private key that a diff cuts off', () => {
    const diff = (sign: string) =>
      INNER.slice(0, 9)
        .map((line) => `${sign}${line}\n`)
        .join('')
    for (const sign of ['-', '+', ' ']) {
      const shown = redact(`${diff(sign)}@@ -1 +1 @@\n x`)
      for (const line of INNER.slice(1, 9)) expect(shown).not.toContain(line.slice(0, 24))
      expect(shown).toContain('@@ -1 +1 @@')
    }
  })

  test('is taken out line by line where lines are counted', () => {
    const text = `one\n${PEM}last ghp_${hex.slice(0, 36)}\n`
    const shown = redactByLine(text).split('\n')
    expect(shown).toHaveLength(text.split('\n').length)
    expect(shown.slice(0, 3)).toEqual(['one', REDACTED, REDACTED])
    expect(shown.slice(-2)).toEqual([`last ${REDACTED}`, ''])
  })

  test.each([
    ['Authorization: Bearer ', 'abc.def-123/x', ''],
    ['"authorization": "Basic ', 'dXNlcjpwYXNz', '"'],
    ['{\\"Authorization\\":\\"token ', 'abcdef123456', '\\"}'],
    ['x-api-key: ', 'abcdef1234567890', ''],
    ['https://user:', 'pa:ss', '@host/x'],
    ['https://:', 'secret', '@host/x'],
    ['https://', 'a'.repeat(40), '@host/x'],
    ['//registry.example.org/:_authToken=', 'abcdef-123', ''],
    ['_auth = "', 'dXNlcjpwYXNz1234', '"'],
    ['email=me@a.test\n_password=', 'c2VjcmV0MTIzNA', '\n'],
    ['postgres://postgres:', 'Postgres', '@db/app'],
    ['aws_secret_access_key = ', 'a/b+'.repeat(10), ''],
    ['AccountName=a;AccountKey=', `${'a/b+'.repeat(21)}==`, ';EndpointSuffix=x'],
    ['SharedAccessKey=', `${'a/b+'.repeat(10)}=`, ''],
    ['DB_PASSWORD=', 'hunter22', '\nDB_USER=me'],
    ['API_TOKEN=', 'abcdef1234567890', '\nPORT=8080'],
    ['export JWT_SECRET=', 'c0ffee-c0ffee-c0ffee', ' && npm start'],
    ['LLM_API_KEY=', 'abcdef1234567890', ''],
    ['export PGPASSWORD=', 'x7!kd-9', ' && psql'],
    ['Server=db;User Id=me;Password=', 'hunter22', ';'],
    ['psql "host=db password=', 'hunter22', '"'],
    ['Server=db;Uid=me;Pwd=', 'hunter22', ';'],
    ['Server=db;Uid=me;Password=', '/hunter22', ';'],
    ['https://db.example.org/?user=me&password=', 'hunter22', '&ssl=1'],
  ])('is replaced where it stands: %s%s%s', (before, value, after) => {
    expect(redact(`${before}${value}${after}`)).toBe(`${before}${REDACTED}${after}`)
  })

  test.each([
    'curl -H "Authorization: Bearer $TOKEN" or <token> or {{token}}',
    'self._password = password\n    _password = self.password1\nthis._auth = options.auth1 || null',
    'self._auth = build_auth2(auth)\n_auth = build_auth2(auth)\n@_password = params2',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what code looks like.
    '`postgres://${user}:${password}@${host}/app` f"postgresql://{user}:{password1}@{host}/app"',
    'https://$GIT_USER:$GIT_TOKEN@github.com/a https://me:%TOKEN%@a.test https://me:***@a.test',
    'postgres://postgres:postgres@db:5432/app',
    "Authorization: 'Bearer valid-token' and { Authorization: 'Bearer wrong-token' }",
    "'Authorization': 'Basic credentials'",
    "if (text.includes('-----BEGIN PRIVATE KEY-----')) throw new Error('a key')",
    `expect(text).toBe('-----BEGIN PRIVATE KEY-----')
    withoutSurroundingWhitespaceAndEverythingElse()
    end`,
    'An example that ends\n-----END PRIVATE KEY-----\nwithoutAnythingThatCouldBeOne',
    "const EDGES = ['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----']\n".repeat(3),
    `const BEGIN = '-----BEGIN PRIVATE KEY-----'
export const isPrivateKey = (text: string) => withoutSurroundingWhitespace(text).startsWith(BEGIN)
const END = '-----END PRIVATE KEY-----'`,
    'class="sk-folding-cube sk-chasing-dots-container"',
    "headers['x-api-key'] = process.env.ANTHROPIC_API_KEY",
    'see https://example.org/a:b/c@d and user@example.org:path',
    'git@github.com:owner/repository.git at //cdn.example.org/x',
    `DB_PASSWORD=$DB_PASSWORD DB_PASSWORD=\${PASSWORD2:-x} DB_PASSWORD=%PASS1%`,
    'POSTGRES_PASSWORD=postgres PASSWORD=changeme PASSWORD=',
    'API_TOKEN=your-token-goes-here MAX_TOKENS=1234567890123456 TOKEN=$TOKEN CACHE_KEY=user-profiles-of-v2',
    'API_TOKEN=process.env.API_TOKEN1 SECRET=/run/secrets/of-app-1 API_KEY="$KEY_OF_THE_APP_1"',
    "API_TOKEN = 'abcdef1234567890'\nconst API_TOKEN=readTokenOfVersion2(file)",
    "login(user='a', password='test1234', passwd=\"test1234\")",
    'login(password=password1, pwd=read_secret2())\nsuper().__init__(password=os2.environ)',
    'SHLVL=1\nPWD=/home/me/project1\nOLDPWD=/home/me/project2\npwd=~/project1 "PWD=/home/me/v1"',
    'const password = hash1(text); password=form.value1; let password: string',
    'if (password==stored1 || password===stored12) AccountKey=key',
    'PASSWORD=os1.environ["X"] PASSWORD=process.env.PASSWORD1 <input password=field1>',
    `commit ${hex.slice(0, 40)} and sha256 ${hex.slice(0, 64)}`,
    `integrity sha512-${bytes('z').toString('base64')}`,
  ])('is not seen in %j', (text) => {
    expect(redact(text, CANARIES)).toBe(text)
  })

  test('leaves other text as it is', () => {
    const words = fc.array(fc.lorem({ maxCount: 30, mode: 'sentences' }), { maxLength: 5 })
    fc.assert(fc.property(words, (all) => redact(all.join('\n'), CANARIES) === all.join('\n')))
    const source = redact.toString() + JSON.stringify(ENCODINGS)
    expect(redact(source, CANARIES)).toBe(source)
  })
})

describe('time', () => {
  const CHARS = 1_000_000
  const fill = (text: string) => text.repeat(Math.ceil(CHARS / text.length))

  test.each(
    [
      ...[' ', '\n', 'a', '-', ':', '/', '@', '\\', '%', '"', 'A ', 'a\n', '\\n', '%25', '//'],
      ...['eyJaaaaaaaaa-', 'eyJaaaaaaaaa.', 'sk-', 'ghp_', 'authorization: bearer ', '://', '//a:'],
      ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', '-----BEGIN A'],
      ...['\n-----END PRIVATE KEY-----', `A\n-----END PRIVATE KEY-----`, 'A\\n'],
      ...[`-----BEGIN PRIVATE KEY-----${'A'.repeat(30)}`, `${'QUJD'.repeat(19)}\n`, 'SG.aaaaa'],
      ...[`//${'a'.repeat(199)}:${'b'.repeat(1_999)}`, `${'x'.repeat(40)}\\n   `, 'x-api-key:   '],
      ...[
        'PASSWORD=',
        'API_TOKEN=',
        'SECRET=aaaaaaaaaaaaaaaa1.',
        'password=1',
        ' password=aaaaaa1.',
        'AccountKey=',
      ],
      ...CANARIES.slice(3, 6).map((secret) => secret.slice(0, -1)),
      CANARIES.join(' '),
    ].map((unit) => [unit]),
  )('is short for a megabyte of %j', (unit) => {
    const text = `authorization:${fill(unit)}`
    const startedMs = performance.now()
    redact(text, CANARIES)
    // About 0.1 s by itself; an expression that goes over its text again takes minutes.
    expect(performance.now() - startedMs).toBeLessThan(5_000)
  })

  test.each(['a', 'A'])('is short for 4 MB of words of %s that could be encoded', (letter) => {
    const text = fill(`authorization: basic ${letter.repeat(2_000)} `).repeat(4)
    const startedMs = performance.now()
    redact(text)
    // About 0.1 s by itself; to look for the other kind of letter behind each takes 6 s.
    expect(performance.now() - startedMs).toBeLessThan(2_500)
  })

  test('is short for random bytes, and a run of 16 MB breaks nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1_000, maxLength: 2_000 }), (random) => {
        const text = Buffer.from(random).toString('latin1')
        const startedMs = performance.now()
        redact(text + fill(text.slice(0, 50)), CANARIES)
        return performance.now() - startedMs < 5_000
      }),
      { numRuns: 10 },
    )
    expect(redact(`-----BEGIN RSA PRIVATE KEY-----${'A'.repeat(16 * CHARS)}`)).toMatch(
      /^\[redacted/,
    )
  })
})
