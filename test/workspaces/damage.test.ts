import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRepositories } from '../../src/effects/git/repositories.ts'
import { type Place, placeOf } from '../../src/effects/workspace/place.ts'
import { openWorkspaces, type Workspaces } from '../../src/effects/workspace/workspaces.ts'
import { contentOf, type GitWorld, openGitWorld, plainGit as sh, writeFiles } from '../git/world.ts'

const S1 = { run: 'r1', story: 's1' }
const NOTHING_DONE = { removed: [], kept: [], missing: [], mended: [], failed: [] }

let world: GitWorld
let workspaces: Workspaces
let place: Place
let work: string

beforeEach(async () => {
  world = await openGitWorld({ 'src/a.js': 'a\n' })
  // Tracked, although it is ignored.
  writeFiles(world.user, { '.gitignore': 'gen/\n', 'gen/tracked.js': 'made\n' })
  sh(world.user, 'add', '-f', '.gitignore', 'gen/tracked.js')
  sh(world.user, 'commit', '-qm', 'made')
  const base = sh(world.user, 'rev-parse', 'HEAD')
  sh(world.repositories.mirror, 'fetch', '-q', world.user, '+main:refs/heads/main')
  ;({ workspaces } = world)
  work = world.repositories.work
  place = placeOf(world.state, S1)
  await workspaces.prepare(S1, base)
  writeFiles(place.folder, { 'new/one.txt': 'one\n', 'src/a.js': 'changed\n' })
  // Git reads a file again that is as young as its index.
  const past = new Date(Date.now() - 60_000)
  for (const path of ['new/one.txt', 'src/a.js']) utimesSync(join(place.folder, path), past, past)
})

afterEach(() => world.close())

/** A start of the product on the same state folder. */
async function start(): Promise<void> {
  const repositories = await openRepositories(world.git, world.state)
  workspaces = openWorkspaces(world.git, repositories, world.state)
}

function objectOf(name: string): string {
  const id = sh(work, 'rev-parse', name)
  return join(work, 'objects', id.slice(0, 2), id.slice(2))
}

function spoil(path: string, content: string): void {
  chmodSync(path, 0o600)
  writeFileSync(path, content)
}

/** All files of the disk are in a commit, and every object of it can be read. */
async function expectAllStored(): Promise<void> {
  const commit = (await workspaces.commit(S1, 'work')) as string
  const copy = join(world.scratch, `copy-${commit}`)
  rmSync(copy, { recursive: true, force: true })
  sh(world.scratch, 'init', '-q', copy)
  sh(copy, 'fetch', '-q', work, commit)
  sh(copy, 'checkout', '-q', 'FETCH_HEAD')
  expect(contentOf(copy)).toEqual(contentOf(place.folder))
  expect(existsSync(join(copy, 'gen/tracked.js'))).toBe(true)
  sh(copy, 'fetch', '-q', work, (await workspaces.checkpoint(S1)).commit)
}

const damages: Readonly<Record<string, () => void>> = {
  'a lost index': () => rmSync(place.index),
  'an index of nonsense': () => writeFileSync(place.index, 'nonsense'.repeat(100)),
  'an index with one wrong byte': () => {
    const bytes = readFileSync(place.index)
    const at = bytes.indexOf('gen/tracked.js')
    bytes[at + 4] = 'T'.charCodeAt(0)
    writeFileSync(place.index, bytes)
  },
  'a lost record': () => rmSync(place.record),
  'a record of nonsense': () => writeFileSync(place.record, '{"base":3}'),
  'a record with one wrong byte in its base': () => {
    const { base, ...others } = JSON.parse(readFileSync(place.record, 'utf8'))
    const wrong = `${base[0] === 'a' ? 'b' : 'a'}${base.slice(1)}`
    writeFileSync(place.record, JSON.stringify({ base: wrong, ...others }))
  },
  'a lost object': () => rmSync(objectOf(`${place.checkpointRef}:new/one.txt`)),
  'an empty object': () => spoil(objectOf(`${place.checkpointRef}:new/one.txt`), ''),
  'a lost tree': () => rmSync(objectOf(`${place.checkpointRef}:new`)),
  'an empty checkpoint': () => spoil(objectOf(place.checkpointRef), ''),
  'a lost checkpoint': () => rmSync(objectOf(place.checkpointRef)),
  'a damaged pack': () => {
    sh(work, 'repack', '-qad', '-l')
    const packs = join(work, 'objects', 'pack')
    const pack = join(packs, readdirSync(packs).find((name) => name.endsWith('.pack')) ?? '')
    const bytes = readFileSync(pack)
    spoil(pack, '')
    bytes.fill(0, Math.floor(bytes.length / 3), bytes.length - 20)
    writeFileSync(pack, bytes)
  },
  'a ref that leads elsewhere': () => sh(work, 'update-ref', place.checkpointRef, 'main'),
  'an empty ref': () => writeFileSync(join(work, place.checkpointRef), ''),
  'an empty branch': () => writeFileSync(join(work, 'refs/heads', place.branch), ''),
  'no repository of the work at all': () => rmSync(work, { recursive: true }),
}

describe('a workspace whose files are there is stored whole in spite of', () => {
  beforeEach(async () => {
    sh(work, 'fetch', '-q', world.repositories.mirror, '+main:refs/heads/main')
    await workspaces.commit(S1, 'first')
    // What git believes to have is not read again.
    await workspaces.checkpoint(S1)
  })

  test.each(Object.keys(damages))('%s', async (damage) => {
    const before = contentOf(place.folder)
    damages[damage]?.()
    await start()
    const { mended, ...others } = await workspaces.reconcile([S1])
    expect({ ...others, mended: [] }).toEqual(NOTHING_DONE)
    // A branch and a repository that were lost with their refs are no workspace's damage.
    const isNamed = !/branch|at all/.test(damage)
    expect(mended).toHaveLength(isNamed ? 1 : 0)
    expect(contentOf(place.folder)).toEqual(before)
    await expectAllStored()
    expect(await workspaces.reconcile([S1])).toEqual(NOTHING_DONE)
    writeFiles(place.folder, { 'new/two.txt': 'two\n' })
    expect(await workspaces.remove(S1)).toBeUndefined()
    await workspaces.restore(S1)
    expect(contentOf(place.folder)).toEqual([...before, `new/two.txt - ${btoa('two\n')}`].sort())
  })

  test.each(['a lost index', 'a lost record', 'a lost object', 'a damaged pack', 'an empty ref'])(
    '%s, in the middle of the work',
    async (damage) => {
      damages[damage]?.()
      writeFiles(place.folder, { 'src/b.js': 'b\n' })
      await expectAllStored()
      damages[damage]?.()
      const before = contentOf(place.folder)
      expect(await workspaces.remove(S1)).toBeUndefined()
      await workspaces.restore(S1)
      expect(contentOf(place.folder)).toEqual(before)
    },
  )
})

describe('a workspace about which nothing can be found out', () => {
  beforeEach(() => {
    rmSync(place.record)
    rmSync(join(place.folder, '.git/logs'), { recursive: true })
  })

  test('is named at a start, kept whole, and made anew for whoever wants it', async () => {
    const before = contentOf(place.folder)
    const { failed } = await workspaces.reconcile([S1])
    expect(failed).toMatchObject([{ ...S1, reason: expect.stringMatching(/nothing is known/) }])
    expect(contentOf(place.folder)).toEqual(before)
    await workspaces.prepare(S1, world.base)
    expect(sh(place.folder, 'status', '--porcelain')).toBe('')
    const [kept = ''] = readdirSync(join(world.state, 'kept'))
    expect(contentOf(join(world.state, 'kept', kept, 'workspace'))).toEqual(before)
  })

  test('is kept whole when nobody wants it', async () => {
    const before = contentOf(place.folder)
    const { removed, kept } = await workspaces.reconcile([])
    expect(removed).toEqual([S1])
    expect(contentOf(kept[0]?.folder ?? '')).toEqual(before)
  })
})

test('a workspace that is lost together with its checkpoint is named, not made from nothing', async () => {
  await workspaces.checkpoint(S1)
  rmSync(place.folder, { recursive: true })
  sh(work, 'fetch', '-q', world.repositories.mirror, '+main:refs/heads/main')
  sh(work, 'update-ref', place.checkpointRef, 'main')
  const { failed, missing } = await workspaces.reconcile([S1])
  expect(missing).toEqual([])
  expect(failed).toMatchObject([{ ...S1, reason: expect.stringMatching(/no checkpoint/) }])
  await expect(workspaces.prepare(S1, world.base)).rejects.toThrow(/no checkpoint/)
  expect(existsSync(place.folder)).toBe(false)
})

test('an object that cannot be read keeps nobody from cleaning up', async () => {
  // One that ends too early, and otherwise looks well.
  const half = deflateSync(Buffer.concat([Buffer.from('blob 9000\0'), randomBytes(9_000)]))
  mkdirSync(join(work, 'objects/17'), { recursive: true })
  for (let i = 0; i < 10; i += 1) {
    writeFileSync(join(work, 'objects/17', String(i).repeat(38)), half.subarray(0, 2_000))
  }
  const { tree } = await workspaces.checkpoint(S1)
  expect(await workspaces.remove(S1)).toBeUndefined()
  expect(readdirSync(join(work, 'damaged'))).toHaveLength(10)
  expect(sh(work, 'show', `${tree}:new/one.txt`)).toBe('one')
})

test('a message with control characters is a message without them', async () => {
  await workspaces.commit(S1, 'Add\0 one\x1b[2J\r\n\nBody.\x07\n')
  expect(sh(work, 'log', '-1', '--format=%B', place.branch)).toBe('Add one[2J\n\nBody.')
})

test('a workspace is rewound without an index that is whole', async () => {
  await workspaces.checkpoint(S1)
  const before = contentOf(place.folder)
  writeFiles(place.folder, { 'new/one.txt': 'spoilt\n', 'gen/tracked.js': 'spoilt\n', litter: '' })
  writeFileSync(place.index, 'nonsense')
  await workspaces.rewind(S1)
  expect(contentOf(place.folder)).toEqual(before)
})

test('a start removes what a killed git has left: locks, half objects and half packs', async () => {
  const { mirror } = world.repositories
  const locks = [
    `${place.index}.lock`,
    join(work, `${place.checkpointRef}.lock`),
    join(work, 'packed-refs.lock'),
    join(mirror, 'refs/heads/main.lock'),
  ]
  const halves = [work, mirror].flatMap((repository) => [
    join(repository, 'objects/pack/tmp_pack_abc123'),
    join(repository, 'objects/pack/.tmp-12-pack-abc.pack'),
    join(repository, 'objects/tmp_objdir-bulk-fsync-abc/aa/tmp_obj'),
    join(repository, 'objects/aa/tmp_obj_abc123'),
  ])
  for (const path of [...locks, ...halves]) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'half')
  }
  await start()
  expect([...locks, ...halves].filter((path) => existsSync(path))).toEqual([])
  await workspaces.checkpoint(S1)
  execFileSync('git', ['update-ref', 'refs/heads/main', world.base], { cwd: mirror })
})
