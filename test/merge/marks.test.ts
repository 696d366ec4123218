import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MergeOutcome } from '../../src/effects/merge/merge-story.ts'
import { forgetUnsettled, unsettledRef } from '../../src/effects/merge/unsettled.ts'
import { type GitWorld, openGitWorld, plainGit, writeFiles } from '../git/world.ts'
import { Crash, crashingGit } from './crash.ts'
import { openQueue, type Queue, RUN } from './queue.ts'

const LINES = Array.from({ length: 10 }, (_, i) => `line ${i}\n`).join('')
const OWNER = { run: RUN, story: 's2' }

/** What a parser of conflicts is tested with; git itself wrote the label of the base for years. */
const FIXTURE = [
  'title',
  ...['1', '2', '3'],
  '<<<<<<< HEAD',
  'a',
  '||||||| merged common ancestors',
  'b',
  '=======',
  'c',
  `>>>>>>> ${'1234567890'.repeat(4)}`,
  'end\n',
].join('\n')

let world: GitWorld
let queue: Queue

beforeEach(async () => {
  world = await openGitWorld({
    'a.txt': LINES,
    bin: '\0base',
    'fixture.txt': FIXTURE,
    'notes.md': 'Changes\n=======\n\n- base\n',
    'gate.sh': 'exit 0\n',
  })
  queue = await openQueue(world)
})

afterEach(() => world.close())

type Change = (folder: string) => void

const write = (files: Record<string, string>) => (folder: string) => writeFiles(folder, files)
const onMain = (path: string) => plainGit(world.repositories.mirror, 'show', `main:${path}`)
const mainLog = () =>
  plainGit(world.repositories.mirror, 'log', '--format=%s', 'refs/heads/main').split('\n')
const recordFile = () => join(world.repositories.work, unsettledRef(OWNER))

async function conflict(target: Change, story: Change): Promise<MergeOutcome<string>> {
  const heads = [await queue.work('s1', target), await queue.work('s2', story)] as const
  expect(await queue.merge('s1', heads[0])).toMatchObject({ kind: 'merged' })
  const outcome = await queue.merge('s2', heads[1])
  expect(outcome).toMatchObject({ kind: 'conflicted' })
  return outcome
}

/** The two sides change the same line, and a file that is no text. */
const conflictInBoth = () =>
  conflict(
    write({ 'a.txt': LINES.replace('line 3', 'target'), bin: '\0target' }),
    write({ 'a.txt': LINES.replace('line 3', 'story'), bin: '\0story' }),
  )
const settleText = write({ 'a.txt': LINES.replace('line 3', 'both') })

async function handIn(outcome: MergeOutcome<string>, change: Change, atMs = 1_000) {
  return queue.merge('s2', await queue.mend('s2', outcome, change), { atMs })
}

/** What an outcome says of each file that is unsettled. */
function unsettled(outcome: MergeOutcome<string>): Record<string, string> {
  if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
  const files = outcome.conflicts.filter(({ kind }) => kind === 'unsettled')
  return Object.fromEntries(files.map(({ path, message }) => [path, message]))
}

describe('marks that a file rightly holds', () => {
  test('are merged with it once its conflict is settled', async () => {
    const titled = (title: string) => write({ 'fixture.txt': FIXTURE.replace('title', title) })
    const told = await conflict(titled('target'), titled('story'))
    expect(await handIn(told, titled('both'))).toMatchObject({ kind: 'merged' })
    expect(onMain('fixture.txt')).toBe(FIXTURE.replace('title', 'both').trim())
  })

  test('are merged with a file that a story brings', async () => {
    const label = `>>>>>>> ${'abcdef0123'.repeat(4)}\n`
    const head = await queue.work('s1', write({ 'new.txt': FIXTURE + label }))
    expect(await queue.merge('s1', head)).toMatchObject({ kind: 'merged' })
  })
})

describe('marks of a conflict', () => {
  test('are found in a file that was moved, and never merged', async () => {
    let outcome = await conflictInBoth()
    const move = (folder: string) => {
      mkdirSync(join(folder, 'docs'))
      renameSync(join(folder, 'a.txt'), join(folder, 'docs', 'a.txt'))
      writeFiles(folder, { bin: '\0both' })
    }
    for (const [atMs, change] of [
      [1_000, move],
      [2_000, write({ 'more.txt': 'x\n' })],
    ] as const) {
      outcome = await handIn(outcome, change, atMs)
      expect(unsettled(outcome)).toEqual({ 'docs/a.txt': expect.stringMatching(/marks/) })
    }
    const settle = write({ 'docs/a.txt': LINES.replace('line 3', 'both') })
    expect(await handIn(outcome, settle, 3_000)).toMatchObject({ kind: 'merged' })
    expect(onMain('docs/a.txt')).toContain('both')
  })

  test('are found when the record of it was deleted', async () => {
    const told = await conflictInBoth()
    rmSync(recordFile())
    const outcome = await handIn(told, write({ 'more.txt': 'x\n' }))
    expect(unsettled(outcome)).toEqual({ 'a.txt': expect.stringMatching(/marks/) })
    expect(mainLog()).toEqual(['Story s1', 'init'])
  })

  test('are none where a line between the sides may be left: it is asked about', async () => {
    const notes = (heading: string, item: string) =>
      write({ 'notes.md': `${heading}\n=======\n\n- ${item}\n` })
    const told = await conflict(notes('Changed', 'target'), notes('Current', 'story'))
    // One line, as on each side, but it is no heading's.
    const left = write({ 'notes.md': 'Changed\n- target\n=======\n- story\n' })
    const asked = await handIn(told, left)
    expect(unsettled(asked)).toEqual({ 'notes.md': expect.stringMatching(/between the two sides/) })
    expect(await handIn(asked, notes('Current', 'both'), 2_000)).toMatchObject({ kind: 'merged' })
  })
})

describe('a record that is damaged', () => {
  const damages = {
    empty: '',
    nonsense: 'garbage\n',
    'about an object that is not there': `${'1'.repeat(40)}\n`,
    'another commit': () => `${world.base}\n`,
  }
  const damage = (how: keyof typeof damages) => {
    const text = damages[how]
    writeFileSync(recordFile(), typeof text === 'string' ? text : text())
  }

  test.each(Object.keys(damages) as (keyof typeof damages)[])(
    '(%s) has everything asked about once more, and no mark merged',
    async (how) => {
      const told = await conflictInBoth()
      const head = await queue.mend('s2', told, write({ 'more.txt': 'x\n' }))
      damage(how)
      const asked = await queue.merge('s2', head, { atMs: 1_000 })
      const all = { 'a.txt': /marks/, 'more.txt': /not known any more/ }
      expect(asked).toMatchObject({ kind: 'conflicted' })
      for (const [path, message] of Object.entries(all)) {
        expect(unsettled(asked)[path]).toMatch(message)
      }
      // The same merge, tried again, is no second hand-in.
      expect(await queue.merge('s2', head, { atMs: 1_000 })).toEqual(asked)
      const merged = await handIn(asked, settleText, 2_000)
      expect(merged).toMatchObject({ kind: 'merged', asLeft: ['more.txt'] })
      expect(plainGit(world.repositories.work, 'for-each-ref', 'refs/slipway/unsettled')).toBe('')
    },
  )

  test('is forgotten with the attempt that had it', async () => {
    await conflictInBoth()
    damage('nonsense')
    await queue.workspaces.remove(OWNER)
    await forgetUnsettled(world.git, world.repositories.work, OWNER)
    const head = await queue.work('s2', write({ 'new.txt': 'x\n' }))
    expect(await queue.merge('s2', head)).toMatchObject({ kind: 'merged' })
  })

  test('stays known as that when the process ends after any command', async () => {
    const told = await conflictInBoth()
    const head = await queue.mend('s2', told, settleText)
    for (let atCommand = 1, crashed = true; crashed; atCommand += 1) {
      damage('empty')
      crashed = await openQueue(world, crashingGit(world.git, atCommand, 'after'))
        .then((crashing) => crashing.merge('s2', head, { atMs: 1_000 }))
        .then(
          () => false,
          (error) => error instanceof Crash,
        )
      if (!crashed) expect(atCommand).toBeGreaterThan(5)
      const again = await queue.merge('s2', head, { atMs: 1_000 })
      expect(Object.keys(unsettled(again))).toEqual(['a.txt'])
    }
  }, 60_000)
})

describe('a file that got two names', () => {
  const rename = (to: string, line: string, text: string) => (folder: string) => {
    rmSync(join(folder, 'a.txt'))
    writeFiles(folder, { [to]: LINES.replace(line, text) })
  }
  const twoNames = () =>
    conflict(rename('b.txt', 'line 1', 'target'), rename('c.txt', 'line 8', 'story'))

  test('is settled by keeping one of them', async () => {
    const told = await twoNames()
    const merged = await handIn(told, (folder) => rmSync(join(folder, 'c.txt')))
    expect(merged).toMatchObject({ kind: 'merged' })
    expect(onMain('b.txt')).toMatch(/target[\s\S]*story/)
  })

  test('is asked about when it keeps both, without a word about a side', async () => {
    const told = await twoNames()
    const asked = unsettled(await handIn(told, write({ 'more.txt': 'x\n' })))
    expect(Object.keys(asked)).toEqual(['a.txt', 'b.txt', 'c.txt'])
    for (const message of Object.values(asked)) expect(message).toMatch(/git had left it\. /)
  })
})

test('a name that git gave to one of two things is asked about, whatever was done to the other', async () => {
  const told = await conflict(write({ 'a.txt': LINES.replace('line 3', 'target') }), (folder) => {
    rmSync(join(folder, 'a.txt'))
    symlinkSync('gate.sh', join(folder, 'a.txt'))
  })
  const settle = (folder: string) => {
    rmSync(join(folder, 'a.txt'))
    writeFiles(folder, { 'a.txt': 'both\n' })
  }
  const asked = await handIn(told, settle)
  const [left = '', ...others] = Object.keys(unsettled(asked))
  expect([left, others]).toEqual([expect.stringMatching(/^a\.txt~[0-9a-f]{40}$/), []])
  const removed = await handIn(asked, (folder) => rmSync(join(folder, left)), 2_000)
  expect(removed).toMatchObject({ kind: 'merged' })
  expect(plainGit(world.repositories.mirror, 'ls-tree', '--name-only', 'main')).not.toContain('~')
})
