import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentId, BlobRef, EffectId, Json } from '../../src/agents/values.ts'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import { openPullRequestHandler } from '../../src/effects/forge/pull-request-handler.ts'
import { mergeHandler } from '../../src/effects/merge/merge-handler.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { runTestsHandler } from '../../src/effects/testing/run-tests-handler.ts'
import { readDiff } from '../../src/effects/workspace/diff.ts'
import {
  checkpointHandler,
  cleanUpHandler,
  prepareWorkspaceHandler,
} from '../../src/effects/workspace/workspace-handlers.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import type { EffectHandler } from '../../src/runtime/effect-handler.ts'
import { type GitWorld, openGitWorld, plainGit, writeFiles } from '../git/world.ts'

const TEST_FILE = `import test from 'node:test'
import assert from 'node:assert'
import { add } from './add.js'
test('adds', () => assert.equal(add(1, 2), 3))
`

/** What no message, diff or outcome may hold: one that is known, and one that looks like it. */
const KNOWN = 'correct-horse-battery'
const TOKEN = `ghp_${'aB3dE5fG7h'.repeat(4).slice(0, 36)}`
const SECRETS = [KNOWN]

let world: GitWorld
let blobFolder: string
let handlers: Record<string, EffectHandler>

beforeEach(async () => {
  world = await openGitWorld({
    'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }),
    'add.js': 'export const add = (a, b) => a + b\n',
    'add.test.js': TEST_FILE,
  })
  blobFolder = mkdtempSync(join(tmpdir(), 'slipway-blobs-'))
  const { git, repositories, workspaces, state, processes } = world
  const forge = await openLocalForge({ git, repositories, folder: join(state, 'pull-requests') })
  const isolation = await openUnconfined(processes, { stateFolder: state })
  const tests = runTestsHandler({
    openSandbox: (workspace) => isolation.open({ workspace, access: 'write' }),
    timeoutMs: 60_000,
    outputBytesMax: 1_000_000,
    secrets: [],
  })
  const diffOf = (from: string, to: string) => readDiff(git, repositories, { from, to })
  handlers = {
    prepare_workspace: prepareWorkspaceHandler(workspaces, forge),
    checkpoint: checkpointHandler(workspaces, diffOf, SECRETS),
    clean_up: cleanUpHandler(workspaces),
    run_tests: tests,
    open_pull_request: openPullRequestHandler(forge, SECRETS),
    merge: mergeHandler({ git, repositories, forge, stateFolder: state, tests, secrets: SECRETS }),
  }
})

afterEach(async () => {
  await world.close()
  rmSync(blobFolder, { recursive: true, force: true })
})

function attempt(kind: string, input: Json) {
  const effect = { id: 'coder-1:1.0' as EffectId, agent: 'coder-1' as AgentId, kind, input }
  const context = { signal: new AbortController().signal, blobs: openBlobFiles(blobFolder) }
  return (handlers[kind] as EffectHandler).run(effect, context)
}

async function carryOut(kind: string, input: Json): Promise<Record<string, Json>> {
  const outcome = await attempt(kind, input)
  if (!outcome.ok) throw new Error(`${kind}: ${JSON.stringify(outcome.error)}`)
  return outcome.value as Record<string, Json>
}

const S1 = { run: 'r1', story: 's1' }

/** A story's way from its workspace to its merge, with nothing but effects. */
async function handIn(story: string, files: Record<string, string>) {
  const owner = { run: 'r1', story }
  const { folder, branch } = await carryOut('prepare_workspace', { ...owner, target: 'main' })
  writeFiles(folder as string, files)
  const { head } = await carryOut('checkpoint', { ...owner, message: `Work on ${story}` })
  const draft = { branch: branch as string, head: head as string, target: 'main', title: story }
  const { number } = await carryOut('open_pull_request', { ...draft, body: '' })
  return { ...owner, ...draft, body: '', number: number as number, atMs: 1_700_000_000_000 }
}

describe('a story as effects', () => {
  test('is prepared, tested, handed in, merged behind its tests, and cleaned up', async () => {
    const merge = await handIn('s1', { 'add.js': 'export const add = (a, b) => b + a\n' })
    const { folder } = await carryOut('prepare_workspace', { ...S1, target: 'main' })
    const tested = await carryOut('run_tests', { workspace: folder as string })
    expect(tested).toMatchObject({ verdict: 'passed', counts: { executed: 1, passed: 1 } })
    const merged = await carryOut('merge', merge)
    expect(merged).toMatchObject({
      kind: 'merged',
      gate: { verdict: 'passed', counts: { executed: 1 } },
    })
    expect(plainGit(world.repositories.mirror, 'log', '-1', '--format=%s', 'main')).toBe('s1')
    await carryOut('clean_up', S1)
    await carryOut('clean_up', S1)
  })

  test('a workspace stays on the commit that it was made on, unless it is to be on the target', async () => {
    const own = { run: 'r1', story: 'own', target: 'main' }
    const { base } = await carryOut('prepare_workspace', own)
    const merge = await handIn('s1', { 'add.js': 'export const add = (a, b) => b + a\n' })
    const { commit } = await carryOut('merge', merge)
    expect(await carryOut('prepare_workspace', own)).toMatchObject({ base })
    const current = { ...own, onto: 'target' }
    const made = await carryOut('prepare_workspace', current)
    expect(made).toMatchObject({ base: commit })
    expect(readFileSync(join(made.folder as string, 'add.js'), 'utf8')).toContain('b + a')
    // One that is there already is not touched.
    writeFiles(made.folder as string, { 'note.txt': 'mine\n' })
    await carryOut('prepare_workspace', current)
    expect(existsSync(join(made.folder as string, 'note.txt'))).toBe(true)
  })

  test('two that break each other: the second does not become the target', async () => {
    const first = await handIn('s1', {
      'add.js': 'export const sum = (a, b) => a + b\nexport const add = sum\n',
    })
    const breaking = TEST_FILE.replace('1, 2), 3', '1, 2), 4').replace("'adds'", "'adds one more'")
    const second = await handIn('s2', { 'more.test.js': breaking })
    await carryOut('merge', first)
    expect(await carryOut('merge', second)).toMatchObject({
      kind: 'gate_failed',
      gate: { verdict: 'failed', commands: [{ failing: ['adds one more'] }] },
    })
    expect(plainGit(world.repositories.mirror, 'log', '-1', '--format=%s', 'main')).toBe('s1')
  })

  test('whose test script says nothing about tests is not merged', async () => {
    const manifest = { type: 'module', scripts: { test: 'node --test > /dev/null' } }
    const silent = await handIn('s1', { 'package.json': JSON.stringify(manifest) })
    expect(await carryOut('merge', silent)).toMatchObject({
      kind: 'gate_failed',
      gate: { code: 'nothing_reported' },
    })
  })

  test('without any test is not merged', async () => {
    const bare = await handIn('s1', { 'package.json': '{}' })
    const merge = { ...bare, tests: { commands: [] } }
    expect(await carryOut('merge', merge)).toMatchObject({
      kind: 'gate_failed',
      gate: { code: 'no_command' },
    })
  })

  test('shows no secret, in whatever it stores or sends', async () => {
    const text = `const keys = ['${KNOWN}', '${TOKEN}']\n`
    const first = await handIn('s1', { 'keys.js': `// ${text}` })
    await carryOut('merge', first)
    await carryOut('clean_up', S1)
    const owner = { run: 'r1', story: 's2' }
    const { folder, branch } = await carryOut('prepare_workspace', {
      ...owner,
      target: 'main',
      base: world.base,
    })
    writeFiles(folder as string, { 'keys.js': text, 'new.js': text })
    const message = `Add ${KNOWN} and ${TOKEN}`
    const checkpoint = await carryOut('checkpoint', { ...owner, message })
    const head = checkpoint.head as string
    const texts = { title: `Use ${KNOWN}`, body: `Use ${TOKEN}` }
    const draft = { branch: branch as string, head, target: 'main', ...texts }
    const { number } = await carryOut('open_pull_request', draft)
    const merge = { ...owner, ...draft, number: number as number, atMs: 1_700_000_000_000 }
    const conflicted = await carryOut('merge', merge)
    expect(conflicted).toMatchObject({ kind: 'conflicted', conflicts: [{ path: 'keys.js' }] })
    const { onto, content } = conflicted as Record<string, string>
    const base = { base: onto as string, content: content as string }
    await carryOut('prepare_workspace', { ...owner, target: 'main', ...base })
    writeFiles(folder as string, { 'keys.js': text })
    const settled = await carryOut('checkpoint', { ...owner, message })
    const next = { ...draft, head: settled.head as string }
    await carryOut('open_pull_request', next)
    const merged = await carryOut('merge', { ...merge, ...next })
    expect(merged).toMatchObject({ kind: 'merged' })

    const { work, mirror } = world.repositories
    const blobs = openBlobFiles(blobFolder)
    const diff = await blobs.get(checkpoint.diff as unknown as BlobRef)
    const record = readFileSync(join(world.state, 'pull-requests', `${number}.json`), 'utf8')
    const shown = [
      JSON.stringify([conflicted, checkpoint, merged]),
      Buffer.from(diff).toString(),
      record,
      plainGit(work, 'log', '-1', '--format=%B', head),
      plainGit(mirror, 'log', '-1', '--format=%B', 'main'),
    ]
    for (const door of shown) {
      expect(door).not.toContain(KNOWN)
      expect(door).not.toContain(TOKEN)
    }
    for (const door of shown) expect(door).toContain('[redacted]')
    // What is in git stays as it was written.
    expect(plainGit(mirror, 'show', 'main:new.js')).toBe(text.trim())
  })

  test('tells no more of conflicts than fits its row, however long the names are', async () => {
    const deep = Array.from({ length: 14 }, (_, i) => `${'d'.repeat(98)}${i}`).join('/')
    const names = (count: number, name: (i: number) => string) =>
      Array.from({ length: count }, (_, i) => name(i))
    const texts = names(10, (i) => `a${i}.txt`)
    const others = names(100, (i) => `${deep}/f${i}`)
    const files = (side: string) => ({
      ...Object.fromEntries(texts.map((path) => [path, `${side} ${path}\n`.repeat(500)])),
      ...Object.fromEntries(others.map((path) => [path, `\0${side} ${path}`])),
    })
    const [first, second] = [
      await handIn('s1', files('target')),
      await handIn('s2', files('story')),
    ]
    expect(await carryOut('merge', first)).toMatchObject({ kind: 'merged' })
    const outcome = await carryOut('merge', second)
    const bytesMax = handlers.merge?.policy?.outputBytesMax ?? 0
    const bytesOf = (value: Json) => Buffer.byteLength(JSON.stringify(value))
    expect(outcome).toMatchObject({ kind: 'conflicted' })
    expect(bytesOf(outcome)).toBeGreaterThan(110_000)
    expect(bytesOf(outcome)).toBeLessThan(bytesMax)
    const told = outcome.conflicts as { hunksLeftOut: number }[]
    const further = outcome.further as { count: number }
    expect(told.length + further.count).toBe(110)

    /** Settles the texts, and leaves the others as they are. */
    const again = async ({ onto, content }: Record<string, Json>, atMs: number) => {
      const base = { base: onto as string, content: content as string }
      const owner = { run: 'r1', story: 's2' }
      const { folder } = await carryOut('prepare_workspace', { ...owner, target: 'main', ...base })
      writeFiles(folder as string, Object.fromEntries(texts.map((path) => [path, 'both\n'])))
      const { head } = await carryOut('checkpoint', { ...owner, message: 'Settle' })
      const next = { ...second, head: head as string, atMs }
      await carryOut('open_pull_request', next)
      return carryOut('merge', next)
    }
    const asked = await again(outcome, 1_000)
    expect(asked).toMatchObject({ kind: 'conflicted', further: { count: expect.any(Number) } })
    expect(bytesOf(asked)).toBeLessThan(bytesMax)
    const merged = await again(asked, 2_000)
    expect(merged).toMatchObject({ kind: 'merged' })
    expect((merged.asLeft as string[]).at(-1)).toMatch(/^and \d+ more/)
    expect(bytesOf(merged)).toBeLessThan(bytesMax)
  }, 60_000)

  test.each([
    ['prepare_workspace', { run: 'r1' }],
    ['prepare_workspace', { run: 'r1', story: '../x', target: 'main' }],
    ['prepare_workspace', { ...S1, target: 'main', base: '--upload-pack=x' }],
    ['checkpoint', 'nonsense'],
    ['clean_up', null],
    ['merge', { ...S1, target: 'main', head: 'x', title: 't', body: '', number: 1, atMs: 1 }],
    ['merge', {}],
  ] as [string, Json][])('%s refuses %j for good', async (kind, input) => {
    expect(await attempt(kind, input)).toMatchObject({ ok: false, error: { retry: 'never' } })
  })
})
