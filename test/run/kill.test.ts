import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Random } from '../drill/random.ts'
import { plainGit } from '../git/world.ts'
import { makeUser, type User } from './slipway.ts'

/** The long setting is 100. */
const KILLS = Number(process.env.SLIPWAY_RUN_KILLS ?? 4)

/** What the spec of the demo comes to, however often it was interrupted. */
const FILES = ['average', 'characters', 'describe', 'lines', 'sentences', 'top', 'words']

/** Looks at a run, and answers what it asks with the first choice, until it is over. */
async function answerToTheEnd(user: User, between: () => Promise<void>): Promise<void> {
  for (;;) {
    const { stdout, stderr } = await user.slipway('status', '--json')
    if (stdout === '') throw new Error(stderr)
    const view = JSON.parse(stdout)
    if (view.status === 'done') return
    if (view.status === 'failed') throw new Error(stdout)
    for (const { id, choices } of view.questions) {
      await user.slipway('answer', id, choices[0] ?? 'go on')
    }
    await between()
  }
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

test('killed as soon as a story is merged, a run still shows its tests', async () => {
  const user = await makeUser()
  const target = () => {
    try {
      return readFileSync(`${user.state}/git/mirror.git/refs/heads/main`, 'utf8')
    } catch {
      return undefined
    }
  }
  try {
    await user.slipway('run', '../spec.md', '--detach')
    const before = target()
    expect(before).toBeDefined()
    await answerToTheEnd(user, async () => {
      for (let i = 0; i < 400 && target() === before; i += 1) await wait(5)
      if (target() === before || !user.killEngine()) return
      await user.slipway('resume')
      await answerToTheEnd(user, () => wait(300))
    })
    const evidence = await user.slipway('evidence', '--json')
    expect([evidence.code, JSON.parse(evidence.stdout).isComplete]).toEqual([0, true])
  } finally {
    await user.close()
  }
}, 120_000)

test(`${KILLS} kills of the engine: every story is merged once, and the tree is the same`, async () => {
  const seed = Date.now()
  const random = new Random(seed)
  console.log(`seed ${seed}`)
  const trees = new Set<string>()
  let kills = 0
  while (kills < KILLS) {
    const user = await makeUser()
    try {
      await user.slipway('run', '../spec.md', '--detach')
      await answerToTheEnd(user, async () => {
        await wait(random.below(1_500))
        if (kills < KILLS && user.killEngine()) {
          kills += 1
          await user.slipway('resume')
        }
      })
      const log = plainGit(`${user.state}/git/mirror.git`, 'log', '--format=%s', 'main').split('\n')
      expect(new Set(log).size).toBe(log.length)
      expect(log).toHaveLength(8)
      trees.add(plainGit(`${user.state}/git/mirror.git`, 'rev-parse', 'main^{tree}'))
      const names = plainGit(`${user.state}/git/mirror.git`, 'ls-tree', '--name-only', 'main:src')
      expect(names.split('\n').map((name) => name.replace('.js', ''))).toEqual(FILES)
      const evidence = await user.slipway('evidence', '--json')
      expect([evidence.code, JSON.parse(evidence.stdout).isComplete]).toEqual([0, true])
      const replayed = await user.slipway(
        'replay',
        JSON.parse((await user.slipway('status', '--json')).stdout).run,
      )
      expect(replayed.stdout).toContain('Sound')
    } finally {
      await user.close()
    }
  }
  expect(trees.size).toBe(1)
  console.log(`${kills} kills`)
}, 7_200_000)
