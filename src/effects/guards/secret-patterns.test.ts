import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { REDACTED, redact } from './redaction.ts'
import { findLookalikes } from './secret-patterns.ts'

const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const PEM = key.export({ type: 'pkcs8', format: 'pem' }) as string
const INNER = PEM.trim().split('\n')

describe('a private key', () => {
  const MARGINS: Readonly<Record<string, (line: string, i: number) => string>> = {
    'far indented': (line) => `            ${line}`,
    'indented in a diff': (line) => `+    ${line}`,
    'indented in the other side of a diff': (line) => `-    ${line}`,
    'with line numbers': (line, i) => `${String(i + 7).padStart(6)}\t${line}`,
  }
  test.each(Object.entries(MARGINS))('is found in part %s', (_, put) => {
    const lines = INNER.map(put)
    for (const part of [lines.slice(0, 9), lines.slice(-9)]) {
      const shown = redact(`before it\n${part.join('\n')}\nand after`)
      for (const line of INNER.slice(1, -1)) expect(shown).not.toContain(line.slice(0, 12))
      expect(shown).toMatch(/^before it\n[^\n]*\[redacted\]\nand after$/)
    }
  })

  test.each([
    ['Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n'],
    ['Version: GnuPG v2\n'],
  ])('is found cut off behind %j', (fields) => {
    const cut = [INNER[0], fields, ...INNER.slice(1, 9)].join('\n')
    expect(redact(`${cut}\nand more`)).toBe(`${REDACTED}\nand more`)
  })

  test('is found in base64, and no certificate is', () => {
    const encoded = Buffer.from(PEM).toString('base64')
    const wrapped = encoded.replaceAll(/.{76}(?=.)/g, '$&\n    ')
    for (const each of [encoded, wrapped]) {
      expect(redact(`  tls.key: ${each}\nkind: Secret`)).toBe(
        `  tls.key: ${REDACTED}\nkind: Secret`,
      )
    }
    const certificate = Buffer.from(PEM.replaceAll('PRIVATE KEY', 'CERTIFICATE')).toString('base64')
    expect(redact(certificate)).toBe(certificate)
  })
})

const HEX = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

test.each([
  ...[`gsk_${HEX}`, `xai-${HEX}`, `pplx-${HEX}`, `r8_${HEX.slice(0, 37)}`, `lin_api_${HEX}`],
  ...[`dop_v1_${HEX}`, `dapi${HEX.slice(0, 32)}`, `shpat_${HEX.slice(0, 32)}`, `sbp_${HEX}`],
  ...[`hvs.${HEX}`, `dckr_pat_${HEX.slice(0, 27)}`, `ATATT3xFf${HEX}`, `rubygems_${HEX}`],
  ...[`AGE-SECRET-KEY-1${HEX.toUpperCase()}`, `whsec_${HEX}`, `glsa_${HEX}`, `tvly-${HEX}`],
])('a key is known by how it begins: %s', (value) => {
  expect(redact(`<${value}>`)).toBe(`<${REDACTED}>`)
})

test.each([
  ['DB_PASSWORD="', 'hunter22', '"'],
  ["export DB_PASSWORD='", 'hunter22', "' # of the test"],
  ['+API_TOKEN="', 'abcdef1234567890', '"\n+PORT="8080"'],
  ['environment:\n  POSTGRES_PASSWORD: ', 'hunter22', '\n  POSTGRES_DB: app1'],
  ['stringData:\n  API_KEY: "', 'abcdef1234567890', '"\n'],
  ['SECRET_KEY_BASE=', HEX, ''],
  ['PRIVATE_KEY=', `0x${HEX}`, ''],
  ['ENCRYPTION_KEY=', HEX, '\n'],
  ['mysqldump --password=', 'hunter22', ' app'],
  ['deploy --auth-token=', 'abcdef1234567890', ''],
  ['spring.datasource.password=', 'hunter22', '\n'],
  ['machine a.test login me password ', 'hunter22', '\n'],
  ['machine a.test\n  login me\n  password ', 'hunter22', '\n'],
  ['  secret_key = "', 'a/b+'.repeat(10), '"'],
  ['"SecretAccessKey": "', 'a/b+'.repeat(10), '",'],
  ['"SessionToken": "', 'a/b+'.repeat(40), '"'],
  ['https://hooks.slack.com/services/', 'T024BE7LD/B1JAB2C3D/b7Qz91LmPw44xTb7Qz91LmPw', ''],
  ['https://discord.com/api/webhooks/123456789012345678/', HEX + HEX.slice(0, 4), ''],
])('a key is known by where it stands: %s%s%s', (before, value, after) => {
  expect(redact(`${before}${value}${after}`)).toBe(`${before}${REDACTED}${after}`)
})

test.each([
  'HostKeyAlgorithms sk-ecdsa-sha2-nistp256@openssh.com,sk-ssh-ed25519-cert-v01@openssh.com',
  'postgres://user:password@localhost/app and https://me:pass@a.test and http://[user:passwd@]host',
  'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
  "env: { DB_PASSWORD: 'test1234', API_TOKEN: 'abcdef1234567890' },\n  DB_PASSWORD: 'test1234',",
  'interface Env {\n  DB_PASSWORD: string\n  API_TOKEN: readTokenOfVersion2()\n}',
  'DB_PASSWORD = "test1234"\n    connect(DB_PASSWORD="test1234")\n    self.password=password1',
  'POSTGRES_PASSWORD: postgres\nPOSTGRES_PASSWORD: $PASSWORD1\nDB_PASSWORD="$PASSWORD1"',
  'f"machine {host} login {user} password {self.password1}"\nmachine a login b password pass1',
  'mysqldump --password=$PASSWORD1 --token=<your-token-goes-here-1> --token-file=/run/secrets/app1',
])('no key is seen in %j', (text) => {
  expect(redact(text)).toBe(text)
})

test.each(
  [
    ...['A_PASSWORD', 'DB_PASSWORD="', '\nDB_PASSWORD: ', '\nDB_PASSWORD="aaaaa1a', 'API_TOKEN: "'],
    ...[
      ' --a--a-',
      ' --password',
      '--token=',
      '\na.password',
      '\na.password=',
      'xai-',
      'hvs.',
      ' ',
    ],
    ...['machine a login b password ', 'machine ', `machine ${'a'.repeat(199)} login `, '\n    - '],
    ...['hooks.slack.com/services/', 'secret_key =', 'SessionToken: ', '\nexport ', '\nAAAA_'],
    `-----BEGIN PRIVATE KEY-----\n${`${' '.repeat(40)}\n`.repeat(7)}`,
    `-----BEGIN PRIVATE KEY-----\n${'  1 1 \n'.repeat(7)}`,
    `-----BEGIN PRIVATE KEY-----\n${`1 ${'A1'.repeat(64)}\n`.repeat(9)}!`,
    `-----BEGIN PRIVATE KEY-----\n${'Version: 1\n'.repeat(9)}`,
    '1 A\n-----END PRIVATE KEY-----',
    'LS0tLS1CRUdJTi',
    `LS0tLS1CRUdJTi${`${'A'.repeat(128)}\n`.repeat(3)}!`,
  ].map((unit) => [unit]),
)('a megabyte of %j takes a short time', (unit) => {
  const text = unit.repeat(Math.ceil(1_000_000 / unit.length))
  const startedMs = performance.now()
  findLookalikes(text)
  // About 0.1 s by itself; an expression that goes over its text again takes minutes.
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})
