import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTarget } from '../../src/cli/engine/target.ts'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import {
  openRepositories,
  type Repositories,
  updateMirror,
} from '../../src/effects/git/repositories.ts'
import { mergeStory } from '../../src/effects/merge/merge-story.ts'
import { placeOf } from '../../src/effects/workspace/place.ts'
import { openWorkspaces, type Workspaces } from '../../src/effects/workspace/workspaces.ts'
import { contentOf, type GitWorld, openGitWorld, plainGit as sh, writeFiles } from '../git/world.ts'
import { Crash, crashingGit } from '../merge/crash.ts'

const ownerOf = (story: string) => ({ run: 'r1', story })

let world: GitWorld
let repositories: Repositories
let workspaces: Workspaces
let mirror: string
let work: string
/** Where the target is after the first story, and what the second has handed in. */
let target: string
let head: string
let folder: string
let before: string[]

/** A start of the product on the same state folder. */
async function start(): Promise<void> {
  repositories = await openRepositories(world.git, world.state)
  workspaces = openWorkspaces(world.git, repositories, world.state)
}

const openForge = () =>
  openLocalForge({ git: world.git, repositories, folder: join(world.state, 'pull-requests') })

async function merge(story: string, handedIn: string) {
  const forge = await openForge()
  const draft = { branch: `slipway/r1/${story}`, head: handedIn, target: 'main', title: story }
  const opened = await forge.openPullRequest({ ...draft, body: '' })
  if (!opened.ok) return { kind: 'forge_failed', error: opened.error }
  const request = { ...draft, body: '', owner: ownerOf(story), atMs: 1e12 }
  const gate = async () => ({ passed: true, gate: null })
  const parts = { git: world.git, repositories, forge, gate }
  const { signal } = new AbortController()
  return mergeStory(parts, { ...request, number: opened.value.number }, signal)
}

beforeEach(async () => {
  world = await openGitWorld({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'dir/c.txt': 'c\n' })
  ;({ repositories, workspaces } = world)
  ;({ mirror, work } = repositories)
  const one = await workspaces.prepare(ownerOf('one'), world.base)
  writeFiles(one.folder, { 'a.txt': 'A\n' })
  await merge('one', (await workspaces.commit(ownerOf('one'), 'one')) as string)
  await workspaces.remove(ownerOf('one'))
  target = sh(mirror, 'rev-parse', 'main')
  folder = (await workspaces.prepare(ownerOf('two'), target)).folder
  writeFiles(folder, { 'b.txt': 'B\n', 'new.txt': 'new\n' })
  head = (await workspaces.commit(ownerOf('two'), 'two')) as string
  before = contentOf(folder)
})

afterEach(() => world.close())

const spoil = (path: string, content: string) => {
  chmodSync(path, 0o600)
  writeFileSync(path, content)
}

/** Packs as the product does, when much has been written. */
const packMirror = () => {
  sh(mirror, 'repack', '-qad')
  const packs = join(mirror, 'objects/pack')
  return join(packs, readdirSync(packs).find((name) => name.endsWith('.pack')) ?? '')
}

const packRefs = (repository: string, hasCopy = true) => {
  sh(repository, 'pack-refs', '--all')
  const path = join(repository, 'packed-refs')
  if (hasCopy) copyFileSync(path, `${path}.copy`)
  return path
}

const flip = (path: string, at: number) => {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 0x55
  writeFileSync(path, bytes)
}

const damages: Readonly<Record<string, readonly [note: RegExp, damage: () => void]>> = {
  'an empty HEAD of the mirror': [/HEAD of mirror/, () => writeFileSync(join(mirror, 'HEAD'), '')],
  'an empty HEAD of the work': [/HEAD of work/, () => writeFileSync(join(work, 'HEAD'), '')],
  'no HEAD of the work': [/HEAD of work/, () => rmSync(join(work, 'HEAD'))],
  'a HEAD with one wrong byte': [/HEAD of work/, () => flip(join(work, 'HEAD'), 2)],
  'no way from the work to the mirror': [
    /alternates of work/,
    () => rmSync(join(work, 'objects/info/alternates')),
  ],
  'an empty ref of the archive': [
    /^$/,
    () => writeFileSync(join(work, 'refs/slipway/archive'), ''),
  ],
  'no ref of the archive': [/^$/, () => rmSync(join(work, 'refs/slipway/archive'))],
  'an archive that leads nowhere': [
    /^$/,
    () => writeFileSync(join(work, 'refs/slipway/archive'), `${'7'.repeat(40)}\n`),
  ],
  'an archive that went back to where it was packed': [
    /^$/,
    () => sh(work, 'update-ref', 'refs/slipway/archive', 'refs/slipway/archive~1'),
  ],
  'packed refs that were cut off': [
    /packed-refs of work.git was damaged and is kept as .*mended/,
    () => {
      const path = packRefs(work)
      truncateSync(path, Math.floor(readFileSync(path).length / 2))
    },
  ],
  'packed refs with a line of nonsense': [
    /packed-refs of work.git was damaged/,
    () => appendFileSync(packRefs(work, false), 'nonsense\n'),
  ],
  'no packed refs': [/packed-refs of work.git was gone/, () => rmSync(packRefs(work))],
  'packed refs of the mirror that are empty': [
    /packed-refs of mirror/,
    () => writeFileSync(packRefs(mirror), ''),
  ],
  'no branch of the target': [
    /main of mirror.git is back/,
    () => rmSync(join(mirror, 'refs/heads/main')),
  ],
  'no branch of the target, where an older one is packed': [
    /main of mirror.git is back/,
    () => {
      sh(mirror, 'update-ref', 'refs/heads/main', world.base)
      packRefs(mirror)
      sh(mirror, 'update-ref', 'refs/heads/main', target)
      rmSync(join(mirror, 'refs/heads/main'))
    },
  ],
  'an empty branch of the target': [
    /main of mirror.git is back/,
    () => writeFileSync(join(mirror, 'refs/heads/main'), ''),
  ],
  'a damaged commit of the target': [
    /mirror.git could not be read and is kept as/,
    () => spoil(join(mirror, 'objects', target.slice(0, 2), target.slice(2)), 'nonsense'),
  ],
  'a pack of the mirror that was cut off': [
    /mirror.git could not be read and is kept as/,
    () => {
      const pack = packMirror()
      chmodSync(pack, 0o600)
      truncateSync(pack, 40)
    },
  ],
  'no mirror at all': [
    /mirror.git was gone; it was fetched/,
    () => rmSync(mirror, { recursive: true }),
  ],
}

test.each(Object.keys(damages))('a start mends %s', async (name) => {
  const [note, damage] = damages[name] ?? [/./, () => {}]
  damage()
  await start()
  expect(repositories.notes.join('\n')).toMatch(note)
  const { failed, missing } = await workspaces.reconcile([ownerOf('two')])
  expect([...failed, ...missing]).toEqual([])
  expect(sh(mirror, 'rev-parse', 'main')).toBe(target)
  expect(contentOf(folder)).toEqual(before)
  expect(await merge('two', head)).toMatchObject({ kind: 'merged', onto: target })
  expect(sh(mirror, 'show', 'main:a.txt', 'main:b.txt')).toBe('A\nB')
  const { folder: three } = await workspaces.prepare(ownerOf('three'), target)
  expect(contentOf(three)).toContain(`a.txt - ${btoa('A\n')}`)
  await workspaces.remove(ownerOf('three'))
  // What was removed long ago is in the archive.
  expect(await workspaces.restore(ownerOf('one'))).toMatchObject({ base: world.base })
  sh(work, 'fsck', '--connectivity-only')
  await start()
  expect(repositories.notes).toEqual([])
})

describe('a start that is ended while it makes the mirror again is gone on with by the next', () => {
  const kill = async (damage: () => void) => {
    for (let atCommand = 1, crashed = true; crashed; atCommand += 1) {
      damage()
      crashed = await openRepositories(crashingGit(world.git, atCommand, 'before'), world.state)
        .then(() => false)
        .catch((error) => error instanceof Crash)
      if (!crashed) expect(atCommand).toBeGreaterThan(4)
      await start()
      expect(sh(mirror, 'rev-parse', 'main')).toBe(target)
      const { failed, missing } = await workspaces.reconcile([ownerOf('two')])
      expect([...failed, ...missing]).toEqual([])
    }
    expect(await merge('two', head)).toMatchObject({ kind: 'merged', onto: target })
  }

  test('where it was gone', () => kill(() => rmSync(mirror, { recursive: true })))

  test('where stories are in what is left of it alone', () =>
    kill(() => {
      packMirror()
      sh(work, 'repack', '-qadl')
      sh(work, 'prune-packed')
      rmSync(`${mirror}.damaged-1`, { recursive: true, force: true })
      writeFileSync(join(mirror, 'refs/heads/other'), `${'7'.repeat(40)}\n`)
    }))
})

test('a start with nothing damaged says nothing', async () => {
  // Bytes of these names are a blank in another encoding.
  sh(world.user, 'branch', 'à-faire')
  sh(world.user, 'tag', 'Релиз')
  await updateMirror(world.git, repositories, world.user)
  packRefs(mirror)
  const refs = sh(mirror, 'for-each-ref')
  await start()
  expect(repositories.notes).toEqual([])
  expect(sh(mirror, 'for-each-ref')).toBe(refs)
})

test('a start with a repository that has no commit says nothing', async () => {
  const [user, state] = [join(world.scratch, 'empty'), join(world.scratch, 'fresh-state')]
  sh(world.scratch, 'init', '-q', user)
  await updateMirror(world.git, await openRepositories(world.git, state), user)
  expect((await openRepositories(world.git, state)).notes).toEqual([])
})

describe('a mirror that is lost with stories that are nowhere else', () => {
  beforeEach(() => {
    // As after packing: the work keeps no object that the mirror has packed.
    packMirror()
    sh(work, 'repack', '-qadl')
    sh(work, 'prune-packed')
    renameSync(mirror, join(world.scratch, 'lost.git'))
  })

  test('is named with what to type, and nothing is merged onto less', async () => {
    await start()
    const notes = repositories.notes.join('\n')
    expect(notes).toContain(
      `main of mirror.git was at ${target}, with stories that are nowhere else`,
    )
    const outcome = await merge('two', head)
    expect(outcome).toMatchObject({ kind: 'forge_failed', error: { code: 'storage' } })
    expect(contentOf(folder)).toEqual(before)
    // Nor does a further run begin anew there.
    await updateMirror(world.git, repositories, world.user)
    await expect(openTarget(world.git, repositories, 'main')).rejects.toThrow(target)
    // It is said at every start until somebody decides.
    await start()
    expect(repositories.notes.join('\n')).toContain(target)
  })

  test('is back when a repository that has them is named', async () => {
    await start()
    const [, command = ''] =
      /: (git -C \S+ fetch <repository> \S+)\. /.exec(`${repositories.notes.join(' ')} `) ?? []
    const [, , at = '', ...args] = command.split(' ')
    const lost = join(world.scratch, 'lost.git')
    sh(at, ...args.map((arg) => (arg === '<repository>' ? lost : arg)))
    await start()
    expect(repositories.notes).toEqual([])
    expect(await merge('two', head)).toMatchObject({ kind: 'merged', onto: target })
  })

  test('begins anew at the user’s branch when they are given up', async () => {
    await start()
    const [, command = ''] =
      /: (git -C \S+ update-ref \S+ \S+)$/.exec(repositories.notes.join('\n')) ?? []
    const [, , at = '', ...args] = command.split(' ')
    sh(at, ...args)
    await start()
    await openTarget(world.git, repositories, 'main')
    const answer = await (await openForge()).readTarget('main')
    expect(answer).toEqual({ ok: true, value: world.base })
  })

  test('is back by itself where the user has fetched them', async () => {
    sh(world.user, 'fetch', '-q', join(world.scratch, 'lost.git'), 'main:slipway-main')
    await start()
    expect(sh(mirror, 'rev-parse', 'main')).toBe(target)
    expect(await merge('two', head)).toMatchObject({ kind: 'merged', onto: target })
  })
})

test('nothing begins on a branch that has no commit', async () => {
  sh(world.user, 'switch', '-q', '--orphan', 'fresh')
  await updateMirror(world.git, repositories, world.user)
  await expect(openTarget(world.git, repositories, 'fresh')).rejects.toThrow(
    'no branch fresh, or no commit on it. Commit something first, or name another with --target.',
  )
})

test.each([false, true])('a lost work is named, with the mirror: %s', async (withMirror) => {
  rmSync(work, { recursive: true })
  if (withMirror) rmSync(mirror, { recursive: true })
  await start()
  expect(repositories.notes.join('\n')).toMatch(/work.git was gone, with the archive/)
  expect(sh(mirror, 'rev-parse', 'refs/origin/heads/main')).toBe(world.base)
  if (withMirror) return
  expect(await workspaces.reconcile([ownerOf('two')])).toMatchObject({ failed: [], missing: [] })
  const again = (await workspaces.commit(ownerOf('two'), 'two')) as string
  expect(await merge('two', again)).toMatchObject({ kind: 'merged', onto: target })
  await start()
  expect(repositories.notes).toEqual([])
})

test('a state folder that lies in a repository fetches no other', async () => {
  sh(world.scratch, 'init', '-q')
  rmSync(mirror, { recursive: true })
  await start()
  expect(repositories.notes[0]).toMatch(/fetched again when the next run begins/)
  expect(sh(mirror, 'for-each-ref', 'refs/origin')).toBe('')
})

test('refs that no copy has are named as maybe missing, and the file is kept', async () => {
  const path = packRefs(work, false)
  const half = readFileSync(path).subarray(0, 100)
  writeFileSync(path, half)
  await start()
  expect(repositories.notes.join('\n')).toMatch(/no copy of it, and refs may be missing/)
  const kept = join(work, 'damaged', 'packed-refs-1')
  expect(readFileSync(kept)).toEqual(half)
  const { failed } = await workspaces.reconcile([ownerOf('two')])
  expect(failed).toEqual([])
  expect(contentOf(folder)).toEqual(before)
  expect(existsSync(placeOf(world.state, ownerOf('two')).record)).toBe(true)
})

test('refs are mended by the next start where one was ended while it did so', async () => {
  appendFileSync(packRefs(work, false), 'nonsense\n')
  const draft = join(work, 'packed-refs.new')
  mkdirSync(draft)
  await expect(start()).rejects.toThrow(/EISDIR/)
  rmdirSync(draft)
  await start()
  expect(repositories.notes.join('\n')).toMatch(/packed-refs of work.git was damaged/)
  expect(await merge('two', head)).toMatchObject({ kind: 'merged', onto: target })
  expect(await workspaces.restore(ownerOf('one'))).toMatchObject({ base: world.base })
})
