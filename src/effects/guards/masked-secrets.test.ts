import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { findMasked } from './masked-secrets.ts'
import { REDACTED, redact } from './redaction.ts'

const KEY = 'Zx81qPl0TrM4vWn9KcYe27HbGdSuJf6A'
const [BEGINNING, END] = [KEY.slice(0, 12), KEY.slice(-12)]

describe('a known secret without its middle', () => {
  test.each(['..', '...', '…', '**', '*****'])('is taken out around %s', (mask) => {
    const text = `Key ${BEGINNING}${mask}${END} is not valid`
    expect(redact(text, [KEY])).toBe(`Key ${REDACTED}${mask}${REDACTED} is not valid`)
  })

  test.each([
    [`${KEY.slice(0, 8)}...`, `${REDACTED}...`],
    [`${KEY.slice(0, -1)}*** it was`, `${REDACTED}*** it was`],
    [`was …${KEY.slice(-8)} or`, `was …${REDACTED} or`],
    [`**${KEY.slice(1)} or`, `**${REDACTED} or`],
    [`${BEGINNING}...${BEGINNING}...${END}`, `${REDACTED}...${REDACTED}...${REDACTED}`],
    [`${KEY}${BEGINNING}...`, `${REDACTED}...`],
  ])('is taken out as far as it is shown: %s', (text, shown) => {
    expect(redact(`Key ${text} here`, [KEY])).toBe(`Key ${shown} here`)
  })

  test.each([
    `${KEY.slice(0, 7)}...${KEY.slice(-7)}`,
    `${BEGINNING}. ${END}`,
    `${BEGINNING} ...`,
    `${KEY.slice(1, 13)}...`,
    `...${KEY.slice(-13, -1)}`,
    '....',
  ])('is told apart from %s', (text) => {
    expect(redact(`Key ${text} here`, [KEY])).toBe(`Key ${text} here`)
  })

  test('leaves what many keys begin with, and no more', () => {
    const key = `sk-proj-${KEY}`
    expect(redact('OPENAI_API_KEY is sk-proj-... here', [key])).toContain('sk-proj-...')
    expect(redact('Key sk-proj-Zx81... here', [key])).toBe(`Key ${REDACTED}... here`)
  })

  test.each([
    ...['.', '*', '…', 'a..', `${BEGINNING}..`, `..${END}`, `${KEY.slice(0, -1)}..`, 'aaaaaaaa..'],
  ])('is looked for in 4 MB of %s in a short time', (unit) => {
    const secrets = Array.from({ length: 50 }, (_, i) =>
      createHash('sha256').update(String(i)).digest('base64url'),
    )
    const text = unit.repeat(Math.ceil(4_000_000 / unit.length))
    const startedMs = performance.now()
    findMasked(text, [...secrets, KEY, 'a'.repeat(40)])
    // Less than 1 s by itself; to go from every mask to every secret takes minutes.
    expect(performance.now() - startedMs).toBeLessThan(10_000)
  })
})
