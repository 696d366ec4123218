import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type GitWorld, writeFiles } from '../git/world.ts'
import { calmGit } from './calm-git.ts'
import { type HostileWorld, openHostileWorld, SECRET } from './hostile-world.ts'
import { plant } from './planting.ts'
import { walkProduct } from './product-path.ts'
import { snapshot } from './snapshot.ts'
import { TAMPERINGS } from './tamperings.ts'
import { openTrustingGit } from './trusting-git.ts'
import type { Vector } from './vector.ts'

let hostile: HostileWorld
let world: GitWorld | undefined

afterEach(async () => {
  await world?.close()
  world = undefined
  hostile.close()
})

/** Many hundred processes: half a minute, and more where others are at work. */
const TIMEOUT_MS = 300_000

const EVERY = Object.keys(TAMPERINGS)
const SOME = ['planted', 'git-is-a-link', 'repositories-inside', 'submodule-is-filled']

describe.each([
  ['that stand side by side', (vector: Vector) => !vector.hidesOthers, EVERY],
  ['that hide others too', () => true, SOME],
])('of vectors %s', (_, isPlanted, tamperings) => {
  test('the product runs none, and touches nothing of the user', {
    timeout: TIMEOUT_MS,
  }, async () => {
    hostile = openHostileWorld(isPlanted)
    const places = [hostile.user, hostile.home, hostile.outside]
    const before = places.map(snapshot)
    world = await hostile.start()
    await walkProduct(hostile, world, tamperings)
    expect(hostile.marks.read()).toEqual([])
    expect(places.map(snapshot)).toEqual(before)
    for (const repository of [world.repositories.mirror, world.repositories.work]) {
      const objects = calmGit(repository, 'cat-file', '--batch-all-objects', '--batch')
      expect(objects).not.toContain(SECRET)
    }
  })
})

describe('a state folder that came with the repository', () => {
  const repositories = () => join(hostile.scratch, 'state/git')

  test('is made ours before git runs in it', { timeout: TIMEOUT_MS }, async () => {
    hostile = openHostileWorld(() => true)
    for (const name of ['mirror.git', 'work.git']) {
      const folder = join(repositories(), name)
      calmGit('/', 'init', '-q', '--bare', folder)
      const lent = name === 'work.git' ? '../../mirror.git/objects\n' : ''
      writeFiles(folder, { 'objects/info/alternates': lent })
      const ground = { name, folder, config: join(folder, 'config') }
      plant(hostile.vectors, { ...ground, tree: folder, scratch: hostile.scratch }, hostile.marks)
    }
    world = await hostile.start()
    await walkProduct(hostile, world, ['planted'])
    expect(hostile.marks.read()).toEqual([])
  })

  const links = ['', 'mirror.git', 'work.git/refs', 'template', 'mirror.git.damaged-1']
  test.each([...links, 'work.git/objects/info', 'mirror.git/refs/heads', 'index/r1'])(
    'writes to no place that the link %j in it leads to',
    async (link) => {
      hostile = openHostileWorld(() => false)
      const before = snapshot(hostile.outside)
      mkdirSync(dirname(join(repositories(), link)), { recursive: true })
      symlinkSync(hostile.outside, join(repositories(), link).replace(/\/$/, ''))
      await expect(hostile.start()).rejects.toThrow(/somebody else/)
      expect(snapshot(hostile.outside)).toEqual(before)
    },
  )
})

test('a git that trusts the machine runs them on the same way', {
  timeout: TIMEOUT_MS,
}, async () => {
  // Without the one that ends every fetch.
  hostile = openHostileWorld(({ name, hidesOthers }) => {
    return !hidesOthers && name !== 'home.packObjectsHook'
  })
  world = await hostile.start(openTrustingGit)
  await walkProduct(hostile, world, ['planted'])
  expect(hostile.marks.read()).toEqual([
    'GIT_CONFIG_PARAMETERS@home',
    'GIT_TRACE2_EVENT@home',
    'GIT_TRACE@home',
    'home.core.hooksPath@home',
  ])
})
