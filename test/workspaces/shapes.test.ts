import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
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
import { type GitWorld, openGitWorld, plainGit as sh, writeFiles } from '../git/world.ts'

const S1 = { run: 'r1', story: 's1' }

let world: GitWorld
let folder: string

beforeEach(async () => {
  world = await openGitWorld({
    'src/a.js': 'a\n',
    'src/.gitmodules': '',
    '.gitignore': 'ignored/\n*.log\n',
  })
  ;({ folder } = await world.workspaces.prepare(S1, world.base))
})

afterEach(async () => {
  // Also what is deeper than a path can say.
  execFileSync('rm', ['-rf', world.scratch])
  await world.close()
})

/** A path below the workspace whose name is no text. */
const odd = (...parts: string[]) =>
  Buffer.concat([Buffer.from(`${folder}/od`), Buffer.from([0xff]), Buffer.from(parts.join(''))])

function makeRepository(path: string | Buffer): void {
  mkdirSync(path, { recursive: true })
  const inner = join(world.scratch, 'inner')
  mkdirSync(inner)
  writeFileSync(join(inner, 'work.txt'), 'work')
  sh(inner, 'init', '-q')
  sh(inner, 'add', '-A')
  sh(inner, 'commit', '-qm', 'inner')
  rmSync(path, { recursive: true })
  renameSync(inner, path)
}

/** Folders in folders until no path names the last, which has a file. */
function makeDeep(path: string): void {
  const parts = Array(15).fill('d'.repeat(100))
  mkdirSync(join(path, ...parts), { recursive: true })
  writeFileSync(join(path, ...parts, 'work.txt'), 'work')
  for (let i = 0; i < 4; i += 1) {
    const outer = `${path}-outer`
    mkdirSync(join(outer, ...parts), { recursive: true })
    renameSync(path, join(outer, ...parts, `level-${i}`))
    renameSync(outer, path)
  }
}

describe('what no checkpoint can hold is never removed:', () => {
  const shapes: Readonly<Record<string, [make: () => void, named: RegExp, where: string]>> = {
    'a repository in a folder whose name is no text': [
      () => makeRepository(odd()),
      /^od\ufffd\/work\.txt$/,
      '',
    ],
    'a file where a clone has its own folder of git': [
      () => {
        rmSync(join(folder, '.git'), { recursive: true })
        writeFiles(folder, { '.git': 'work' })
      },
      /^\.git$/,
      '.git',
    ],
    'a link called .gitmodules': [
      () => symlinkSync('work', join(folder, '.gitmodules')),
      /^\.gitmodules$/,
      '',
    ],
    'a link in the place of a file called .gitmodules': [
      () => {
        rmSync(join(folder, 'src/.gitmodules'))
        symlinkSync('work', join(folder, 'src/.gitmodules'))
      },
      /^src\/\.gitmodules$/,
      '',
    ],
    'what lies deeper than a path can say': [() => makeDeep(join(folder, 'deep')), /^deep\//, ''],
  }

  test.each(Object.keys(shapes))('%s', async (shape) => {
    const [make, named, where] = shapes[shape] as (typeof shapes)[string]
    make()
    writeFiles(folder, { 'plain.txt': 'stored' })
    const kept = await world.workspaces.remove(S1)
    expect(existsSync(folder)).toBe(false)
    expect(kept?.unstored[0]).toMatch(named)
    expect(kept?.count).toBeGreaterThan(0)
    if (where !== '') expect(readFileSync(join(kept?.folder ?? '', where), 'utf8')).toBe('work')
    // What could be stored was, and the story can be worked on again.
    await world.workspaces.restore(S1)
    expect(readFileSync(join(folder, 'plain.txt'), 'utf8')).toBe('stored')
    expect(sh(folder, 'rev-parse', 'HEAD')).toBe(world.base)
    expect(readdirSync(join(world.state, 'kept'))).toHaveLength(1)
  })

  test('nor when a workspace is made anew on another base', async () => {
    symlinkSync('work', join(folder, '.gitmodules'))
    const content = (await world.workspaces.checkpoint(S1)).commit
    await world.workspaces.prepare(S1, world.base, content)
    const [place = ''] = readdirSync(join(world.state, 'kept'))
    expect(place).toMatch(/^r1\+s1\+/)
    const kept = join(world.state, 'kept', place)
    expect(readlinkSync(join(kept, 'workspace/.gitmodules'))).toBe('work')
    expect(readFileSync(join(kept, 'unstored.txt'), 'utf8')).toBe('.gitmodules\n')
  })
})

describe('a removed workspace', () => {
  test('comes back with its empty folders, and with working repositories inside', async () => {
    mkdirSync(join(folder, 'empty/er/est'), { recursive: true })
    mkdirSync(odd('/e'), { recursive: true })
    mkdirSync(join(folder, 'inner'))
    sh(join(folder, 'inner'), 'init', '-q')
    expect(await world.workspaces.remove(S1)).toBeUndefined()
    await world.workspaces.restore(S1)
    expect(existsSync(join(folder, 'empty/er/est'))).toBe(true)
    expect(existsSync(odd('/e'))).toBe(true)
    expect(sh(join(folder, 'inner'), 'status', '--porcelain')).toBe('')
  })

  test('leaves nothing behind for what is ignored, linked, committed by hand or a repository', async () => {
    writeFiles(folder, { 'ignored/.git/x': 'x', 'ignored/deep/y': 'y', 'new/z.log': 'z' })
    symlinkSync('/nonexistent', join(folder, 'link'))
    makeRepository(join(folder, 'nested/repository'))
    writeFiles(folder, { 'src/b.js': 'b\n', 'odd \u00fc [x]*\n/-rf': 'x' })
    sh(folder, 'add', '-A', '--', 'src')
    sh(folder, 'commit', '-qm', 'by hand')
    expect(await world.workspaces.remove(S1)).toBeUndefined()
    expect(existsSync(join(world.state, 'kept'))).toBe(false)
  })
})
