import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Git } from '../../src/effects/git/git.ts'
import { openRepositories, updateMirror } from '../../src/effects/git/repositories.ts'
import type { Checkpoint } from '../../src/effects/workspace/checkpoint.ts'
import { openWorkspaces } from '../../src/effects/workspace/workspaces.ts'
import { contentOf, type GitWorld, openGitWorld, plainGit as sh, writeFiles } from '../git/world.ts'

const S1 = { run: 'r1', story: 's1' }
const NOTHING_DONE = { removed: [], kept: [], missing: [], mended: [], failed: [] }

let world: GitWorld
let folder: string

beforeEach(async () => {
  world = await openGitWorld({ 'src/a.js': 'a\n', '.gitignore': 'ignored/\n' })
  ;({ folder } = await world.workspaces.prepare(S1, world.base))
})

afterEach(async () => {
  execFileSync('rm', ['-rf', world.scratch])
  await world.close()
})

/** Loses the workspace right after a checkpoint, and lets a start find it again. */
async function lose(): Promise<void> {
  await world.workspaces.checkpoint(S1)
  await loseNow()
}

async function loseNow(): Promise<void> {
  rmSync(folder, { recursive: true })
  expect(await world.workspaces.reconcile([S1])).toEqual(NOTHING_DONE)
}

/** Everything below a folder: files with their content, links and folders, also those of git. */
function everythingIn(path: string): string[] {
  const list = (...args: string[]) =>
    execFileSync('find', ['.', ...args], { cwd: path, encoding: 'latin1', maxBuffer: 1e9 })
      .split('\n')
      .sort()
  return [...list('-printf', '%y %p %l\n'), ...list('-type', 'f', '-exec', 'sha1sum', '{}', '+')]
}

function commitIn(path: string): void {
  sh(path, 'init', '-q')
  sh(path, 'add', '-A')
  sh(path, 'commit', '-qm', 'inner')
}

describe('nothing is touched outside the workspace', () => {
  let outside: string

  beforeEach(() => {
    outside = mkdtempSync(join(world.scratch, 'outside-'))
  })

  test('when a link has taken the place of a folder that was stored as empty', async () => {
    mkdirSync(join(folder, 'a/b'), { recursive: true })
    writeFiles(folder, { 'x.txt': 'x' })
    const { commit } = await world.workspaces.checkpoint(S1)
    await world.workspaces.prepare(S1, world.base, commit)
    rmSync(join(folder, 'a'), { recursive: true, force: true })
    symlinkSync(outside, join(folder, 'a'))
    await lose()
    expect(readdirSync(outside)).toEqual([])
    expect(readlinkSync(join(folder, 'a'))).toBe(outside)
  })

  test('when a folder and a link are exchanged while a checkpoint is made', async () => {
    writeFiles(outside, { 'kept.txt': 'kept' })
    const sub = join(folder, 'sub')
    writeFiles(sub, { f: 'f' })
    commitIn(sub)
    mkdirSync(join(sub, 'empty'))
    await world.workspaces.checkpoint(S1)
    const { tree } = await checkpointWhile(() => {
      renameSync(sub, join(world.scratch, 'sub'))
      symlinkSync(outside, sub)
      return () => {
        rmSync(sub)
        renameSync(join(world.scratch, 'sub'), sub)
      }
    })
    expect(sh(world.repositories.work, 'ls-tree', tree, 'sub')).toMatch(/^120000/)
    await loseNow()
    expect(contentOf(outside)).toEqual([`kept.txt - ${btoa('kept')}`])
    expect(readdirSync(outside)).toEqual(['kept.txt'])
    expect(readlinkSync(sub)).toBe(outside)
  })

  test('nor read, when git has followed such a link', async () => {
    writeFiles(outside, { f: 'secret', g: 'secret' })
    const sub = join(folder, 'sub')
    writeFiles(sub, { f: 'f' })
    // To git a folder that is there for a moment is what a link is that it follows.
    const { tree } = await checkpointWhile(() => {
      renameSync(sub, join(world.scratch, 'sub'))
      renameSync(outside, sub)
      return () => {
        renameSync(sub, outside)
        renameSync(join(world.scratch, 'sub'), sub)
      }
    })
    const { work } = world.repositories
    expect(sh(work, 'ls-tree', '-r', '--name-only', tree, 'sub')).toBe('sub/f')
    expect(sh(work, 'show', `${tree}:sub/f`)).toBe('f')
    await lose()
    expect(contentOf(sub)).toEqual([`f - ${btoa('f')}`])
  })

  /** Makes a checkpoint in which `git add`, and nobody else, sees what `change` does. */
  function checkpointWhile(change: () => () => void): Promise<Checkpoint> {
    let last: Promise<unknown> = Promise.resolve()
    const changing: Git = {
      ...world.git,
      run(args, options) {
        const isAdd = args.includes('add') && options?.workTree === folder
        const next = last.then(async () => {
          const undo = isAdd ? change() : () => {}
          return world.git.run(args, options).finally(undo)
        })
        last = next.catch(() => {})
        return next
      },
    }
    return openWorkspaces(changing, world.repositories, world.state).checkpoint(S1)
  }
})

describe('a lost workspace comes back as it was', () => {
  test('where a file has taken the place of an empty folder', async () => {
    mkdirSync(join(folder, 'out'))
    await world.workspaces.remove(S1)
    await world.workspaces.restore(S1)
    expect(lstatSync(join(folder, 'out')).isDirectory()).toBe(true)
    rmSync(join(folder, 'out'), { recursive: true })
    writeFiles(folder, { out: 'a file' })
    await lose()
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('a file')
  })

  test('with the empty folders that it has, and not with those that it had', async () => {
    mkdirSync(join(folder, 'old/er'), { recursive: true })
    await world.workspaces.checkpoint(S1)
    rmSync(join(folder, 'old'), { recursive: true })
    mkdirSync(join(folder, 'new/er'), { recursive: true })
    await lose()
    expect(existsSync(join(folder, 'old'))).toBe(false)
    expect(existsSync(join(folder, 'new/er'))).toBe(true)
  })

  const shapes: Readonly<Record<string, () => void>> = {
    'a repository that has packed its refs': () => {
      writeFiles(folder, { 'pkg/f': 'f' })
      commitIn(join(folder, 'pkg'))
      sh(join(folder, 'pkg'), 'pack-refs', '--all')
    },
    'a fresh repository': () => {
      mkdirSync(join(folder, 'pkg'))
      sh(join(folder, 'pkg'), 'init', '-q')
    },
    'a bare repository': () => {
      mkdirSync(join(folder, 'pkg'))
      sh(join(folder, 'pkg'), 'init', '-q', '--bare')
    },
    'a name of 255 bytes in a .git folder': () => {
      mkdirSync(join(folder, 'pkg'))
      sh(join(folder, 'pkg'), 'init', '-q')
      writeFileSync(join(folder, 'pkg/.git', 'n'.repeat(255)), 'n')
    },
    'many levels in a .git folder': () => {
      mkdirSync(join(folder, 'pkg'))
      sh(join(folder, 'pkg'), 'init', '-q')
      writeFiles(join(folder, 'pkg/.git', ...Array(950).fill('ddd')), { f: 'deep' })
    },
    'a file called .git in a .git folder': () => {
      mkdirSync(join(folder, 'pkg'))
      sh(join(folder, 'pkg'), 'init', '-q')
      writeFiles(folder, { 'pkg/.git/.git': 'odd' })
    },
    'nothing but a file called .git in a .git folder': () =>
      writeFiles(folder, { 'pkg/.git/.git': 'odd', 'pkg/f': 'f' }),
    'a file called .git': () => writeFiles(folder, { 'pkg/.git': 'gitdir: ../x', 'pkg/f': 'f' }),
    'a file called .git in a tracked folder': () => writeFiles(folder, { 'src/.git': 'work' }),
    'a repository in a tracked folder': () => commitIn(join(folder, 'src')),
    'a .git folder in a tracked folder': () => writeFiles(folder, { 'src/.git/work.txt': 'work' }),
    'a repository in a repository': () => {
      writeFiles(folder, { 'pkg/f': 'f', 'pkg/in/g': 'g' })
      commitIn(join(folder, 'pkg/in'))
      sh(join(folder, 'pkg'), 'init', '-q')
    },
    'a name in a .git folder that is no text': () => {
      mkdirSync(join(folder, 'pkg'))
      sh(join(folder, 'pkg'), 'init', '-q')
      const name = Buffer.concat([Buffer.from(join(folder, 'pkg/.git/x')), Buffer.from([0xff])])
      writeFileSync(name, 'odd')
    },
    'a folder called .GIT': () => writeFiles(folder, { 'pkg/.GIT/f': 'f', 'pkg/g': 'g' }),
    'a link in a .git folder': () => {
      mkdirSync(join(folder, 'pkg'))
      sh(join(folder, 'pkg'), 'init', '-q')
      symlinkSync('../nowhere', join(folder, 'pkg/.git/link'))
    },
  }

  test.each(Object.keys(shapes))('with %s', async (shape) => {
    shapes[shape]?.()
    const parts = readdirSync(folder).filter((name) => name !== '.git' && name !== '.gitignore')
    const everything = () => parts.map((name) => everythingIn(join(folder, name)))
    const before = everything()
    await lose()
    expect(everything()).toEqual(before)
    expect((await world.workspaces.checkpoint(S1)).unstored).toEqual([])
    expect(await world.workspaces.remove(S1)).toBeUndefined()
  })

  test('with a repository in a folder whose files were stored before', async () => {
    writeFiles(folder, { 'pkg/f': 'f' })
    await world.workspaces.checkpoint(S1)
    commitIn(join(folder, 'pkg'))
    await lose()
    expect(sh(join(folder, 'pkg'), 'log', '--format=%s')).toBe('inner')
  })

  test('with the commits of its own branch, also when git has packed its refs', async () => {
    writeFiles(folder, { 'src/a.js': 'mine\n' })
    sh(folder, 'commit', '-qam', 'mine')
    const mine = sh(folder, 'rev-parse', 'HEAD')
    sh(folder, 'pack-refs', '--all')
    await lose()
    expect(sh(folder, 'rev-parse', 'HEAD')).toBe(mine)
    expect(sh(folder, 'status', '--porcelain')).toBe('')
  })

  test.each([
    ['commit-tree', 1],
    ['update-ref', 1],
    ['write-tree', 3],
  ] as const)('with a repository when git was ended at %s number %i', async (command, number) => {
    writeFiles(folder, { 'i/f': 'f' })
    commitIn(join(folder, 'i'))
    writeFiles(folder, { 'i/f': 'changed' })
    let seen = 0
    const ended: Git = {
      ...world.git,
      async run(args, options) {
        if (args.includes(command)) seen += 1
        if (seen >= number) throw new Error('ended')
        return world.git.run(args, options)
      },
    }
    const workspaces = openWorkspaces(ended, world.repositories, world.state)
    await expect(workspaces.checkpoint(S1)).rejects.toThrow('ended')
    await openRepositories(world.git, world.state)
    await world.workspaces.reconcile([S1])
    await lose()
    expect(sh(join(folder, 'i'), 'status', '--porcelain')).toBe('M f')
    expect(readFileSync(join(folder, 'i/f'), 'utf8')).toBe('changed')
  })

  test('with the neighbours of a repository whose name has a line end in it', async () => {
    const names = ['x\ny', 'x\ry', 'z[!a]*', 'tail\n']
    for (const name of names) {
      mkdirSync(join(folder, name))
      sh(join(folder, name), 'init', '-q')
      writeFiles(folder, { [`${name}/f`]: name })
    }
    writeFiles(folder, { xay: 'neighbour', x_y: 'neighbour', zb: 'neighbour', tails: 'neighbour' })
    const before = contentOf(folder, [])
    const isOurs = (line: string) => !line.startsWith('.git/')
    await lose()
    expect(contentOf(folder, []).filter(isOurs)).toEqual(before.filter(isOurs))
  })

  test('with the content of its new base, when it is lost before the next checkpoint', async () => {
    writeFiles(folder, { 'new.txt': 'old work' })
    await world.workspaces.checkpoint(S1)
    writeFiles(world.user, { 'src/a.js': 'next\n' })
    sh(world.user, 'commit', '-qam', 'next')
    await updateMirror(world.git, world.repositories, world.user)
    const next = sh(world.user, 'rev-parse', 'HEAD')
    await world.workspaces.prepare(S1, next)
    await loseNow()
    expect(sh(folder, 'rev-parse', 'HEAD')).toBe(next)
    expect(existsSync(join(folder, 'new.txt'))).toBe(false)
    writeFiles(folder, { 'new.txt': 'new work' })
    const { commit } = await world.workspaces.checkpoint(S1)
    writeFiles(folder, { 'new.txt': 'later work' })
    await world.workspaces.checkpoint(S1)
    await world.workspaces.prepare(S1, next, commit)
    await loseNow()
    expect(readFileSync(join(folder, 'new.txt'), 'utf8')).toBe('new work')
    expect(readFileSync(join(folder, 'src/a.js'), 'utf8')).toBe('next\n')
  })
})

describe('what cannot be stored or restored', () => {
  test('is named by the checkpoint, which holds all the rest', async () => {
    // A path that fits here, and in no longer folder.
    const room = 4_095 - Buffer.byteLength(`${folder}/pkg/.git/`)
    const parts = Array(Math.floor(room / 200)).fill('d'.repeat(199))
    const rest = room - parts.length * 200
    const path = ['pkg/.git', ...parts].join('/')
    mkdirSync(join(folder, path), { recursive: true })
    const name = `${path}/${'e'.repeat(rest)}`
    writeFileSync(join(folder, name), 'e')
    writeFiles(folder, { 'pkg/.git/f': 'f' })
    const checkpoint = await world.workspaces.checkpoint(S1)
    expect(checkpoint.unstored).toEqual([name])
    await lose()
    expect(readFileSync(join(folder, 'pkg/.git/f'), 'utf8')).toBe('f')
    mkdirSync(join(folder, path), { recursive: true })
    writeFileSync(join(folder, name), 'e')
    const kept = await world.workspaces.remove(S1)
    expect(kept?.count).toBe(1)
    expect(existsSync(join(kept?.folder ?? '', 'pkg/.git/f'))).toBe(true)
  })

  test('stops no other workspace at a start, and its checkpoint stays', async () => {
    const S2 = { run: 'r1', story: 's2' }
    const other = await world.workspaces.prepare(S2, world.base)
    for (const owner of [S1, S2]) await world.workspaces.checkpoint(owner)
    for (const path of [folder, other.folder]) rmSync(path, { recursive: true })
    const refs = () => sh(world.repositories.work, 'for-each-ref')
    const before = refs()
    const broken: Git = {
      ...world.git,
      run: (args, options) =>
        options?.workTree === `${folder}+new`
          ? Promise.reject(new Error('no room'))
          : world.git.run(args, options),
    }
    const workspaces = openWorkspaces(broken, world.repositories, world.state)
    const failed = [{ ...S1, reason: 'Error: no room' }]
    expect(await workspaces.reconcile([S1, S2])).toEqual({ ...NOTHING_DONE, failed })
    expect(existsSync(other.folder)).toBe(true)
    expect(refs()).toBe(before)
    expect(await world.workspaces.reconcile([S1, S2])).toEqual(NOTHING_DONE)
    expect(existsSync(folder)).toBe(true)
  })
})

describe('a user\u2019s repository that is not whole is refused with what to type:', () => {
  function copyOf(...args: string[]): string {
    writeFiles(world.user, { 'src/a.js': 'changed\n' })
    sh(world.user, 'commit', '-qam', 'next')
    sh(world.user, 'config', 'uploadpack.allowFilter', 'true')
    const copy = join(world.scratch, 'copy')
    sh(world.scratch, 'clone', '-q', ...args, `file://${world.user}`, copy)
    return copy
  }
  const update = (source: string) => updateMirror(world.git, world.repositories, source)

  test('a shallow clone', async () => {
    const copy = copyOf('--depth=1')
    await expect(update(copy)).rejects.toThrow(/git fetch --unshallow/)
    sh(copy, 'fetch', '-q', '--unshallow')
    await update(copy)
  })

  test('a partial clone', async () => {
    const copy = copyOf('--filter=blob:none')
    await expect(update(copy)).rejects.toThrow(/git fetch --refetch --no-filter/)
    sh(copy, 'fetch', '-q', '--refetch', '--no-filter')
    await update(copy)
  })

  test('one with other names for objects', async () => {
    const copy = join(world.scratch, 'sha256')
    sh(world.scratch, 'init', '-q', '--object-format=sha256', copy)
    await expect(update(copy)).rejects.toThrow(/sha256/)
  })
})
