import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { AgentId, EffectId, Json } from '../../src/agents/values.ts'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import { mergeHandler } from '../../src/effects/merge/merge-handler.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { runTestsHandler } from '../../src/effects/testing/run-tests-handler.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import { type GitWorld, openGitWorld, plainGit, writeFiles } from '../git/world.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const AT_MS = Date.UTC(2026, 0, 1)

const npm = (test: string) => JSON.stringify({ type: 'module', scripts: { test } })
const TEST_FILE = "import test from 'node:test'\ntest('adds', () => {})\n"
const TAP = "console.log('1..1\\nok 1 - adds')\n"

/** A repository whose stories are merged behind its own tests. */
async function openTarget(files: Record<string, string>) {
  const world: GitWorld = await openGitWorld(files)
  const blobFolder = mkdtempSync(join(tmpdir(), 'slipway-blobs-'))
  closing.push(async () => {
    await world.close()
    rmSync(blobFolder, { recursive: true, force: true })
  })
  const { git, repositories, workspaces, state, processes } = world
  const forge = await openLocalForge({ git, repositories, folder: join(state, 'pull-requests') })
  const isolation = await openUnconfined(processes, { stateFolder: state })
  let runs = 0
  const openSandbox = (workspace: string) => {
    runs += 1
    return isolation.open({ workspace, access: 'write' })
  }
  const limits = { timeoutMs: 60_000, outputBytesMax: 1_000_000 }
  const tests = runTestsHandler({ openSandbox, ...limits, secrets: [] })
  const handler = mergeHandler({ git, repositories, forge, stateFolder: state, tests, secrets: [] })

  return {
    /** How often tests were run. */
    runs: () => runs,
    /** What is on the target. */
    titles: () => plainGit(repositories.mirror, 'log', '--format=%s', 'main').split('\n'),
    /** Merges a story that changes some files, and says what comes of it. */
    async merge(story: string, changed: Record<string, string>, settings: Json = {}) {
      const owner = { run: 'r1', story }
      const target = await forge.readTarget('main')
      if (!target.ok) throw new Error(target.error.message)
      const { folder, branch } = await workspaces.prepare(owner, target.value)
      writeFiles(folder, changed)
      const head = (await workspaces.commit(owner, story)) ?? ''
      const draft = { branch, head, target: 'main', title: story, body: '' }
      const opened = await forge.openPullRequest(draft)
      if (!opened.ok) throw new Error(opened.error.message)
      const input = {
        ...owner,
        ...draft,
        number: opened.value.number,
        atMs: AT_MS,
        tests: settings,
      }
      const effect = { id: 'm:1.0' as EffectId, agent: 'm' as AgentId, kind: 'merge', input }
      const context = { signal: new AbortController().signal, blobs: openBlobFiles(blobFolder) }
      const attempt = await handler.run(effect, context)
      return attempt.ok ? attempt.value : attempt.error
    },
  }
}

const LOST = { kind: 'gate_failed', gate: { verdict: 'no_tests', code: 'evidence_lost' } }

test('a story cannot put something else in the place of the tests', async () => {
  const target = await openTarget({ 'package.json': npm('node --test'), 'a.test.js': TEST_FILE })
  const changed = { 'package.json': npm('node build.js'), 'build.js': '' }
  expect(await target.merge('s1', changed)).toMatchObject(LOST)
  expect(target.titles()).toEqual(['init'])
  // Once for the merged tree, and not again for the target.
  expect(target.runs()).toBe(1)
})

test('nor where only the last merge has shown that the tests report', async () => {
  const target = await openTarget({ 'package.json': npm('node check.js'), 'check.js': TAP })
  const first = await target.merge('s1', { 'a.txt': 'a\n' })
  expect(first).toMatchObject({ kind: 'merged', gate: { evidence: 'counted' } })
  expect(await target.merge('s2', { 'check.js': '' })).toMatchObject(LOST)
  expect(target.titles()).toEqual(['s1', 'init'])
  // The user may say that something else is to be run.
  const commands = [{ argv: ['node', 'check.js'] }]
  expect(await target.merge('s3', { 'check.js': '' }, { commands })).toMatchObject({
    kind: 'merged',
    gate: { verdict: 'passed', evidence: 'exit_code' },
  })
})

const CHECK = 'if (1 + 1 !== 2) process.exit(1)\n'

test.each<[string, Record<string, string>]>([
  ['that nobody has installed', { 'package.json': npm('jest') }],
  ['that finds no file', { 'package.json': npm('node --test') }],
  ['that finds an empty file', { 'package.json': npm('node --test'), 'a.test.js': '// later\n' }],
])('a target with a runner %s takes the first tests, however they are run', async (_, files) => {
  const target = await openTarget(files)
  // What runs nothing is no test, though nothing is lost by it.
  const idle = await target.merge('s1', { 'package.json': npm('true') })
  expect(idle).toMatchObject({ kind: 'gate_failed', gate: { verdict: 'no_tests' } })
  const changed = { 'package.json': npm('node check.js'), 'check.js': CHECK }
  expect(await target.merge('s2', changed)).toMatchObject({
    kind: 'merged',
    gate: { verdict: 'passed', evidence: 'exit_code' },
  })
  expect(target.titles()).toEqual(['s2', 'init'])
})

test('scripts with assertions are tests, and cannot be put aside either', async () => {
  const script = "import assert from 'node:assert'\nassert.equal(1 + 1, 2)\n"
  const target = await openTarget({ 'package.json': npm('node --test'), 'a.test.js': script })
  const changed = { 'package.json': npm('node build.js'), 'build.js': '' }
  expect(await target.merge('s1', changed)).toMatchObject(LOST)
  expect(await target.merge('s2', { 'b.js': 'export default 2\n' })).toMatchObject({
    kind: 'merged',
    gate: { evidence: 'counted', counts: { executed: 1 } },
  })
})

test('tests that never reported go on by their exit code', async () => {
  const target = await openTarget({ 'package.json': npm('node check.js'), 'check.js': '' })
  for (const story of ['s1', 's2']) {
    const outcome = await target.merge(story, { [`${story}.txt`]: 'x\n' })
    expect(outcome).toMatchObject({ kind: 'merged', gate: { evidence: 'exit_code' } })
  }
})
