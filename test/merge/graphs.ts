import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MergeOutcome } from '../../src/effects/merge/merge-story.ts'
import { Random } from '../drill/random.ts'
import { type GitWorld, openGitWorld, plainGit } from '../git/world.ts'
import { Crash, crashingGit } from './crash.ts'
import { openQueue, RUN, runGate } from './queue.ts'

/** What became of one random graph of stories. */
export interface GraphReport {
  readonly seed: number
  readonly stories: number
  readonly merges: number
  readonly conflicts: number
  readonly redGates: number
  readonly crashes: number
  readonly problems: readonly string[]
}

interface Story {
  readonly id: string
  readonly needs: readonly string[]
  /** A line of a file, after which a line of this story's own is put. */
  readonly hunks: readonly { readonly file: string; readonly line: number; readonly text: string }[]
  /** A number that no other story may have: the gate is red otherwise. */
  claim: number
}

const FILES = 3
const LINES = 6
const CODERS = 8
const ROUNDS_MAX = 40

/** Merges a random graph with eight coders at once and a crash in most merges, and checks it. */
export async function mergeGraph(seed: number): Promise<GraphReport> {
  const random = new Random(seed)
  const stories = makeStories(random)
  const lines = Array.from({ length: LINES }, (_, i) => `line ${i}\n`).join('')
  const files = Array.from({ length: FILES }, (_, i) => [`f${i}.txt`, lines])
  const world = await openGitWorld({
    ...Object.fromEntries(files),
    'claims/README': '',
    'gate.sh': 'test -z "$(cat claims/* | sort | uniq -d)" && ! grep -q "<<<<<<<" *.txt\n',
  })
  try {
    const team = new Team(world, stories, random)
    await team.work()
    return { seed, stories: stories.length, ...team.counts, problems: await team.check() }
  } finally {
    await world.close()
  }
}

function makeStories(random: Random): readonly Story[] {
  const count = 3 + random.below(6)
  return Array.from({ length: count }, (_, i) => {
    const needs = Array.from({ length: i }, (_, j) => `s${j}`).filter(() => random.chance(0.2))
    const hunks = Array.from({ length: 1 + random.below(3) }, (_, n) => ({
      file: `f${random.below(FILES)}.txt`,
      line: random.below(LINES),
      text: `story s${i} hunk ${n}`,
    }))
    return { id: `s${i}`, needs, hunks, claim: random.below(12) }
  })
}

class Team {
  readonly counts = { merges: 0, conflicts: 0, redGates: 0, crashes: 0 }
  readonly #world: GitWorld
  readonly #stories: readonly Story[]
  readonly #random: Random
  readonly #merged = new Set<string>()
  readonly #begun = new Set<string>()
  readonly #problems: string[] = []
  #queueEnd: Promise<unknown> = Promise.resolve()

  constructor(world: GitWorld, stories: readonly Story[], random: Random) {
    this.#world = world
    this.#stories = stories
    this.#random = random
  }

  async work(): Promise<void> {
    while (this.#merged.size < this.#stories.length) {
      const ready = this.#stories.filter(
        ({ id, needs }) => !this.#begun.has(id) && needs.every((need) => this.#merged.has(need)),
      )
      const team = ready.slice(0, CODERS)
      for (const { id } of team) this.#begun.add(id)
      await Promise.all(team.map((story) => this.#code(story)))
    }
  }

  async #code(story: Story): Promise<void> {
    const owner = { run: RUN, story: story.id }
    const { workspaces } = this.#world
    const base = plainGit(this.#world.repositories.mirror, 'rev-parse', 'main')
    const { folder } = await workspaces.prepare(owner, base)
    for (const { file, line, text } of story.hunks) {
      const before = readFileSync(join(folder, file), 'utf8')
      writeFileSync(join(folder, file), before.replace(`line ${line}\n`, `line ${line}\n${text}\n`))
    }
    writeFileSync(join(folder, 'claims', story.id), `${story.claim}\n`)
    for (let round = 1; round <= ROUNDS_MAX; round += 1) {
      const head = (await workspaces.commit(owner, `round ${round}`)) as string
      const outcome = await this.#inTurn(() => this.#mergeWithCrashes(story.id, head))
      if (outcome.kind === 'merged') {
        this.#merged.add(story.id)
        this.counts.merges += 1
        await workspaces.remove(owner)
        return
      }
      await this.#mend(story, outcome)
    }
    throw new Error(`${story.id} was not merged in ${ROUNDS_MAX} rounds`)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queueEnd.then(work)
    this.#queueEnd = result.catch(() => {})
    return result
  }

  /** Each try may end at any command of git; the next one starts with a fresh process's memory. */
  async #mergeWithCrashes(story: string, head: string): Promise<MergeOutcome<string>> {
    for (;;) {
      const atCommand = this.#random.chance(0.6) ? 1 + this.#random.below(24) : Infinity
      const when = this.#random.chance(0.5) ? 'before' : 'after'
      const queue = await openQueue(this.#world, crashingGit(this.#world.git, atCommand, when))
      try {
        return await queue.merge(story, head)
      } catch (error) {
        if (!(error instanceof Crash)) throw error
        this.counts.crashes += 1
      }
    }
  }

  /** What a coder does about a merge that was not: keep both sides, choose another number. */
  async #mend(story: Story, outcome: MergeOutcome<string>): Promise<void> {
    if (outcome.kind !== 'conflicted' && outcome.kind !== 'gate_failed') {
      throw new Error(`${story.id}: ${JSON.stringify(outcome)}`)
    }
    const { workspaces } = this.#world
    const owner = { run: RUN, story: story.id }
    const { folder } = await workspaces.prepare(owner, outcome.onto, outcome.content)
    if (outcome.kind === 'gate_failed') {
      this.counts.redGates += 1
      story.claim += 1
      writeFileSync(join(folder, 'claims', story.id), `${story.claim}\n`)
      return
    }
    this.counts.conflicts += 1
    for (const { path, hunks } of outcome.conflicts) {
      if (hunks.length === 0) this.#problems.push(`${path}: a conflict without hunks`)
      const text = readFileSync(join(folder, path), 'utf8')
      const both = text.replace(/^(<<<<<<<|=======|>>>>>>>).*\n/gm, '').replace(/^\|{7}.*\n/gm, '')
      writeFileSync(join(folder, path), both)
    }
  }

  /** Every hunk is on the target, each story once, and no commit of the target was ever red. */
  async check(): Promise<readonly string[]> {
    const { mirror } = this.#world.repositories
    const text = Array.from({ length: FILES }, (_, i) => plainGit(mirror, 'show', `main:f${i}.txt`))
    const all = text.join('\n').split('\n')
    for (const { hunks } of this.#stories) {
      for (const hunk of hunks) {
        const times = all.filter((line) => line === hunk.text).length
        if (times !== 1) this.#problems.push(`${hunk.text} is ${times} times on the target`)
      }
    }
    const subjects = plainGit(mirror, 'log', '--format=%s', 'main').split('\n').sort()
    const expected = ['init', ...this.#stories.map(({ id }) => `Story ${id}`)].sort()
    if (subjects.join() !== expected.join()) this.#problems.push(`merged: ${subjects.join()}`)
    for (const commit of plainGit(mirror, 'log', '--format=%H', 'main').split('\n')) {
      if (!(await this.#isGreen(commit))) this.#problems.push(`${commit} is red`)
    }
    return this.#problems
  }

  async #isGreen(commit: string): Promise<boolean> {
    const folder = mkdtempSync(join(this.#world.scratch, 'green-'))
    try {
      const archive = join(folder, 'a.tar')
      plainGit(this.#world.repositories.mirror, 'archive', '-o', archive, commit)
      execFileSync('tar', ['-xf', archive, '-C', folder])
      rmSync(archive)
      return (await runGate(folder)).passed
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
}
