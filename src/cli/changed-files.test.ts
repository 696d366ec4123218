import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeChanges } from './changed-files.ts'

let folder: string
let root: string

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.org', ...args], { cwd: root })
const write = (name: string, text: string) => writeFileSync(join(root, name), text)
const changes = (of = root) => describeChanges({ root: of, git: join(of, '.git') })

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-changed-'))
  root = join(folder, 'repository')
  execFileSync('git', ['init', '--quiet', '-b', 'main', root])
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function commit(): void {
  write('a.txt', 'a')
  write('b.txt', 'b')
  git('add', '-A')
  git('commit', '--quiet', '-m', 'first')
}

test('what is tracked and not committed is counted, staged or not', async () => {
  expect(await changes()).toBeUndefined()
  commit()
  write('new.txt', 'new')
  utimesSync(join(root, 'a.txt'), 1, 1)
  expect(await changes()).toBeUndefined()
  write('a.txt', 'other')
  expect(await changes()).toBe('1 tracked file is changed and not committed')
  write('b.txt', 'other')
  git('add', 'b.txt')
  expect(await changes()).toBe('2 tracked files are changed and not committed')
  const further = join(folder, 'further')
  git('worktree', 'add', '--quiet', further)
  expect(await changes(further)).toBeUndefined()
  rmSync(join(further, 'a.txt'))
  expect(await changes(further)).toBe('1 tracked file is changed and not committed')
})

test('no filter of the repository is started, and what has one is not judged', async () => {
  write('.gitattributes', 'a.txt filter=evil\n')
  commit()
  const mark = join(folder, 'started')
  for (const key of [
    'filter.evil.clean',
    'filter.evil.process',
    'core.fsmonitor',
    'diff.external',
  ]) {
    git('config', key, `touch ${mark}; cat`)
  }
  write('a.txt', 'other')
  expect(await changes()).toBeUndefined()
  write('b.txt', 'other')
  expect(await changes()).toBe('1 tracked file is changed and not committed')
  expect(existsSync(mark)).toBe(false)
})

test('a file with the line ends that git wrote is as it was', async () => {
  write('kept.txt', 'a\r\n')
  commit()
  git('config', 'core.autocrlf', 'true')
  write('a.txt', 'a\r\nb\r\n')
  git('add', 'a.txt')
  git('commit', '--quiet', '-m', 'second')
  for (const name of ['a.txt', 'kept.txt']) utimesSync(join(root, name), 1, 1)
  expect(await changes()).toBeUndefined()
  write('kept.txt', 'a\n')
  expect(await changes()).toBe('1 tracked file is changed and not committed')
  write('a.txt', 'a\r\n')
  expect(await changes()).toBe('2 tracked files are changed and not committed')
})

test('nothing of the repository is written', async () => {
  commit()
  utimesSync(join(root, 'a.txt'), 1, 1)
  write('b.txt', 'other')
  const index = readFileSync(join(root, '.git/index'))
  expect(await changes()).toBe('1 tracked file is changed and not committed')
  expect(readFileSync(join(root, '.git/index')).equals(index)).toBe(true)
})
