import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { Random } from '../drill/random.ts'
import { openGitWorld } from '../git/world.ts'
import { RUN } from './world.ts'

/** The long setting is 200. */
const KILLS = Number(process.env.SLIPWAY_KILLS ?? 15)
const TURNS = KILLS * 2
const bundle = 'node_modules/.cache/slipway-thinking'

/** Runs the worker until it is killed or done, and says what it said. */
function live(args: readonly string[], killAfterMs: number | undefined): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const argv = [`${bundle}/chunk/worker.mjs`, ...args]
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
    const said: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(line)
      if (line !== 'ready' || killAfterMs === undefined) return
      setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    })
    child.on('error', reject)
    child.on('close', () => resolve(said))
  })
}

test(`${KILLS} kills while an agent thinks: at most the call in flight is repeated`, {
  timeout: 600_000,
}, async () => {
  mkdirSync(`${bundle}/chunk`, { recursive: true })
  execFileSync('node_modules/.bin/rolldown', [
    'test/thinking/worker.ts',
    '--platform=node',
    '--external=@photostructure/sqlite',
    `--dir=${bundle}/chunk`,
    '--entry-file-names=worker.mjs',
  ])
  cpSync('src/journal/sqlite/migrations', `${bundle}/chunk/migrations`, { recursive: true })
  cpSync('src/effects/prompts', `${bundle}/prompts`, { recursive: true })
  const world = await openGitWorld({ 'a.txt': 'one\n' })
  try {
    const args = [world.scratch, world.base, String(TURNS)]
    const random = new Random(Date.now())
    let said: string[] = []
    let kills = 0
    while (said.length < 2) {
      said = await live(args, kills < KILLS ? random.below(250) : undefined)
      if (said.length < 2) kills += 1
    }
    const { outcome, books } = JSON.parse(said[1] ?? '')
    expect(outcome).toMatchObject({ kind: 'ended', tool: 'done' })
    const { folder } = (await world.workspaces.find({ run: RUN, story: 's1' })) ?? { folder: '' }
    const count = readFileSync(join(folder, 'count.txt'), 'utf8').trim().split('\n')
    const wanted = Array.from({ length: TURNS }, (_, i) => [`${i + 1}a`, `${i + 1}b`]).flat()
    expect([...new Set(count)]).toEqual(wanted)
    // What is repeated follows itself: nothing earlier than the call in flight came again.
    expect(count.filter((line, i) => line !== count[i - 1])).toEqual(wanted)
    expect(count.length - wanted.length).toBeLessThanOrEqual(kills)
    const asked = readFileSync(join(world.scratch, 'asked.txt'), 'utf8').trim().split('\n')
    expect([...new Set(asked)]).toHaveLength(TURNS + 2)
    expect(asked.length - (TURNS + 2)).toBeLessThanOrEqual(kills)
    // Nothing was asked of a model that is not in the books.
    const { spent, reserved } = books.run
    expect(spent.iterations).toBeGreaterThanOrEqual(asked.length)
    expect(spent.iterations).toBeLessThanOrEqual(TURNS + 2 + kills)
    expect(reserved.iterations).toBe(0)
    console.log(`${kills} kills, ${count.length - wanted.length} calls repeated`)
  } finally {
    await world.close()
  }
})
