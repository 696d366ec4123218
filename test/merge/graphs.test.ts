import { describe, expect, test } from 'vitest'
import { type GitWorld, openGitWorld, plainGit, writeFiles } from '../git/world.ts'
import { Crash, crashingGit } from './crash.ts'
import { type GraphReport, mergeGraph } from './graphs.ts'
import { openQueue, RUN } from './queue.ts'

/** The long setting is 1000. */
const GRAPHS = Number(process.env.SLIPWAY_GRAPHS ?? 3)

test(`${GRAPHS} random graphs of stories, eight coders and crashes`, { timeout: 1e8 }, async () => {
  const reports: GraphReport[] = []
  for (let seed = 1; seed <= GRAPHS; seed += 1) {
    const report = await mergeGraph(seed)
    reports.push(report)
    expect(report).toMatchObject({ problems: [] })
    if (seed % 50 === 0) console.log(`${seed} graphs`)
  }
  const total = (key: 'stories' | 'merges' | 'conflicts' | 'redGates' | 'crashes') =>
    reports.reduce((sum, report) => sum + report[key], 0)
  const { stories, merges } = { stories: total('stories'), merges: total('merges') }
  expect(merges).toBe(stories)
  const [conflicts, redGates, crashes] = [total('conflicts'), total('redGates'), total('crashes')]
  console.log(
    `${GRAPHS} graphs: ${stories} stories, ${merges} merges, ${conflicts} conflicts, ${redGates} red gates, ${crashes} crashes`,
  )
  for (const count of [conflicts, redGates, crashes]) expect(count).toBeGreaterThan(0)
})

describe('a crash at every command of a merge', () => {
  async function prepared(): Promise<{ world: GitWorld; head: string }> {
    const world = await openGitWorld({ 'a.txt': 'a\n', 'gate.sh': 'test -e a.txt\n' })
    const owner = { run: RUN, story: 's1' }
    const { folder } = await world.workspaces.prepare(owner, world.base)
    writeFiles(folder, { 'a.txt': 'b\n' })
    const head = (await world.workspaces.commit(owner, 'work')) as string
    return { world, head }
  }

  test.each(['before', 'after'] as const)('%s it', { timeout: 600_000 }, async (when) => {
    for (let atCommand = 1, crashed = true; crashed; atCommand += 1) {
      const { world, head } = await prepared()
      try {
        const queue = await openQueue(world, crashingGit(world.git, atCommand, when))
        crashed = await queue.merge('s1', head).then(
          () => false,
          (error) => error instanceof Crash,
        )
        if (!crashed) expect(atCommand).toBeGreaterThan(10)
        const again = await (await openQueue(world)).merge('s1', head)
        // Also where the first try got so far: what it had tested is in nobody's hands.
        expect(again).toMatchObject({ kind: 'merged', gate: expect.any(String) })
        const log = plainGit(world.repositories.mirror, 'log', '--format=%s', 'main')
        expect(log).toBe('Story s1\ninit')
        expect(plainGit(world.repositories.work, 'for-each-ref', 'refs/heads')).toBe('')
      } finally {
        await world.close()
      }
    }
  })
})
