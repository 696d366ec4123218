import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import { openGit } from '../../src/effects/git/git.ts'
import { changeRefs } from '../../src/effects/git/refs.ts'
import { openRepositories, updateMirror } from '../../src/effects/git/repositories.ts'
import { mergeStory } from '../../src/effects/merge/merge-story.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openWorkspaces } from '../../src/effects/workspace/workspaces.ts'
import { makeFolder, removeFolder } from '../disk.ts'
import { median } from '../rate.ts'
import { type BenchmarkCase, below, type Effort, type Measurements } from '../report.ts'

const GOAL_RATIO = 1.3
const GOAL_GROWTH = 1.3
const OPERATIONS = ['prepare', 'checkpoint', 'merge'] as const
type Operation = (typeof OPERATIONS)[number]
/** `bareMerge`: what plain git takes without a checkout, by the commands that programs call. */
type Times = Record<Operation, number> & { readonly bareMerge?: number }

/** What a coder's workspace costs, beside plain git doing the same. */
export const workspaceCost: BenchmarkCase = {
  summary: 'clone, checkpoint and merge on a repository of 10,000 files, beside plain git',
  measure,
}

/** One story, from its workspace to its merge. */
interface Subject {
  story(name: string): Promise<Times>
}

async function measure({ quick }: Effort): Promise<Measurements> {
  const scratch = makeFolder('workspace')
  try {
    const [files, rounds, between] = quick ? [200, 2, 3] : [10_000, 5, 60]
    const source = join(scratch, 'source')
    await makeRepository(source, files)
    const slipway = await openSlipway(scratch, source)
    const plain = await openPlain(scratch, source)
    const early = await takeTurns({ slipway, plain }, rounds, 'early')
    process.stderr.write(`finishing ${between} more stories\n`)
    for (let i = 0; i < between; i += 1) await slipway.story(`between-${i}`)
    const late = await takeTurns({ slipway, plain }, rounds, 'late')
    await slipway.close()
    return summarise(early, late, rounds + between)
  } finally {
    removeFolder(scratch)
  }
}

type Rounds = Record<'slipway' | 'plain', Times[]>

async function takeTurns(
  subjects: Record<'slipway' | 'plain', Subject>,
  rounds: number,
  name: string,
): Promise<Rounds> {
  const taken: Rounds = { slipway: [], plain: [] }
  for (let round = 0; round <= rounds; round += 1) {
    for (const subject of ['plain', 'slipway'] as const) {
      const times = await subjects[subject].story(`${name}-${round}`)
      if (round > 0) taken[subject].push(times)
    }
  }
  return taken
}

function summarise(early: Rounds, late: Rounds, finished: number): Measurements {
  const figure = (rounds: readonly Times[], operation: Operation) =>
    median(rounds.map((times) => times[operation]))
  const pairs = (operation: Operation) =>
    [early, late].flatMap(({ slipway, plain }) =>
      slipway.map((times, i) => times[operation] / (plain[i]?.[operation] ?? Number.NaN)),
    )
  const rows: Measurements['rows'][number][] = OPERATIONS.flatMap((metric) => [
    { subject: 'slipway', metric, value: figure(early.slipway, metric), unit: 'ms' },
    { subject: 'plain git', metric, value: figure(early.plain, metric), unit: 'ms' },
    {
      subject: `slipway after ${finished} stories`,
      metric,
      value: figure(late.slipway, metric),
      unit: 'ms',
    },
  ])
  const bare = [early, late].flatMap(({ plain }) =>
    plain.map(({ bareMerge = Number.NaN }) => bareMerge),
  )
  const metric = 'merge without a checkout, records and branches'
  rows.push({ subject: 'plain git', metric, value: median(bare), unit: 'ms' })
  const ratios = OPERATIONS.map((operation) =>
    below(`${operation}, times plain git`, GOAL_RATIO, median(pairs(operation))),
  )
  // The machine may have got slower meanwhile: plain git tells by how much.
  const growth = OPERATIONS.map((operation) => {
    const own = figure(late.slipway, operation) / figure(early.slipway, operation)
    const machine = figure(late.plain, operation) / figure(early.plain, operation)
    return below(`${operation}, growth with finished stories`, GOAL_GROWTH, own / machine)
  })
  return { rows, goals: [...ratios, ...growth] }
}

const runFile = promisify(execFile)

async function sh(cwd: string, ...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=A User', '-c', 'user.email=user@example.org']
  const { stdout } = await runFile('git', [...identity, ...args], { cwd, maxBuffer: 1e9 })
  return stdout.trim()
}

async function makeRepository(folder: string, files: number): Promise<void> {
  mkdirSync(folder)
  await sh(folder, 'init', '-q', '-b', 'main')
  for (let i = 0; i < files; i += 1) {
    const path = join(folder, `d${i % 100}`, `e${i % 7}`)
    mkdirSync(path, { recursive: true })
    const lines = Array.from({ length: 20 }, (_, n) => `export const line${n} = ${i * n}\n`)
    writeFileSync(join(path, `f${i}.js`), lines.join(''))
  }
  await sh(folder, 'add', '-A')
  await sh(folder, 'commit', '-qm', 'init')
  await sh(folder, 'repack', '-qad')
}

/** What one turn of a coder changes. */
function edit(folder: string, name: string): void {
  for (let i = 0; i < 5; i += 1) {
    writeFileSync(join(folder, `d${i}`, `e${i}`, `f${i}.js`), `export const by = '${name}'\n`)
  }
  writeFileSync(join(folder, `new-${name}.js`), `export const name = '${name}'\n`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

async function openSlipway(scratch: string, source: string) {
  const state = join(scratch, 'state')
  const processes = openProcesses(state)
  const git = openGit(processes)
  const repositories = await openRepositories(git, state)
  await updateMirror(git, repositories, source)
  const main = await sh(source, 'rev-parse', 'HEAD')
  await changeRefs(git, repositories.mirror, [{ ref: 'refs/heads/main', to: main }])
  const workspaces = openWorkspaces(git, repositories, state)
  const forge = await openLocalForge({ git, repositories, folder: join(state, 'pull-requests') })
  const gate = async () => ({ passed: true, gate: null })
  const parts = { git, repositories, forge, gate }
  const target = 'main'

  async function story(name: string): Promise<Times> {
    const owner = { run: 'r1', story: name }
    const base = await sh(repositories.mirror, 'rev-parse', target)
    const folder = join(state, 'workspaces', 'r1', name)
    const prepare = await timed(() => workspaces.prepare(owner, base))
    edit(folder, name)
    const checkpoint = await timed(() => workspaces.checkpoint(owner))
    const head = (await workspaces.commit(owner, name)) as string
    const draft = { branch: `slipway/r1/${name}`, head, target, title: name, body: '' }
    const opened = await forge.openPullRequest(draft)
    if (!opened.ok) throw new Error(opened.error.message)
    const request = { ...draft, owner, number: opened.value.number, atMs: Date.now() }
    const merge = await timed(async () => {
      const outcome = await mergeStory(parts, request, new AbortController().signal)
      if (outcome.kind !== 'merged') throw new Error(outcome.kind)
    })
    await workspaces.remove(owner)
    return { prepare, checkpoint, merge }
  }
  return { story, close: () => processes.close() }
}

/** The same with the commands that a person would type; the integrator has its own checkout. */
async function openPlain(scratch: string, source: string): Promise<Subject> {
  const mirror = join(scratch, 'plain.git')
  const integrator = join(scratch, 'integrator')
  await sh(scratch, 'clone', '-q', '--bare', source, mirror)
  await sh(scratch, 'clone', '-q', mirror, integrator)
  return {
    async story(name) {
      const folder = join(scratch, `plain-${name}`)
      const prepare = await timed(async () => {
        await sh(scratch, 'clone', '-q', '--no-hardlinks', mirror, folder)
        await sh(folder, 'checkout', '-q', '-b', `plain/${name}`)
      })
      edit(folder, name)
      const checkpoint = await timed(async () => {
        await sh(folder, 'add', '-A')
        await sh(folder, 'commit', '-qm', name)
        await sh(folder, 'push', '-q', 'origin', `plain/${name}`)
      })
      const bareMerge = await timed(() => mergeBare(mirror, `plain/${name}`, name))
      const merge = await timed(async () => {
        await sh(integrator, 'fetch', '-q', 'origin')
        await sh(integrator, 'merge', '-q', '--squash', `origin/plain/${name}`)
        await sh(integrator, 'commit', '-qm', name)
        await sh(integrator, 'push', '-q', 'origin', 'main', `:plain/${name}`)
      })
      removeFolder(folder)
      return { prepare, checkpoint, merge, bareMerge }
    },
  }
}

/** The least that a merge can be, onto a branch that nobody looks at. */
async function mergeBare(mirror: string, branch: string, message: string): Promise<void> {
  const tree = await sh(mirror, 'merge-tree', '--write-tree', 'main', branch)
  const commit = await sh(mirror, 'commit-tree', tree, '-p', 'main', '-m', message)
  await sh(mirror, 'update-ref', 'refs/heads/elsewhere', commit)
}
