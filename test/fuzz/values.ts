import fc from 'fast-check'
import type { GitValue } from '../../src/effects/guards/git-guard.ts'
import { knownValues } from './known-values.ts'

const PIECES = [
  '-',
  '--',
  '..',
  '/',
  ':',
  '::',
  '@',
  '@{',
  '~',
  '^',
  '\\',
  '\n',
  '\0',
  ' ',
  '.lock',
  '.git',
  '@[',
  ']',
  '[a]',
]
const ALPHABET = 'abcXYZ019-_./:@~^\\+=,%#?*[]{}()<>|&;$`\'"! \t\n\0äß\u200c\ud800€'

const chars = (alphabet: string, max: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: max })

/** What is plainly right. */
function plausible(kind: GitValue, trap: string): fc.Arbitrary<string> {
  const word = chars('abcdefgXYZ0189_', 8)
  const words = fc.array(word, { minLength: 1, maxLength: 4 })
  const odd = chars('ab -\'"$(){};&|`*?[]<>~#%@=+,.:!\\éß\n', 12)
  switch (kind) {
    case 'branch':
      return fc.oneof(
        words.map((parts) => parts.join('/')),
        fc
          .array(chars('ab_./+@=,%#-', 6), { minLength: 1, maxLength: 3 })
          .map((all) => all.join('/')),
      )
    case 'commit':
      return fc.constantFrom(40, 64).chain((length) => {
        return fc.string({
          unit: fc.constantFrom(...'0123456789abcdef'),
          minLength: length,
          maxLength: length,
        })
      })
    case 'path':
      return fc
        .array(fc.oneof(word, odd), { minLength: 1, maxLength: 4 })
        .map((all) => all.join('/'))
    case 'url':
      return fc.oneof(
        words.map((parts) => `${trap}/none/${parts.join('/')}`),
        odd.map((name) => `${trap}/none/${name}`),
        fc
          .tuple(fc.constantFrom('https://', 'http://', 'ssh://', 'ssh://git@', ''), word, words)
          .map(([scheme, host, path]) => {
            return scheme === ''
              ? `git@${host}:${path.join('/')}`
              : `${scheme}${host}/${path.join('/')}`
          }),
      )
  }
}

/** Values of a kind: known ones, cut and put together, random ones, and right ones. */
export function valuesFor(kind: GitValue, trap: string): fc.Arbitrary<string> {
  const bad = fc.constantFrom(...knownValues(trap))
  const right = plausible(kind, trap)
  const piece = fc.constantFrom(...PIECES)
  const spliced = fc
    .tuple(fc.oneof(right, bad), fc.nat(), fc.oneof(piece, bad))
    .map(([text, at, added]) => {
      const cut = text.length === 0 ? 0 : at % (text.length + 1)
      return text.slice(0, cut) + added + text.slice(cut)
    })
  return fc.oneof(
    { weight: 3, arbitrary: bad },
    { weight: 3, arbitrary: spliced },
    { weight: 1, arbitrary: chars(ALPHABET, 30) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    { weight: 4, arbitrary: right },
  )
}
