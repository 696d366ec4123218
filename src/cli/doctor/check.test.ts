import { expect, test } from 'vitest'
import { bounded, ok } from './check.ts'

test('a check that never ends is itself what was found', async () => {
  const found = await bounded('x', 20, () => new Promise(() => {}))
  expect(found).toEqual([
    { name: 'x', status: 'missing', found: 'no answer within 0.02 s', fix: 'Try it by hand.' },
  ])
})

test('so is one that throws', async () => {
  const found = await bounded('x', 1_000, async () => {
    throw new Error('broken')
  })
  expect(found).toMatchObject([{ status: 'missing', found: 'broken' }])
})

test('one that ends in time is passed on', async () => {
  expect(await bounded('x', 1_000, async () => [ok('x', 'fine')])).toEqual([ok('x', 'fine')])
})
