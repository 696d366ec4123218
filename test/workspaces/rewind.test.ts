import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { contentOf, type GitWorld, openGitWorld, plainGit, writeFiles } from '../git/world.ts'

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

test.each<[string, () => void]>([
  ['gone', () => rmSync(at('.gitignore'))],
  ['another', () => writeFileSync(at('.gitignore'), 'dist/\n')],
  ['a folder', () => becomeFolder(at('.gitignore'))],
  ['a link', () => becomeLink(at('.gitignore'))],
  ['undone in a folder that has one', () => writeFileSync(at('src/.gitignore'), '!*.log\n')],
  ['undone in a folder that had none', () => writeFiles(folder, { 'lib/.gitignore': '!*.log' })],
  ['undone behind one that hides it', () => writeFiles(folder, HIDDEN_RULES)],
  ['undone in a repository of its own', () => becomeRepository(at('lib'), { '.gitignore': '!*' })],
])('what is ignored stays where a test run left .gitignore %s', async (_, act) => {
  writeFiles(folder, {
    ...{ '.gitignore': 'ignored/\n*.log\n', 'src/.gitignore': 'made/\n' },
    ...{ 'src/made/a.js': '1', 'src/b.log': 'b', 'lib/c.js': 'c', 'lib/d.log': 'd' },
    ...{ 'lib/deep/e.js': 'e', 'lib/deep/f.log': 'f' },
  })
  await world.workspaces.checkpoint(S1)
  const before = contentOf(folder)
  act()
  await world.workspaces.rewind(S1)
  expect(contentOf(folder)).toEqual(before)
})

const HIDDEN_RULES = { 'lib/.gitignore': 'deep/.gitignore\n', 'lib/deep/.gitignore': '!*.log\n' }

function becomeFolder(path: string): void {
  rmSync(path)
  writeFiles(path, { a: 'a' })
}

function becomeLink(path: string): void {
  rmSync(path)
  symlinkSync('a.txt', path)
}

function becomeRepository(path: string, files: Record<string, string>): void {
  mkdirSync(path, { recursive: true })
  plainGit(path, 'init', '-q')
  writeFiles(path, files)
}

test('a folder with rules that became a link is one again, and nothing is written where it led', async () => {
  writeFiles(folder, { 'src/.gitignore': 'made/\n' })
  await world.workspaces.checkpoint(S1)
  const outside = join(world.scratch, 'outside')
  writeFiles(outside, { '.gitignore': 'theirs\n' })
  rmSync(at('src'), { recursive: true })
  symlinkSync(outside, at('src'))
  await world.workspaces.rewind(S1)
  expect(readFileSync(at('src/.gitignore'), 'utf8')).toBe('made/\n')
  expect(readdirSync(outside)).toEqual(['.gitignore'])
  expect(readFileSync(join(outside, '.gitignore'), 'utf8')).toBe('theirs\n')
})

test('a cache that hides itself stays', async () => {
  writeFiles(folder, { 'cache/.gitignore': '*\n', 'cache/a': 'warm\n' })
  await world.workspaces.checkpoint(S1)
  const before = contentOf(folder)
  await world.workspaces.rewind(S1)
  expect(contentOf(folder)).toEqual(before)
})

/** Every path below the folder, but for what the clone has of git. */
const paths = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path !== '.git' && !path.startsWith('.git/'))
    .sort()

test.each<[string, () => void]>([
  ['a repository', () => becomeRepository(at('fixture'), { x: 'x' })],
  ['one that ignores', () => becomeRepository(at('fixture'), { x: 'x', '.gitignore': 'x\n' })],
  ['a repository in another', () => becomeRepository(at('known/inner'), { x: 'x' })],
  ['the file of one', () => writeFiles(folder, { 'q/.git': 'gitdir: /nowhere\n', 'q/z': 'z' })],
  ['the empty folders of one', () => mkdirSync(at('q/.git/objects'), { recursive: true })],
  ['empty folders', () => mkdirSync(at('e/f'), { recursive: true })],
  ['files in a folder that was empty', () => writeFiles(folder, { 'empty/a/b': 'b' })],
  ['no folder where an empty one was', () => rmdirSync(at('empty'))],
  ['pipes', () => execFileSync('/usr/bin/mkfifo', ['p', 'src/q', 'empty/r'], { cwd: folder })],
  ['a pipe for a file', () => becomePipe(at('a.txt'))],
  ['a pipe for a folder', () => becomePipe(at('src'))],
])('a test run that leaves %s leaves nothing', async (_, act) => {
  becomeRepository(at('known'), { file: 'known\n' })
  mkdirSync(at('empty'))
  await world.workspaces.checkpoint(S1)
  const before = paths()
  act()
  await world.workspaces.rewind(S1)
  expect(paths()).toEqual(before)
})

function becomePipe(path: string): void {
  rmSync(path, { recursive: true })
  execFileSync('/usr/bin/mkfifo', [path])
}

test('empty folders and pipes stay where they are ignored', async () => {
  await world.workspaces.checkpoint(S1)
  mkdirSync(at('ignored/empty'))
  execFileSync('/usr/bin/mkfifo', [at('ignored/pipe')])
  const before = paths()
  await world.workspaces.rewind(S1)
  expect(paths()).toEqual(before)
})

test('a workspace without a checkpoint stays as it is, and comes back to that', async () => {
  await world.workspaces.rewind(S1)
  expect(readFileSync(at('mine.txt'), 'utf8')).toBe('mine\n')
  writeFileSync(at('stamp'), '')
  await world.workspaces.rewind(S1)
  expect(existsSync(at('stamp'))).toBe(false)
  expect(readFileSync(at('mine.txt'), 'utf8')).toBe('mine\n')
})
