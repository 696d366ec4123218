import { expect, test } from 'vitest'
import { fitBody, fitTitle, quieten } from './outward-text.ts'

const GAP = '\u200b'

test.each([
  ['ask @octocat', `ask @${GAP}octocat`],
  ['@acme/team, look', `@${GAP}acme/team, look`],
  ['Fixes #12 and closes acme/app#7', `Fixes #${GAP}12 and closes acme/app#${GAP}7`],
  ['resolves GH-3', `resolves GH-${GAP}3`],
  ['see https://github.com/a/b/issues/4', `see https://github.com/a/b/issues/${GAP}4`],
  ['see https://github.com/a/b/pull/4', `see https://github.com/a/b/pull/${GAP}4`],
  ['mail to a@example.org, a # and 1 @ 2', 'mail to a@example.org, a # and 1 @ 2'],
  ['# Heading\n\n\tcode', '# Heading\n\n\tcode'],
  ['\u0000a\u001b]8;;evil\u0007b\r\n', 'a]8;;evilb\n'],
])('%j reaches nobody', (text, quiet) => {
  expect(quieten(text)).toBe(quiet)
})

test('the trailers of a merge stay as they are', () => {
  const trailers = `Slipway-Run: r1\nSlipway-Head: ${'a1'.repeat(20)}`
  expect(quieten(trailers)).toBe(trailers)
})

test('a title is one line that fits, and is never empty', () => {
  expect(fitTitle('  two\r\n lines ')).toBe('two lines')
  expect(fitTitle('\n')).toBe('Untitled')
  expect(fitTitle('x'.repeat(300))).toHaveLength(256)
  expect(fitTitle(`${'x'.repeat(255)}😀`)).toBe('x'.repeat(255))
})

test('a body fits, and says where it was cut', () => {
  expect(fitBody('x'.repeat(60_000))).toHaveLength(60_000)
  const long = fitBody('x'.repeat(60_001))
  expect(long).toHaveLength(60_000)
  expect(long.endsWith('x\n\n[shortened]')).toBe(true)
})
