import { expect, test } from 'vitest'
import { renewOpencode } from './opencode-renewal.ts'

const OLD = { type: 'oauth', access: 'a1', refresh: 'r1', expires: 1 }
const NEW = { type: 'oauth', access: 'a2', refresh: 'r2', expires: 2 }
const KEY = { type: 'api', key: 'k1' }

function renew(before: object, left: unknown, now: object = before) {
  const [was, by, is] = [before, left, now].map((one) => JSON.stringify(one)) as string[]
  const text = renewOpencode({ before: was ?? '', left: by ?? '', now: is ?? '' })
  return text === undefined ? undefined : JSON.parse(text)
}

test('renewed tokens are kept, and nothing else that was changed', () => {
  const before = { a: { ...OLD, enterpriseUrl: 'own' }, b: KEY, c: OLD }
  const left = {
    a: { ...NEW, enterpriseUrl: 'https://a.example' },
    b: { ...KEY, key: 'k2' },
    'https://a.example': { type: 'wellknown', key: 'K', token: 't' },
    d: NEW,
  }
  expect(renew(before, left)).toEqual({ a: { ...NEW, enterpriseUrl: 'own' }, b: KEY, c: OLD })
})

test('what the user has changed in the meantime stays', () => {
  const left = { a: NEW, b: NEW }
  expect(renew({ a: OLD, b: OLD }, left, { a: KEY, b: OLD, c: KEY })).toEqual({
    a: KEY,
    b: NEW,
    c: KEY,
  })
})

test.each([
  [{ a: OLD }, { a: OLD }],
  [{ a: OLD }, { a: { ...NEW, access: 7 } }],
  [{ a: OLD }, { a: { ...NEW, type: 'wellknown' } }],
  [{ a: KEY }, { a: NEW }],
  [{ a: OLD }, [NEW]],
  [{ a: OLD }, 'nothing'],
])('nothing is renewed from %j by %j', (before, left) => {
  expect(renew(before, left)).toBeUndefined()
})
