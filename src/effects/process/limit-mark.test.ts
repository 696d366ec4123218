import fc from 'fast-check'
import { expect, test } from 'vitest'
import { limitRangeOf } from './limit-mark.ts'

const hex = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`), { maxLength: length })

const INFINITY = 2n ** 64n - 1n

test('the number of a mark is in the range of every beginning of it, and is no limit of others', () => {
  fc.assert(
    fc.property(hex(16), hex(12), fc.nat(), (folder, self, count) => {
      const whole = limitRangeOf(`A=${folder}.${self}.${count}.`)
      expect(whole?.first).toBe(whole?.last)
      const number = whole?.first ?? 0n
      expect(number).toBeGreaterThan(2n ** 61n)
      expect(number).toBeLessThan(INFINITY)
      for (const mark of [`A=${folder}.`, `A=${folder}.${self}.`]) {
        const range = limitRangeOf(mark)
        expect(number >= (range?.first ?? INFINITY) && number <= (range?.last ?? 0n)).toBe(true)
      }
    }),
  )
})

test('runs, orchestrators and folders have numbers of their own', () => {
  const [folder, self] = ['0123456789abcdef', '0123456789ab']
  const own = limitRangeOf(`A=${folder}.${self}.1.`)?.first ?? 0n
  const others = [`A=${folder}.${self}.2.`, `A=${folder}.0123456789ac.`, 'A=0123456789abcdee.']
  for (const mark of others) {
    const { first = 0n, last = INFINITY } = limitRangeOf(mark) ?? {}
    expect(own >= first && own <= last).toBe(false)
  }
  expect(limitRangeOf('anything else')).toBeUndefined()
})
