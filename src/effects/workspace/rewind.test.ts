import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { contentOf, type GitWorld, openGitWorld, plainGit } from '../../../test/git/world.ts'

const S1 = { run: 'r1', story: 's1' }

let world: GitWorld
let folder: string

beforeEach(async () => {
  world = await openGitWorld({
    'a.txt': 'one\n',
    '.gitattributes': '*.txt text eol=crlf\n',
    '.gitignore': 'ignored/\n',
    'src/b.js': 'export const b = 1\n',
  })
  ;({ folder } = await world.workspaces.prepare(S1, world.base))
  writeFileSync(join(folder, 'mine.txt'), 'mine\n')
  mkdirSync(join(folder, 'ignored'))
  writeFileSync(join(folder, 'ignored/package'), 'installed\n')
})

afterEach(() => world.close())

const at = (path: string) => join(folder, path)

test('what was changed, added and removed since the checkpoint is undone, but what is ignored', async () => {
  await world.workspaces.checkpoint(S1)
  const before = contentOf(folder)
  writeFileSync(at('a.txt'), 'two\n')
  writeFileSync(at('stamp'), '')
  mkdirSync(at('reports/deep'), { recursive: true })
  writeFileSync(at('reports/deep/x.xml'), '<x/>')
  chmodSync(at('src/b.js'), 0o755)
  rmSync(at('mine.txt'))
  writeFileSync(at('ignored/cache'), 'warm\n')
  await world.workspaces.rewind(S1)
  rmSync(at('ignored/cache'))
  expect(contentOf(folder)).toEqual(before)
  // And nothing of it is in what is committed next.
  const head = await world.workspaces.commit(S1, 'the work')
  const names = plainGit(world.repositories.work, 'ls-tree', '-r', '--name-only', head as string)
  expect(names.split('\n')).toEqual([
    '.gitattributes',
    '.gitignore',
    'a.txt',
    'mine.txt',
    'src/b.js',
  ])
})

test('a folder that became a link is a folder again, and nothing is written where it led', async () => {
  await world.workspaces.checkpoint(S1)
  const outside = join(world.scratch, 'outside')
  mkdirSync(outside)
  rmSync(at('src'), { recursive: true })
  symlinkSync(outside, at('src'))
  await world.workspaces.rewind(S1)
  expect(lstatSync(at('src')).isDirectory()).toBe(true)
  expect(readFileSync(at('src/b.js'), 'utf8')).toBe('export const b = 1\n')
  expect(existsSync(join(outside, 'b.js'))).toBe(false)
})

test('what was hidden by a changed .gitignore goes as well', async () => {
  await world.workspaces.checkpoint(S1)
  writeFileSync(at('.gitignore'), '*\n')
  writeFileSync(at('stamp'), '')
  await world.workspaces.rewind(S1)
  expect(existsSync(at('stamp'))).toBe(false)
  expect(readFileSync(at('.gitignore'), 'utf8')).toBe('ignored/\n')
})

test('a repository that a test run made inside is emptied of its files', async () => {
  await world.workspaces.checkpoint(S1)
  mkdirSync(at('fixture'))
  plainGit(at('fixture'), 'init', '-q')
  writeFileSync(at('fixture/x'), 'x')
  await world.workspaces.rewind(S1)
  expect(existsSync(at('fixture/x'))).toBe(false)
})

test('a workspace without a checkpoint stays as it is', async () => {
  await world.workspaces.rewind(S1)
  expect(readFileSync(at('mine.txt'), 'utf8')).toBe('mine\n')
})
