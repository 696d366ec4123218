import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MergeOutcome } from '../../src/effects/merge/merge-story.ts'
import { forgetUnsettled } from '../../src/effects/merge/unsettled.ts'
import { type GitWorld, openGitWorld, plainGit, writeFiles } from '../git/world.ts'
import { Crash, crashingGit } from './crash.ts'
import { openQueue, type Queue, RUN } from './queue.ts'

let world: GitWorld
let queue: Queue

beforeEach(async () => {
  world = await openGitWorld({
    'DOC.md': 'one\ntwo\nthree\n',
    bin: '\0base',
    'del.txt': 'delete me\n',
    'gate.sh': 'exit 0\n',
  })
  queue = await openQueue(world)
})

afterEach(() => world.close())

const mainLog = () =>
  plainGit(world.repositories.mirror, 'log', '--format=%s', 'refs/heads/main').split('\n')
const onMain = (path: string) => plainGit(world.repositories.mirror, 'show', `main:${path}`)
const refs = () => plainGit(world.repositories.work, 'for-each-ref', 'refs/slipway/unsettled')

/** Two stories that conflict in a text, in a file that is none, and in one that the first deletes. */
async function conflict(): Promise<MergeOutcome<string>> {
  const first = await queue.work('s1', (folder) => {
    writeFiles(folder, { 'DOC.md': 'one\ntarget\nthree\n', bin: '\0target' })
    rmSync(join(folder, 'del.txt'))
  })
  const second = await queue.work(
    's2',
    (folder) =>
      writeFiles(folder, {
        'DOC.md': 'one\nstory\nthree\n',
        bin: '\0story',
        'del.txt': 'changed\n',
      }),
    world.base,
  )
  expect(await queue.merge('s1', first)).toMatchObject({ kind: 'merged' })
  const outcome = await queue.merge('s2', second)
  expect(outcome).toMatchObject({ kind: 'conflicted' })
  return outcome
}

/** What an outcome says of each file. */
function kinds(outcome: MergeOutcome<string>): Record<string, string> {
  if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
  return Object.fromEntries(outcome.conflicts.map(({ path, kind }) => [path, kind]))
}

const settleText = (folder: string) => writeFiles(folder, { 'DOC.md': 'one\nboth\nthree\n' })
const settleAll = (folder: string) => {
  settleText(folder)
  writeFiles(folder, { bin: '\0both' })
  rmSync(join(folder, 'del.txt'), { force: true })
}

describe('a conflict that nobody settled', () => {
  test('is told again, and never merged', async () => {
    const told = await conflict()
    const untouched = await queue.mend('s2', told, () => {})
    const again = await queue.merge('s2', untouched)
    const unsettled = { 'DOC.md': 'unsettled', bin: 'unsettled', 'del.txt': 'unsettled' }
    expect(kinds(again)).toEqual(unsettled)
    if (again.kind !== 'conflicted') throw new Error(again.kind)
    const [doc, bin, del] = ['DOC.md', 'bin', 'del.txt'].map((path) =>
      again.conflicts.find((one) => one.path === path),
    )
    expect(doc).toMatchObject({
      message: /marks/,
      hunks: [{ target: 'target\n', story: 'story\n' }],
    })
    expect(bin?.message).toContain('as the target has it, and what the story did to it is left out')
    expect(del?.message).toContain('as the story has it, and what the target did to it is left out')
    expect(mainLog()).toEqual(['Story s1', 'init'])
    // Its workspace has what was handed in, so that nothing is done twice.
    const settled = await queue.mend('s2', again, settleAll)
    const merged = await queue.merge('s2', settled)
    expect(merged).toMatchObject({ kind: 'merged' })
    expect(merged).not.toHaveProperty('asLeft')
    expect(onMain('DOC.md')).toBe('one\nboth\nthree')
    expect(refs()).toBe('')
  })

  test('is the coder’s decision when it is handed in once more, but marks never are', async () => {
    const told = await conflict()
    const head = await queue.mend('s2', told, settleText)
    const asked = await queue.merge('s2', head, { atMs: 1_000 })
    expect(kinds(asked)).toEqual({ bin: 'unsettled', 'del.txt': 'unsettled' })
    // The same merge, tried again after a crash, is no second hand-in.
    const tried = await queue.merge('s2', head, { atMs: 1_000 })
    expect(kinds(tried)).toEqual(kinds(asked))
    const same = await queue.mend('s2', asked, () => {})
    expect(same).toBe(head)
    const merged = await queue.merge('s2', same, { atMs: 2_000 })
    expect(merged).toMatchObject({ kind: 'merged', asLeft: ['bin', 'del.txt'] })
    expect(onMain('del.txt')).toBe('changed')
  })

  test.each([
    ['the last mark', '>>>>>>> '],
    ['the base', '||||||| '],
  ])('is found by %s alone, however often it is handed in', async (_, mark) => {
    let outcome = await conflict()
    for (const atMs of [1_000, 2_000, 3_000]) {
      const head = await queue.mend('s2', outcome, (folder) => {
        const text = readFileSync(join(folder, 'DOC.md'), 'utf8')
        const isMark = (line: string) => /^(<{7}|={7}|>{7}|\|{7})/.test(line)
        const lines = text.split('\n').filter((line) => !isMark(line) || line.startsWith(mark))
        settleAll(folder)
        writeFileSync(join(folder, 'DOC.md'), lines.join('\n'))
      })
      outcome = await queue.merge('s2', head, { atMs })
      expect(kinds(outcome)).toEqual({ 'DOC.md': 'unsettled' })
    }
    expect(mainLog()).toEqual(['Story s1', 'init'])
  })

  test('is asked about where a line between the sides was left, which a heading may have', async () => {
    const told = await conflict()
    const head = await queue.mend('s2', told, (folder) => {
      settleAll(folder)
      writeFiles(folder, { 'DOC.md': 'heading\n=======\nboth\n' })
    })
    const asked = await queue.merge('s2', head, { atMs: 1_000 })
    expect(kinds(asked)).toEqual({ 'DOC.md': 'unsettled' })
    const same = await queue.mend('s2', asked, () => {})
    expect(await queue.merge('s2', same, { atMs: 2_000 })).toMatchObject({ kind: 'merged' })
  })

  test('stays so while the target moves on and conflicts anew', async () => {
    const told = await conflict()
    const head = await queue.mend('s2', told, settleText)
    const third = await queue.work('s3', (folder) =>
      writeFiles(folder, { 'DOC.md': 'one\nthird\nthree\n' }),
    )
    await queue.merge('s3', third)
    const again = await queue.merge('s2', head)
    expect(kinds(again)).toEqual({ 'DOC.md': 'contents', bin: 'unsettled', 'del.txt': 'unsettled' })
    const untouched = await queue.mend('s2', again, () => {})
    const once = await queue.merge('s2', untouched)
    // The two that were asked about are decided now; the marks are not.
    expect(kinds(once)).toEqual({ 'DOC.md': 'unsettled' })
    const settled = await queue.mend('s2', once, settleText)
    expect(await queue.merge('s2', settled)).toMatchObject({
      kind: 'merged',
      asLeft: ['bin', 'del.txt'],
    })
  })

  test('is forgotten with the attempt that had it', async () => {
    await conflict()
    const owner = { run: RUN, story: 's2' }
    await queue.workspaces.remove(owner)
    await forgetUnsettled(world.git, world.repositories.work, owner)
    // On the target as it is, without a word about the file that is no text.
    const head = await queue.work('s2', (folder) => writeFiles(folder, { 'new.txt': 'x' }))
    expect(await queue.merge('s2', head)).toMatchObject({ kind: 'merged' })
  })

  test.each(['before', 'after'] as const)(
    'stays so when the process ends %s any command',
    { timeout: 120_000 },
    async (when) => {
      const told = await conflict()
      const head = await queue.mend('s2', told, settleText)
      for (let atCommand = 1, crashed = true; crashed; atCommand += 1) {
        const crashing = await openQueue(world, crashingGit(world.git, atCommand, when))
        crashed = await crashing.merge('s2', head).then(
          () => false,
          (error) => error instanceof Crash,
        )
        if (!crashed) expect(atCommand).toBeGreaterThan(10)
        const again = await (await openQueue(world)).merge('s2', head)
        expect(kinds(again)).toEqual({ bin: 'unsettled', 'del.txt': 'unsettled' })
      }
      expect(mainLog()).toEqual(['Story s1', 'init'])
    },
  )
})
