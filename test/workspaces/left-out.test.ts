import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openRepositories, updateMirror } from '../../src/effects/git/repositories.ts'
import { openWorkspaces } from '../../src/effects/workspace/workspaces.ts'
import { type GitWorld, openGitWorld, plainGit as sh, writeFiles } from '../git/world.ts'

const S1 = { run: 'r1', story: 's1' }
const SPARSE_BYTES = 100 * 1024 ** 3

let world: GitWorld
let folder: string
let work: string

beforeEach(async () => {
  vi.stubEnv('HOME', '/nonexistent')
  vi.stubEnv('XDG_CONFIG_HOME', '')
  world = await openGitWorld({ 'src/a.js': 'a\n', '.gitignore': 'dist/\n!big*\n' })
  work = world.repositories.work
})

afterEach(() => {
  vi.unstubAllEnvs()
  return world.close()
})

/** Makes what is in the user's repository the base of the workspace. */
async function prepare(): Promise<string> {
  sh(world.user, 'commit', '-q', '--allow-empty', '-m', 'more')
  await updateMirror(world.git, world.repositories, world.user)
  const base = sh(world.user, 'rev-parse', 'HEAD')
  ;({ folder } = await world.workspaces.prepare(S1, base))
  return base
}

const namesIn = (tree: string | undefined) =>
  sh(work, 'ls-tree', '-r', '--name-only', tree ?? '').split('\n')

describe('the submodules of the base', () => {
  const link = '1'.repeat(40)
  let base: string

  beforeEach(async () => {
    const modules = ['lib', 'other'].map(
      (name) => `[submodule "${name}"]\n\tpath = vendor/${name}\n\turl = ../${name}\n`,
    )
    writeFiles(world.user, { '.gitmodules': modules.join('') })
    sh(world.user, 'add', '.gitmodules')
    for (const name of ['lib', 'other']) {
      sh(world.user, 'update-index', '--add', '--cacheinfo', `160000,${link},vendor/${name}`)
    }
    base = await prepare()
    writeFiles(folder, { 'src/a.js': 'changed\n' })
  })

  const linksIn = (tree: string) =>
    sh(work, 'ls-tree', '-r', tree)
      .split('\n')
      .filter((line) => line.startsWith('160000'))
      .map((line) => line.split('\t')[1])

  test('stay in the commit, whatever is written below them', async () => {
    writeFiles(folder, { 'vendor/lib/.cache': 'c', 'vendor/lib/deep/x': 'x' })
    const commit = (await world.workspaces.commit(S1, 'work')) as string
    expect(sh(work, 'diff', '--name-status', '--ignore-submodules=none', base, commit)).toBe(
      'M\tsrc/a.js',
    )
    const { tree } = await world.workspaces.checkpoint(S1)
    expect(namesIn(tree)).toContain('vendor/lib/deep/x')
  })

  test('stay in the commit when their folders are removed', async () => {
    rmSync(join(folder, 'vendor'), { recursive: true })
    const commit = (await world.workspaces.commit(S1, 'work')) as string
    expect(linksIn(commit)).toEqual(['vendor/lib', 'vendor/other'])
  })

  test('go when .gitmodules no longer names them', async () => {
    const modules = readFileSync(join(folder, '.gitmodules'), 'utf8')
    const kept = modules.slice(0, modules.indexOf('[submodule "other"]'))
    writeFileSync(join(folder, '.gitmodules'), kept)
    rmSync(join(folder, 'vendor'), { recursive: true })
    const commit = (await world.workspaces.commit(S1, 'work')) as string
    expect(linksIn(commit)).toEqual(['vendor/lib'])
  })
})

describe('a file that is too large to be stored', () => {
  beforeEach(async () => {
    await prepare()
    writeFiles(folder, { small: 'small\n' })
  })

  function makeLarge(path: string): void {
    writeFileSync(join(folder, path), '', { flag: 'a' })
    truncateSync(join(folder, path), SPARSE_BYTES)
  }

  test('is named, and all the rest is stored in no time', { timeout: 30_000 }, async () => {
    makeLarge('big')
    for (const content of ['first', 'second']) {
      writeFiles(folder, { small: content })
      const { tree, unstored } = await world.workspaces.checkpoint(S1)
      expect(unstored).toEqual(['big'])
      expect(namesIn(tree)).toEqual(['.gitignore', 'small', 'src/a.js'])
      expect(sh(work, 'show', `${tree}:small`)).toBe(content)
    }
    rmSync(join(folder, 'big'))
    expect((await world.workspaces.checkpoint(S1)).unstored).toEqual([])
  })

  test('is as it was before it grew, in what is stored', { timeout: 30_000 }, async () => {
    await world.workspaces.checkpoint(S1)
    makeLarge('small')
    makeLarge('src/a.js')
    const { tree, unstored } = await world.workspaces.checkpoint(S1)
    expect([...unstored].sort()).toEqual(['small', 'src/a.js'])
    expect(sh(work, 'show', `${tree}:small`)).toBe('small')
    truncateSync(join(folder, 'small'), 3)
    const later = await world.workspaces.checkpoint(S1)
    expect(later.unstored).toEqual(['src/a.js'])
    expect(sh(work, 'cat-file', '-s', `${later.tree}:small`)).toBe('3')
  })

  test('keeps the workspace from being removed', { timeout: 30_000 }, async () => {
    makeLarge('big')
    const kept = await world.workspaces.remove(S1)
    expect(kept).toMatchObject({ unstored: ['big'], count: 1 })
    await world.workspaces.restore(S1)
    expect(readFileSync(join(folder, 'small'), 'utf8')).toBe('small\n')
  })

  test('is found in repositories inside, and in what is git\u2019s there', {
    timeout: 30_000,
  }, async () => {
    writeFiles(folder, { 'inner/x': 'x', 'inner/y': 'y' })
    sh(join(folder, 'inner'), 'init', '-q')
    makeLarge('inner/big')
    makeLarge('inner/.git/big')
    const { tree, unstored } = await world.workspaces.checkpoint(S1)
    expect([...unstored].sort()).toEqual(['inner/.git/big', 'inner/big'])
    expect(namesIn(tree)).toContain('inner/y')
  })

  test('is nobody\u2019s concern where it is ignored', async () => {
    mkdirSync(join(folder, 'dist'))
    makeLarge('dist/big')
    expect((await world.workspaces.checkpoint(S1)).unstored).toEqual([])
  })
})

test('a tracked file that is ignored is stored again after it was removed and made anew', async () => {
  writeFiles(world.user, { 'dist/x.js': 'x\n', 'dist/deep/y.js': 'y\n', 'dist/z.js': 'z\n' })
  sh(world.user, 'add', '-f', 'dist')
  await prepare()
  rmSync(join(folder, 'dist'), { recursive: true })
  await world.workspaces.checkpoint(S1)
  writeFiles(folder, { 'dist/x.js': 'built\n', 'dist/deep/y.js': 'built\n', 'dist/new.js': 'n' })
  const { tree } = await world.workspaces.checkpoint(S1)
  expect(namesIn(tree)).toEqual(['.gitignore', 'dist/deep/y.js', 'dist/x.js', 'src/a.js'])
  rmSync(folder, { recursive: true })
  await world.workspaces.reconcile([S1])
  expect(readFileSync(join(folder, 'dist/x.js'), 'utf8')).toBe('built\n')
  rmSync(join(folder, 'dist'), { recursive: true })
  writeFiles(world.scratch, { 'outside/x.js': 'secret\n' })
  // A file in a folder that leads elsewhere is none of the workspace's.
  symlinkSync(join(world.scratch, 'outside'), join(folder, 'dist'))
  const { tree: linked } = await world.workspaces.checkpoint(S1)
  expect(namesIn(linked)).toEqual(['.gitignore', 'dist', 'src/a.js'])
})

describe('what the user ignores is left out:', () => {
  test('also when many runs begin at once, and nothing half is left behind', async () => {
    mkdirSync(join(world.user, '.git/info'), { recursive: true })
    writeFileSync(join(world.user, '.git/info/exclude'), '.env\n')
    sh(world.user, 'commit', '-q', '--allow-empty', '-m', 'more')
    for (const name of ['b1', 'b2', 'b3']) sh(world.user, 'branch', name)
    const { repositories, git, user } = world
    await Promise.all(Array.from({ length: 12 }, () => updateMirror(git, repositories, user)))
    expect(readFileSync(repositories.excludes, 'utf8')).toBe('.env\n\n')
    expect(readFileSync(join(work, 'info/exclude'), 'utf8')).toBe('.env\n\n')
    expect(readdirSync(repositories.scratch)).toEqual([])
    expect(readdirSync(join(repositories.excludes, '..')).sort()).toEqual(
      ['excludes', 'mirror.git', 'scratch', 'source', 'template', 'work.git'].sort(),
    )
  })

  test('by the repository\u2019s own list, also after a start, and as it is at the next run', async () => {
    const list = join(world.user, '.git/info/exclude')
    mkdirSync(join(world.user, '.git/info'), { recursive: true })
    writeFileSync(list, '.env\nnode_modules/\n')
    await prepare()
    const files = { '.env': 'secret', 'node_modules/m/x': 'x', mine: 'mine', notes: 'n' }
    writeFiles(folder, files)
    expect(sh(folder, 'status', '--porcelain')).toBe('?? mine\n?? notes')
    const repositories = await openRepositories(world.git, world.state)
    const workspaces = openWorkspaces(world.git, repositories, world.state)
    const commit = await workspaces.commit(S1, 'work')
    expect(namesIn(commit)).toEqual(['.gitignore', 'mine', 'notes', 'src/a.js'])
    writeFileSync(list, '.env\nnode_modules/\nmore\n')
    await updateMirror(world.git, repositories, world.user)
    writeFiles(folder, { more: 'm' })
    expect(namesIn((await workspaces.checkpoint(S1)).tree)).not.toContain('more')
    rmSync(list)
    await updateMirror(world.git, repositories, world.user)
    expect(namesIn((await workspaces.checkpoint(S1)).tree)).toContain('more')
  })

  test('by the file that the user\u2019s own configuration names', async () => {
    const home = join(world.scratch, 'home')
    writeFiles(home, { '.gitconfig': '[core]\n\texcludesFile = ~/list\n', list: '*.swp\n' })
    vi.stubEnv('HOME', home)
    await prepare()
    writeFiles(folder, { 'a.swp': 's', mine: 'm' })
    const { tree } = await world.workspaces.checkpoint(S1)
    expect(namesIn(tree)).toEqual(['.gitignore', 'mine', 'src/a.js'])
  })

  test('by the file that git takes when none is named', async () => {
    writeFiles(join(world.scratch, 'home'), { '.config/git/ignore': '*.swp\n' })
    vi.stubEnv('HOME', join(world.scratch, 'home'))
    await prepare()
    writeFiles(folder, { 'a.swp': 's' })
    expect(namesIn((await world.workspaces.checkpoint(S1)).tree)).not.toContain('a.swp')
  })

  test('but no file is read that the repository names, links to, or makes anybody wait for', async () => {
    writeFiles(world.scratch, { secret: 'mine\n' })
    sh(world.user, 'config', 'core.excludesFile', join(world.scratch, 'secret'))
    mkdirSync(join(world.user, '.git/info'), { recursive: true })
    const list = join(world.user, '.git/info/exclude')
    rmSync(list, { force: true })
    symlinkSync(join(world.scratch, 'secret'), list)
    await prepare()
    expect(readFileSync(world.repositories.excludes, 'utf8')).toBe('')
    rmSync(list)
    execFileSync('/usr/bin/mkfifo', [list])
    await updateMirror(world.git, world.repositories, world.user)
    expect(readFileSync(world.repositories.excludes, 'utf8')).toBe('')
    expect(readdirSync(join(work, 'info')).sort()).toEqual(['attributes', 'exclude'])
    expect(existsSync(join(folder, '.git/info/exclude'))).toBe(true)
  })
})
