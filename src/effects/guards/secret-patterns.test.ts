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

test.each(
  [
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
