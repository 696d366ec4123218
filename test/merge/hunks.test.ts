import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Hunk } from '../../src/effects/merge/conflict.ts'
import { reportConflicts } from '../../src/effects/merge/conflict-report.ts'
import { type GitWorld, openGitWorld, plainGit } from '../git/world.ts'
import { openQueue, type Queue } from './queue.ts'

let world: GitWorld
let queue: Queue

beforeEach(async () => {
  world = await openGitWorld({ 'gate.sh': 'exit 0\n', 'open.txt': 'base\n1\n2\n3\n4\n5\nend' })
  queue = await openQueue(world)
})

afterEach(() => world.close())

const NO_LINE_END = '\\ No newline at end of file\n'
const bytes = (text: string) => Buffer.from(text, 'latin1')

type Content = Buffer | string

/** What is told of one file that the target and a story write, each in its own way. */
async function hunksOf(path: string, target: Content, story: Content): Promise<readonly Hunk[]> {
  const bring = (content: Content) => (folder: string) => writeFileSync(join(folder, path), content)
  const heads = [
    await queue.work('s1', bring(target)),
    await queue.work('s2', bring(story)),
  ] as const
  await queue.merge('s1', heads[0])
  const outcome = await queue.merge('s2', heads[1])
  if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
  return outcome.conflicts[0]?.hunks ?? []
}

describe('two sides that differ also look so', () => {
  test.each([
    [
      'in bytes that are no text',
      bytes('caf\xe9 \xc3\xa4\n'),
      bytes('caf\xe8 \xc3\xa4\n'),
      { target: 'caf\\xe9 ä\n', story: 'caf\\xe8 ä\n' },
    ],
    ['in the end of the last line', 'y', 'y\n', { target: `y\n${NO_LINE_END}`, story: 'y\n' }],
    ['in how lines end', 'x\r\ny\r\n', 'x\ny\n', { target: 'x\\r\ny\\r\n', story: 'x\ny\n' }],
  ])('%s', async (_, target, story, expected) => {
    expect(await hunksOf('a.txt', target, story)).toMatchObject([expected])
  })

  test('and a line end is missed only where it is missing', async () => {
    const file = (first: string) => `${first}\n1\n2\n3\n4\n5\nend`
    const expected = [{ line: 1, target: 'target\n', base: 'base\n', story: 'story\n' }]
    expect(await hunksOf('open.txt', file('target'), file('story'))).toEqual(expected)
  })
})

describe('a file that is too large to be shown', () => {
  /** Stores a file of that many bytes, most of them zeros, and gives its entry. */
  function store(bytesMax: number, start: string): string {
    const folder = mkdtempSync(join(world.scratch, 'large-'))
    const path = join(folder, 'file')
    writeFileSync(path, start)
    truncateSync(path, bytesMax)
    const args = ['hash-object', '-w', '--no-filters', path]
    const id = plainGit(world.repositories.work, ...args)
    rmSync(folder, { recursive: true })
    return `100644 ${id}`
  }

  test('is told without its hunks, when both sides and the base fill no string', async () => {
    const { git, repositories } = world
    const entries = ['base', 'target', 'story'].map((side) => store(180_000_000, side))
    const stages = new Map(entries.map((entry, i) => [i + 1, entry] as const))
    const found = { path: 'model', kind: undefined, message: '', stages, together: ['model'] }
    const tree = execFileSync('git', ['mktree'], {
      cwd: repositories.work,
      input: `${entries[1]?.replace(' ', ' blob ')}\tmodel\n`,
      encoding: 'utf8',
    }).trim()
    const report = await reportConflicts(git, repositories, tree, [found], (text) => text)
    expect(report.conflicts).toMatchObject([
      { path: 'model', kind: 'binary', onTarget: true, inStory: true, hunks: [], hunksLeftOut: 0 },
    ])
  }, 60_000)

  test('is told with the number of its places, is marked there, and has to be settled', async () => {
    const text = (line: string) =>
      `${line}\n${'x'.repeat(99)}\n${`${'y'.repeat(99)}\n`.repeat(101_000)}`
    const bring = (line: string) => (folder: string) =>
      writeFileSync(join(folder, 'a.txt'), text(line))
    const heads = [await queue.work('s1', bring('target')), await queue.work('s2', bring('story'))]
    await queue.merge('s1', heads[0] as string)
    const told = await queue.merge('s2', heads[1] as string)
    expect(told).toMatchObject({
      kind: 'conflicted',
      conflicts: [{ path: 'a.txt', kind: 'add/add', hunks: [], hunksLeftOut: 1 }],
    })
    const head = await queue.mend('s2', told, (folder) => {
      const path = join(folder, 'a.txt')
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^(<{7}|\|{7}|={7}).*\n/gm, ''))
    })
    const again = await queue.merge('s2', head)
    expect(again).toMatchObject({
      kind: 'conflicted',
      conflicts: [{ kind: 'unsettled', message: /marks/ }],
    })
    const settled = await queue.mend('s2', again, bring('both'))
    expect(await queue.merge('s2', settled)).toMatchObject({ kind: 'merged' })
  }, 60_000)
})
