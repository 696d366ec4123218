import { expect, test } from 'vitest'
import { bareValues, fieldsInJson, headersIn, inAddresses } from './inner-secrets.ts'

const KEY = 'b7Qz91LmPw44xT'
const base64 = (text: string) => Buffer.from(text).toString('base64')

test.each([
  ['Authorization', `Bearer ${KEY}`, [KEY]],
  ['Authorization', `ApiKey ${KEY}==`, [`${KEY}==`]],
  ['authorization', `SSWS ${KEY}`, [KEY]],
  ['Authorization', `Token token="${KEY}"`, [`token="${KEY}"`, KEY]],
  ['X-Secret', `open ${KEY}`, []],
  ['X-Author', "Jane O'Neil", []],
  ['Authorization', `Basic ${base64(`svc:${KEY}`)}`, [base64(`svc:${KEY}`), KEY]],
  ['X-Key', `basic ${base64(`${KEY}:`)}`, [base64(`${KEY}:`), KEY]],
  ['Authorization', 'Basic c2VjcmV0', ['c2VjcmV0']],
  ['Cookie', `session=${KEY}; theme=dark; zone=Europe/Berlin; v=1`, [KEY]],
  ['Cookie', 'sid="swordfish"; _ga=GA1.2.345', ['swordfish', 'GA1.2.345']],
])('%s: %s is known without the rest', (name, value, bare) => {
  expect(bareValues([name, value]).map(([, each]) => each)).toEqual([value, ...bare])
})

test('fields of JSON are known by the end of their names, as they are meant', () => {
  const fields = { apiKey: KEY, db: [{ dbPass: 'a"b\n1', keyId: 'k-12345', compat: 'v1.2' }] }
  const found = [
    ['apiKey', KEY],
    ['dbPass', 'a"b\n1'],
  ]
  expect(fieldsInJson(JSON.stringify(fields, null, 2))).toEqual(found)
  expect(fieldsInJson(`x ${JSON.stringify(fields)}, "token": 5, "token": "abc`)).toEqual(found)
})

test('headers are lines', () => {
  expect(headersIn('a: b\n  X-Key :c d\r\nnone')).toEqual([
    ['a', 'b'],
    ['X-Key', 'c d'],
  ])
})

test.each([
  [`postgresql://app:${KEY}@localhost/db`, [KEY]],
  [`"redis://:${KEY}@h","x":"a@b"`, [KEY]],
  ['https://me:a@b%2F12@h?x=me@h', ['a@b%2F12', 'a@b/12']],
  ['https://h:8080/a@b postgres://me:short@h mailto:me:you@h', []],
  [`https://h/?team=t-1&api_key=${KEY}#top`, [KEY]],
])('what %s lets in with is known', (text, secrets) => {
  const found = inAddresses(text).map(([, value]) => value)
  expect([...new Set(found)]).toEqual(secrets)
})

test.each(['"a":"', '://a:', '"a" ', '"a\\"', '?a=', 'a: ', 'https://a:b'])(
  'a text of %s alone takes no time',
  (text) => {
    const long = text.repeat(200_000 / text.length)
    const startMs = performance.now()
    for (const find of [fieldsInJson, headersIn, inAddresses]) find(long)
    bareValues(['Cookie', long])
    bareValues(['Authorization', long])
    expect(performance.now() - startMs).toBeLessThan(2_000)
  },
)
