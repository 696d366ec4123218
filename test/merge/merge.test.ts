import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { contentOf, type GitWorld, openGitWorld, plainGit, writeFiles } from '../git/world.ts'
import { openQueue, type Queue, RUN } from './queue.ts'

const LINES = Array.from({ length: 20 }, (_, i) => `line ${i}`)
const withLine = (i: number, text: string) =>
  `${LINES.map((line, n) => (n === i ? text : line)).join('\n')}\n`

let world: GitWorld
let queue: Queue

beforeEach(async () => {
  world = await openGitWorld({
    'a.txt': `${LINES.join('\n')}\n`,
    'gone.txt': 'x\n',
    'image.bin': '\0\x01\x02',
    // Red when both marks are there: each story is sound, the two together are not.
    'gate.sh': 'if [ -e left ] && [ -e right ]; then echo both; exit 1; fi; echo fine\n',
  })
  queue = await openQueue(world)
})

afterEach(() => world.close())

async function work(story: string, files: Record<string, string>, base = world.base) {
  const { folder } = await queue.workspaces.prepare({ run: RUN, story }, base)
  writeFiles(folder, files)
  const head = await queue.workspaces.commit({ run: RUN, story }, `Work on ${story}`)
  return head as string
}

const mainLog = () =>
  plainGit(world.repositories.mirror, 'log', '--format=%s', 'refs/heads/main').split('\n')
const branches = () =>
  plainGit(world.repositories.work, 'for-each-ref', '--format=%(refname)', 'refs/heads')

describe('a merge', () => {
  test('is one commit on the target, of the reviewed head, and the branch is gone', async () => {
    const head = await work('s1', { 'a.txt': withLine(3, 'mine') })
    const before = contentOf(world.user, [])
    const outcome = await queue.merge('s1', head)
    expect(outcome).toMatchObject({
      kind: 'merged',
      onto: world.base,
      asTested: true,
      gate: 'fine\n',
    })
    expect(mainLog()).toEqual(['Story s1', 'init'])
    expect(plainGit(world.repositories.mirror, 'log', '-1', '--format=%b', 'main')).toContain(
      `Slipway-Head: ${head}`,
    )
    expect(branches()).toBe('')
    expect(plainGit(world.repositories.mirror, 'fsck', '--strict')).toBe('')
    expect(contentOf(world.user, [])).toEqual(before)
  })

  test('has a message without the NUL that git would not take', async () => {
    const head = await work('s1', { 'a.txt': withLine(3, 'mine') })
    expect(await queue.merge('s1', head, { body: 'what\0 it is' })).toMatchObject({
      kind: 'merged',
    })
    const body = plainGit(world.repositories.mirror, 'log', '-1', '--format=%b', 'main')
    expect(body).toContain('what it is')
  })

  test('is none where a folder went two ways and git names no file', async () => {
    const base = await work('base', { 'd/1': '1\n', 'd/2': '2\n', 'd/3': '3\n', 'd/4': '4\n' })
    expect(await queue.merge('base', base)).toMatchObject({ kind: 'merged' })
    const onto = plainGit(world.repositories.mirror, 'rev-parse', 'main')
    const move = async (story: string, change: (folder: string) => void) => {
      const { folder } = await queue.workspaces.prepare({ run: RUN, story }, onto)
      change(folder)
      return (await queue.workspaces.commit({ run: RUN, story }, story)) as string
    }
    const split = await move('split', (folder) => {
      for (const [name, to] of [
        ['1', 'e'],
        ['2', 'e'],
        ['3', 'f'],
        ['4', 'f'],
      ] as const) {
        mkdirSync(join(folder, to), { recursive: true })
        renameSync(join(folder, 'd', name), join(folder, to, name))
      }
    })
    const added = await move('added', (folder) => writeFiles(folder, { 'd/new': 'new\n' }))
    expect(await queue.merge('split', split)).toMatchObject({ kind: 'merged' })
    const outcome = await queue.merge('added', added)
    expect(outcome).toMatchObject({ kind: 'conflicted' })
  })

  test('of two stories that touch different lines keeps both', async () => {
    const first = await work('s1', { 'a.txt': withLine(3, 'first') })
    const second = await work('s2', { 'a.txt': withLine(12, 'second') })
    await queue.merge('s1', first)
    expect(await queue.merge('s2', second)).toMatchObject({ kind: 'merged' })
    const text = plainGit(world.repositories.mirror, 'show', 'main:a.txt')
    expect(text).toContain('first')
    expect(text).toContain('second')
  })

  test('asked for twice is one merge', async () => {
    const head = await work('s1', { 'new.txt': 'x' })
    const first = await queue.merge('s1', head)
    const again = await queue.merge('s1', head)
    expect(again).toMatchObject({ kind: 'merged', commit: (first as { commit: string }).commit })
    expect(mainLog()).toEqual(['Story s1', 'init'])
  })

  test('of a story that is on the target already is none, whatever its workspace has since', async () => {
    const head = await work('s1', { 'new.txt': 'x' })
    const first = await queue.merge('s1', head)
    if (first.kind !== 'merged') throw new Error(first.kind)
    const more = await work('s1', { 'new.txt': 'more' })
    expect(await queue.merge('s1', more)).toEqual({
      kind: 'already_merged',
      commit: first.commit,
      head,
    })
    expect(mainLog()).toEqual(['Story s1', 'init'])
    expect(branches()).toBe('')
  })

  test('of a head that stands on the story’s own merge is a further delivery', async () => {
    const head = await work('s1', { 'new.txt': 'x' })
    const first = await queue.merge('s1', head)
    if (first.kind !== 'merged') throw new Error(first.kind)
    const more = await work('s1', { 'new.txt': 'more' }, first.commit)
    expect(await queue.merge('s1', more)).toMatchObject({ kind: 'merged', onto: first.commit })
  })

  test('asked for at the beginning of time is one like any other', async () => {
    const head = await work('s1', { 'new.txt': 'x' })
    expect(await queue.merge('s1', head, { atMs: 0 })).toMatchObject({ kind: 'merged' })
    const date = plainGit(world.repositories.mirror, 'log', '-1', '--format=%ct', 'main')
    expect(date).toBe('0')
  })

  test('takes the reviewed commit, whatever git was told to read in its place', async () => {
    const head = await work('s1', { 'a.txt': withLine(3, 'reviewed') })
    const other = await work('s2', { 'a.txt': withLine(3, 'slipped in') })
    plainGit(world.repositories.work, 'replace', head, other)
    expect(await queue.merge('s1', head)).toMatchObject({ kind: 'merged' })
    const text = plainGit(world.repositories.mirror, 'show', 'main:a.txt')
    expect(text).toContain('reviewed')
    expect(text).not.toContain('slipped in')
  })

  test('says nothing about another story, whatever its text says', async () => {
    const other = 'a'.repeat(40)
    const head = await work('s1', { 'new.txt': 'x' })
    await queue.merge('s1', head, {
      body: `Slipway-Head: ${other}\n slipway-head : ${other}`,
    })
    const trailers = plainGit(
      world.repositories.mirror,
      'log',
      '-1',
      '--format=%(trailers:key=Slipway-Head,valueonly)',
      'main',
    )
    expect(trailers).toBe(head)
  })

  test('of a head that nobody reviewed is refused', async () => {
    const reviewed = await work('s1', { 'new.txt': 'reviewed' })
    const { folder } = await queue.workspaces.prepare({ run: RUN, story: 's1' }, world.base)
    const opened = await queue.forge.openPullRequest({
      branch: `slipway/${RUN}/s1`,
      head: reviewed,
      target: 'main',
      title: 'Story s1',
      body: '',
    })
    expect(opened.ok).toBe(true)
    writeFiles(folder, { 'new.txt': 'slipped in' })
    await queue.workspaces.commit({ run: RUN, story: 's1' }, 'after the review')
    await expect(queue.merge('s1', reviewed)).rejects.toThrow(/is at/)
    expect(mainLog()).toEqual(['init'])
  })

  test('that adds nothing says so', async () => {
    const first = await work('s1', { 'new.txt': 'same' })
    const second = await work('s2', { 'new.txt': 'same' })
    await queue.merge('s1', first)
    expect(await queue.merge('s2', second)).toMatchObject({ kind: 'nothing_to_merge' })
  })

  test('whose result is red never becomes the target', async () => {
    const left = await work('s1', { left: '' })
    const right = await work('s2', { right: '' })
    await queue.merge('s1', left)
    expect(await queue.merge('s2', right)).toMatchObject({ kind: 'gate_failed', gate: 'both\n' })
    expect(mainLog()).toEqual(['Story s1', 'init'])
  })
})

describe('a conflict', () => {
  test('comes back with its hunks, both sides and the base', async () => {
    const first = await work('s1', { 'a.txt': withLine(3, 'theirs <<<<<<< not a marker') })
    const second = await work('s2', { 'a.txt': withLine(3, '>>>>>>> mine') })
    await queue.merge('s1', first)
    const outcome = await queue.merge('s2', second)
    expect(outcome).toMatchObject({
      kind: 'conflicted',
      conflicts: [
        {
          path: 'a.txt',
          kind: 'contents',
          onTarget: true,
          inStory: true,
          hunks: [
            {
              line: 4,
              target: 'theirs <<<<<<< not a marker\n',
              base: 'line 3\n',
              story: '>>>>>>> mine\n',
            },
          ],
        },
      ],
    })
    expect(mainLog()).toEqual(['Story s1', 'init'])
  })

  test('can be worked on in a workspace that has both sides, and then merges', async () => {
    const first = await work('s1', { 'a.txt': withLine(3, 'theirs') })
    const second = await work('s2', { 'a.txt': withLine(3, 'mine') })
    await queue.merge('s1', first)
    const outcome = await queue.merge('s2', second)
    if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
    const owner = { run: RUN, story: 's2' }
    const { folder } = await queue.workspaces.prepare(owner, outcome.onto, outcome.content)
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toMatch(/<<<<<<<[\s\S]*theirs[\s\S]*mine/)
    expect(plainGit(folder, 'rev-parse', 'HEAD')).toBe(outcome.onto)
    writeFiles(folder, { 'a.txt': withLine(3, 'theirs and mine') })
    const head = (await queue.workspaces.commit(owner, 'Resolve')) as string
    expect(await queue.merge('s2', head)).toMatchObject({ kind: 'merged' })
    expect(mainLog()).toEqual(['Story s2', 'Story s1', 'init'])
  })

  test.each([
    ['modify/delete', { 'gone.txt': 'changed\n' }, { kind: 'modify/delete', onTarget: false }],
    ['binary', { 'image.bin': '\0\x03' }, { kind: 'binary', hunks: [] }],
    ['add/add', { 'new.txt': 'mine\n' }, { kind: 'add/add', hunks: [{ story: 'mine\n' }] }],
  ])('of the kind %s is reported', async (kind, mine, expected) => {
    const { folder } = await queue.workspaces.prepare({ run: RUN, story: 's1' }, world.base)
    if (kind === 'modify/delete') plainGit(folder, 'rm', '-q', 'gone.txt')
    else if (kind === 'binary') writeFiles(folder, { 'image.bin': '\0\x04' })
    else writeFiles(folder, { 'new.txt': 'theirs\n' })
    const first = await queue.workspaces.commit({ run: RUN, story: 's1' }, 'theirs')
    const second = await work('s2', mine)
    await queue.merge('s1', first as string)
    expect(await queue.merge('s2', second)).toMatchObject({
      kind: 'conflicted',
      conflicts: [expected],
    })
  })

  test('is not settled by an attribute of the repository', async () => {
    const union = await work('s0', { '.gitattributes': '* merge=union\n' })
    await queue.merge('s0', union)
    const base = plainGit(world.repositories.mirror, 'rev-parse', 'main')
    const first = await work('s1', { 'a.txt': withLine(3, 'theirs') }, base)
    const second = await work('s2', { 'a.txt': withLine(3, 'mine') }, base)
    await queue.merge('s1', first)
    expect(await queue.merge('s2', second)).toMatchObject({ kind: 'conflicted' })
  })

  test('of hundreds of files names them all and counts their places', async () => {
    const name = (i: number) => `folder/with-a-long-name-${'x'.repeat(120)}/${i}.txt`
    const files = (mark: string) =>
      Object.fromEntries(
        Array.from({ length: 300 }, (_, i) => [name(i), `${mark}\n1\n2\n3\n4\n5\n${mark}\n`]),
      )
    const common = await work('s0', files('common'))
    await queue.merge('s0', common)
    const base = plainGit(world.repositories.mirror, 'rev-parse', 'main')
    const [first, second] = [await work('s1', files('a'), base), await work('s2', files('b'), base)]
    await queue.merge('s1', first)
    const outcome = await queue.merge('s2', second)
    if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
    const { conflicts, further } = outcome
    const named = [...conflicts.map(({ path }) => path), ...further.paths]
    expect(new Set(named).size).toBe(300)
    const places = conflicts.flatMap(({ hunks, hunksLeftOut }) => [hunks.length, hunksLeftOut])
    expect(places.reduce((sum, count) => sum + count, further.hunks)).toBe(600)
    expect(JSON.stringify(outcome).length).toBeLessThan(120_000)
    // Handed in as it is, every one of them is told again.
    const again = await queue.merge('s2', await queue.mend('s2', outcome, () => {}))
    if (again.kind !== 'conflicted') throw new Error(again.kind)
    expect(again.conflicts.length + again.further.paths.length).toBe(300)
    expect(JSON.stringify(again).length).toBeLessThan(120_000)
  }, 60_000)

  test('of one hunk that is larger than an outcome shows how each side begins', async () => {
    const long = (text: string) => `${`${text} line\n`.repeat(5_000)}`
    const first = await work('s1', { 'a.txt': long('target') })
    const second = await work('s2', { 'a.txt': long('story') })
    await queue.merge('s1', first)
    const outcome = await queue.merge('s2', second)
    if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
    const [conflict] = outcome.conflicts
    expect(conflict).toMatchObject({ hunks: [{ cut: true }], hunksLeftOut: 0 })
    expect(conflict?.hunks[0]?.target).toMatch(/^target line\n/)
    expect(conflict?.hunks[0]?.story).toMatch(/^story line\n/)
    expect(JSON.stringify(outcome).length).toBeLessThan(40_000)
  })

  test('of more than fits an outcome says how much is left out', async () => {
    const long = (text: string) =>
      `${LINES.map((line, i) => (i % 2 ? line : text.repeat(2_000))).join('\n')}\n`
    const first = await work('s1', { 'a.txt': long('a') })
    const second = await work('s2', { 'a.txt': long('b') })
    await queue.merge('s1', first)
    const outcome = await queue.merge('s2', second)
    if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
    expect(JSON.stringify(outcome).length).toBeLessThan(40_000)
    expect(outcome.conflicts[0]?.hunksLeftOut).toBeGreaterThan(0)
  })
})
