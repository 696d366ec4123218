import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type GitWorld, openGitWorld, plainGit, writeFiles } from '../git/world.ts'
import { openQueue, type Queue } from './queue.ts'

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `line ${from + i}\n`).join('')
const PAYMENTS = lines(0, 20)
const PATCHED = PAYMENTS.replace('line 3\n', 'line 3, mended\n')
/** About 60 % of it is what was in the other file. */
const ALIKE = lines(0, 13) + lines(100, 107)

const PLAIN = lines(200, 220)

let world: GitWorld
let queue: Queue

beforeEach(async () => {
  world = await openGitWorld({
    'payments.txt': PAYMENTS,
    'plain.txt': PLAIN,
    'gate.sh': 'exit 0\n',
  })
  queue = await openQueue(world)
})

afterEach(() => world.close())

const onMain = (path: string) => plainGit(world.repositories.mirror, 'show', `main:${path}`)

const patch = (folder: string) => writeFiles(folder, { 'payments.txt': PATCHED })
const replace = (folder: string) => {
  rmSync(join(folder, 'payments.txt'))
  writeFiles(folder, { 'legacy-archive.txt': ALIKE })
}

/** Merges one change, and says what becomes of the other. */
async function both(first: (folder: string) => void, second: (folder: string) => void) {
  const heads = [await queue.work('s1', first), await queue.work('s2', second)] as const
  expect(await queue.merge('s1', heads[0])).toMatchObject({ kind: 'merged' })
  return queue.merge('s2', heads[1])
}

describe('a file that one side deleted', () => {
  test.each([
    ['the target', replace, patch],
    ['the story', patch, replace],
  ] as const)('on %s has no change carried into one that is alike', async (_, first, second) => {
    const outcome = await both(first, second)
    expect(outcome).toMatchObject({
      kind: 'conflicted',
      conflicts: [{ path: 'legacy-archive.txt', kind: 'likeness', message: /^payments\.txt:/ }],
    })
    // Undone, it is settled.
    const head = await queue.mend('s2', outcome, (folder) =>
      writeFiles(folder, { 'legacy-archive.txt': ALIKE, 'note.txt': 'x\n' }),
    )
    expect(await queue.merge('s2', head)).toMatchObject({ kind: 'merged' })
    expect(onMain('legacy-archive.txt')).not.toContain('mended')
  })

  test.each([false, true])(
    'to give it another name is changed there: reversed %s',
    async (isLast) => {
      const rename = (folder: string) => {
        mkdirSync(join(folder, 'lib'))
        renameSync(join(folder, 'payments.txt'), join(folder, 'lib', 'paid.txt'))
      }
      const outcome = isLast ? await both(patch, rename) : await both(rename, patch)
      expect(outcome).toMatchObject({ kind: 'merged' })
      expect(onMain('lib/paid.txt')).toContain('line 3, mended')
    },
  )

  test('is told of alone, and not with one that only has another name', async () => {
    const moved = (folder: string) => {
      replace(folder)
      renameSync(join(folder, 'plain.txt'), join(folder, 'moved.txt'))
    }
    const changed = (folder: string) => {
      patch(folder)
      writeFiles(folder, { 'plain.txt': PLAIN.replace('line 203\n', '') })
    }
    const outcome = await both(moved, changed)
    if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
    expect(outcome.conflicts).toHaveLength(1)
    expect(outcome.conflicts[0]?.message).toMatch(/^payments\.txt: one side/)
  })

  test('beside one that both changed in different places', async () => {
    const more = (folder: string) =>
      writeFiles(folder, { 'payments.txt': PAYMENTS.replace('line 15', 'line fifteen') })
    expect(await both(more, patch)).toMatchObject({ kind: 'merged' })
    expect(onMain('payments.txt')).toContain('fifteen')
    expect(onMain('payments.txt')).toContain('mended')
  })
})

describe('names that are no text', () => {
  const bytes = (folder: string, name: string) => Buffer.from(`${folder}/${name}`, 'latin1')
  const write = (text: string) => (folder: string) => {
    for (const name of ['a\xff', 'a\xfe', '\xc3\xa4']) {
      writeFileSync(bytes(folder, name), `${text}\n`)
    }
  }

  test('are told apart in conflicts, and stay unsettled each', async () => {
    const outcome = await both(write('target'), write('story'))
    if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
    const paths = outcome.conflicts.map(({ path }) => path)
    expect(paths.sort()).toEqual(['"a\\376"', '"a\\377"', 'ä'])
    const head = await queue.mend('s2', outcome, (folder) =>
      writeFileSync(bytes(folder, 'a\xff'), 'settled\n'),
    )
    const again = await queue.merge('s2', head)
    if (again.kind !== 'conflicted') throw new Error(again.kind)
    expect(again.conflicts.map(({ path }) => path).sort()).toEqual(['"a\\376"', 'ä'])
  })
})

test('each conflict is told in git’s words about that file', async () => {
  const outcome = await both(
    (folder) => {
      rmSync(join(folder, 'payments.txt'))
      writeFiles(folder, { 'a.txt': 'target\n', 'z.txt': 'target\n' })
    },
    (folder) => {
      patch(folder)
      writeFiles(folder, { 'a.txt': 'story\n', 'z.txt': 'story\n' })
    },
  )
  if (outcome.kind !== 'conflicted') throw new Error(outcome.kind)
  expect(outcome.conflicts).toHaveLength(3)
  for (const { path, kind, message } of outcome.conflicts) {
    expect(message).toContain(path)
    expect(kind).toBe(path === 'payments.txt' ? 'modify/delete' : 'add/add')
  }
})
