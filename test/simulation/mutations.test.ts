import { describe, expect, test } from 'vitest'
import { MUTATIONS } from './mutations.ts'
import { simulate } from './simulate.ts'
import { SOURCE_MUTATIONS, simulateWith } from './source-mutations.ts'

/** Half of what every test run simulates. */
const SEEDS_MAX = 500

/** Tries seeds until one shows that something is wrong. */
async function expectNotice(run: (seed: number) => ReturnType<typeof simulate>): Promise<void> {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
    const { violations } = await run(seed)
    if (violations.length > 0) return
  }
  expect.fail(`${SEEDS_MAX} seeds did not notice`)
}

test.each(Object.entries(MUTATIONS))('notices around the runtime that %s', async (_, mutation) => {
  await expectNotice((seed) => simulate(seed, mutation))
})

describe('in the source of the runtime', () => {
  test.each(Object.entries(SOURCE_MUTATIONS))('it notices that %s', async (name, mutation) => {
    await expectNotice(await simulateWith(name, mutation))
  })

  test('nothing is noticed without a bug', async () => {
    const line = 'await this.#commit(turn)'
    const same = await simulateWith('no bug', { file: 'turn-loop.ts', line, becomes: line })
    for (const seed of [1, 2, 3]) {
      const { violations, hash } = await same(seed)
      expect(violations).toEqual([])
      expect(hash).toBe((await simulate(seed)).hash)
    }
  })

  test.each([
    ['turn-loop.ts', 'this line is not there', 'turn-loop.ts has 0 times the line'],
    ['turn.ts', '}', /turn\.ts has \d+ times the line/],
    ['nowhere.ts', 'await this.#commit(turn)', 'nowhere.ts has 0 times the line'],
  ])('a bug that has no place of its own in %s is an error', async (file, line, message) => {
    await expect(simulateWith('nowhere', { file, line, becomes: '' })).rejects.toThrow(message)
  })
})
