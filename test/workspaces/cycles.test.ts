import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { openRepositories } from '../../src/effects/git/repositories.ts'
import { placeOf } from '../../src/effects/workspace/place.ts'
import { openWorkspaces } from '../../src/effects/workspace/workspaces.ts'
import { Random } from '../drill/random.ts'
import { type GitWorld, openGitWorld, plainGit } from '../git/world.ts'
import { hashOf } from './content.ts'

/** The long setting is 10000. */
const CYCLES = Number(process.env.SLIPWAY_CYCLES ?? 25)
const STORIES_EACH = 20
const bundle = 'node_modules/.cache/slipway-workspaces/worker.mjs'

/** What a story's workspace held when that was last said. */
interface Said {
  readonly word: string
  readonly hash?: string | undefined
  readonly commit?: string | undefined
}

test(`${CYCLES} lives of workspaces, killed at random: every byte is found again`, {
  timeout: 1e8,
}, async () => {
  mkdirSync('node_modules/.cache/slipway-workspaces', { recursive: true })
  const bundling = ['test/workspaces/worker.ts', '--platform=node', `--file=${bundle}`]
  execFileSync('node_modules/.bin/rolldown', bundling, { stdio: 'ignore' })
  const world = await openGitWorld({ f0: 'zero\n', f1: 'one\r\n', 'lib/a.js': 'a\n' })
  const random = new Random(Number(process.env.SLIPWAY_SEED ?? Date.now()))
  const count = { kills: 0, found: 0, inFolder: 0, fromCheckpoint: 0, fromArchive: 0 }
  try {
    for (let next = 0; next < CYCLES; ) {
      const said = await live(world, random, next)
      const begun = [...said.keys()].map((story) => Number(story.slice(1)))
      next = Math.max(next, ...begun.map((n) => n + 1))
      count.kills += 1
      if (count.kills % 100 === 0) console.log(`${next} lives: ${JSON.stringify(count)}`)
      for (const [story, last] of said) {
        if (last.hash === undefined || last.word === 'working') continue
        count[await findAgain(world, story, last)] += 1
        count.found += 1
      }
    }
    console.log(`${CYCLES} lives: ${JSON.stringify(count)}`)
    expect(count.found).toBeGreaterThan(CYCLES / 3)
  } finally {
    await world.close()
  }
})

/** One process's life, up to the kill: what it said last of each story. */
function live(world: GitWorld, random: Random, first: number): Promise<Map<string, Said>> {
  return new Promise((resolve, reject) => {
    const numbers = [random.below(2 ** 31), first, STORIES_EACH].map(String)
    const child = spawn(process.execPath, [bundle, world.state, world.base, ...numbers])
    const said = new Map<string, Said>()
    let errors = ''
    child.stderr.on('data', (chunk) => (errors += chunk))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [word = '', story = '', hash, commit] = line.split(' ')
      if (word === 'ready') setTimeout(() => child.kill('SIGKILL'), random.below(1_500))
      if (story === '') return
      const before = said.get(story)
      if (word === 'found' && hash !== before?.hash) errors += `${story} came back changed\n`
      const own = commit === '-' ? before?.commit : (commit ?? before?.commit)
      said.set(story, { word, hash: hash ?? before?.hash, commit: own })
    })
    child.on('close', () => (errors === '' ? resolve(said) : reject(new Error(errors))))
  })
}

/** Where the work of a story was after the kill: what was there must be what was said. */
async function findAgain(
  world: GitWorld,
  story: string,
  { word, hash, commit }: Said,
): Promise<'inFolder' | 'fromCheckpoint' | 'fromArchive'> {
  const { git, state } = world
  await world.processes.endOrphans()
  const repositories = await openRepositories(git, state)
  const workspaces = openWorkspaces(git, repositories, state)
  const owner = { run: 'r1', story }
  const { folder, checkpointRef } = placeOf(state, owner)
  let where: 'inFolder' | 'fromCheckpoint' | 'fromArchive' = 'inFolder'
  if (word === 'losing') rmSync(folder, { recursive: true, force: true })
  if (!existsSync(folder)) {
    const refs = plainGit(repositories.work, 'for-each-ref', checkpointRef)
    where = refs === '' ? 'fromArchive' : 'fromCheckpoint'
    await workspaces.restore(owner)
  }
  expect(`${story} ${word} ${where} ${hashOf(folder)}`).toBe(`${story} ${word} ${where} ${hash}`)
  if (commit !== undefined) plainGit(folder, 'cat-file', '-e', `${commit}^{commit}`)
  await workspaces.remove(owner)
  expect(existsSync(folder)).toBe(false)
  return where
}
