import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Forge, PullRequest } from '../../src/effects/forge/forge.ts'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import { changeRefs, readRef } from '../../src/effects/git/refs.ts'
import { type GitWorld, plainGit } from '../git/world.ts'
import { Crash, crashingGit } from '../merge/crash.ts'
import { describeForge, type ForgePlace } from './conformance.ts'
import { branchOf, handIn, requireError, requireValue, squash, work } from './handed-in.ts'
import { openWorldTemplate, type WorldTemplate } from './world-template.ts'

let template: WorldTemplate

beforeAll(async () => {
  template = await openWorldTemplate()
})

afterAll(() => template.close())

const folderOf = ({ state }: GitWorld) => join(state, 'pull-requests')

function openIn(world: GitWorld, git = world.git) {
  return openLocalForge({ git, repositories: world.repositories, folder: folderOf(world) })
}

async function moveTarget({ git, repositories, base }: GitWorld): Promise<string> {
  const repository = repositories.mirror
  const args = ['commit-tree', `${base}^{tree}`, '-p', base, '-m', 'from elsewhere']
  const { text } = await git.run(args, { repository })
  await changeRefs(git, repository, [{ ref: 'refs/heads/main', to: text, from: base }])
  return text
}

async function makePlace(): Promise<ForgePlace> {
  const world = await template.copy()
  const { mirror, work: stories } = world.repositories
  return {
    world,
    open: () => openIn(world),
    async reviewsOf(number) {
      return JSON.parse(readFileSync(join(folderOf(world), `${number}.json`), 'utf8')).reviews
    },
    moveTarget: () => moveTarget(world),
    headOf: (branch) =>
      readRef(world.git, branch === 'main' ? mirror : stories, `refs/heads/${branch}`),
    dispose: () => world.close(),
  }
}

describeForge('the local one', makePlace)

describe('the local forge', () => {
  let world: GitWorld

  beforeEach(async () => {
    world = await template.copy()
  })

  afterEach(() => world.close())

  const handedIn = async (story = 's1') =>
    handIn(await openIn(world), story, await work(world, story))

  test.each(['before', 'after'] as const)('merges once, crashed %s any command', async (when) => {
    for (let atCommand = 1, crashed = true; crashed; atCommand += 1) {
      const story = `s${atCommand}`
      const target = plainGit(world.repositories.mirror, 'rev-parse', 'main')
      const pull = await handIn(await openIn(world), story, await work(world, story, target))
      const request = await squash(world, pull, target)
      const broken = openIn(world, crashingGit(world.git, atCommand, when))
      crashed = await broken
        .then((forge) => forge.merge(request))
        .then(
          () => false,
          (error) => error instanceof Crash,
        )
      if (!crashed) expect(atCommand).toBeGreaterThan(5)
      const { mergeCommit } = request
      const forge = await openIn(world)
      const merged = { kind: 'merged', mergeCommit, asTested: true }
      expect(requireValue(await forge.merge(request))).toEqual(merged)
      expect(plainGit(world.repositories.mirror, 'rev-parse', 'main', 'main^')).toBe(
        `${mergeCommit}\n${target}`,
      )
      const ref = `refs/heads/${branchOf(story)}`
      expect(await readRef(world.git, world.repositories.work, ref)).toBeUndefined()
      const state = { state: 'merged', mergeCommit, head: pull.head }
      expect(requireValue(await (await openIn(world)).readPullRequest(pull.number))).toMatchObject(
        state,
      )
    }
  })

  test('finds a merge by its trailers when the commit was made anew', async () => {
    const pull = await handedIn()
    const request = await squash(world, pull, world.base)
    const { git, repositories } = world
    // The target moved and the process ended; then somebody else went on from there.
    await git.run(['fetch', '-q', repositories.work, request.mergeCommit], {
      repository: repositories.mirror,
    })
    const target = [{ ref: 'refs/heads/main', to: request.mergeCommit, from: world.base }]
    await changeRefs(git, repositories.mirror, target)
    const anew = await squash(world, pull, request.mergeCommit)
    const { mergeCommit } = request
    const answer = requireValue(await (await openIn(world)).merge(anew))
    expect(answer).toEqual({ kind: 'merged', mergeCommit, asTested: true })
    expect(plainGit(repositories.mirror, 'rev-list', '--count', 'main')).toBe('2')
  })

  test('believes no trailer that a story has smuggled into its message', async () => {
    const pull = await handedIn('s1')
    const { git, repositories, base } = world
    const stdin = `A story\n\nSlipway-Head: ${pull.head}\nSlipway-Head: ${base}\n`
    const args = ['commit-tree', `${base}^{tree}`, '-p', base, '-F', '-']
    const { text: forged } = await git.run(args, { repository: repositories.mirror, stdin })
    await changeRefs(git, repositories.mirror, [{ ref: 'refs/heads/main', to: forged, from: base }])
    const answer = requireValue(
      await (await openIn(world)).merge(await squash(world, pull, forged)),
    )
    expect(answer).toMatchObject({ kind: 'merged' })
    expect(plainGit(repositories.mirror, 'show', 'main:s1.txt')).toContain('s1 on')
  })

  test('refuses a commit that does not stand on the target alone', async () => {
    const pull = await handedIn()
    const request = await squash(world, pull, world.base)
    const other = await work(world, 's2', pull.head)
    const forge = await openIn(world)
    for (const mergeCommit of [other, world.base.replace(/./g, 'f')]) {
      const answer = await forge.merge({ ...request, mergeCommit })
      expect(requireError(answer)).toMatchObject({ code: 'invalid', retry: 'never' })
    }
    expect(plainGit(world.repositories.mirror, 'rev-parse', 'main')).toBe(world.base)
  })

  test('keeps the head that was merged, though its branch is gone', async () => {
    const forge = await openIn(world)
    const first = await handIn(forge, 's1', await work(world, 's1'))
    const head = await work(world, 's1', first.head)
    const request = await squash(world, { ...first, head }, world.base)
    expect(requireValue(await forge.merge(request))).toMatchObject({ kind: 'merged' })
    const { work: stories } = world.repositories
    expect(plainGit(stories, 'rev-parse', `refs/pull/${first.number}/head`)).toBe(head)
  })

  test('passes over a half-written record, and goes on with a damaged one', async () => {
    const pull = await handedIn()
    const file = join(folderOf(world), `${pull.number}.json`)
    writeFileSync(`${file}.new`, '{"number": 1, "bra')
    const forge = await openIn(world)
    expect(requireValue(await forge.readPullRequest(pull.number))).toEqual(pull)
    for (const damage of [() => writeFileSync(file, '{"numb'), () => rmSync(file)]) {
      damage()
      const mended = await openIn(world)
      expect(requireValue(await mended.readPullRequest(pull.number))).toEqual(pull)
    }
    const request = await squash(world, pull, world.base)
    const merged = requireValue(await (await openIn(world)).merge(request))
    expect(merged).toMatchObject({ kind: 'merged' })
    rmSync(folderOf(world), { recursive: true })
    expect(requireValue(await (await openIn(world)).merge(request))).toEqual(merged)
  })

  describe.each<[string, (ref: string) => void]>([
    ['gone', (ref) => rmSync(ref)],
    ['empty', (ref) => writeFileSync(ref, '')],
    ['nonsense', (ref) => writeFileSync(ref, 'nonsense\n')],
    ['of a commit that is not there', (ref) => writeFileSync(ref, `${'7'.repeat(40)}\n`)],
  ])('with the branch of a pull request %s', (_, damage) => {
    const branch = branchOf('s1')
    let pull: PullRequest
    let forge: Forge

    beforeEach(async () => {
      pull = await handedIn()
      damage(join(world.repositories.work, 'refs/heads', branch))
      forge = await openIn(world)
    })

    test('merges it', async () => {
      const merge = await forge.merge(await squash(world, pull, world.base))
      expect(requireValue(merge)).toMatchObject({ kind: 'merged' })
      expect(plainGit(world.repositories.work, 'for-each-ref', 'refs/heads')).toBe('')
    })

    test('takes it again', async () => {
      const { head } = pull
      expect(requireValue(await forge.publish({ branch, head }))).toEqual({ kind: 'published' })
      const draft = { branch, head, target: 'main', title: pull.title, body: '' }
      expect(requireValue(await forge.openPullRequest(draft))).toEqual(pull)
      expect(plainGit(world.repositories.work, 'rev-parse', branch)).toBe(head)
    })
  })

  test('closes a pull request with its branch, and brings that back for nobody', async () => {
    const { branch, head, number } = await handedIn()
    const forge = await openIn(world)
    requireValue(await forge.deleteBranch({ branch, head }))
    expect(requireValue(await forge.readPullRequest(number))).toMatchObject({ state: 'closed' })
    expect(requireError(await forge.publish({ branch, head }))).toMatchObject({ code: 'not_found' })
  })

  test('merges again what a lost target has lost', async () => {
    const pull = await handedIn()
    const request = await squash(world, pull, world.base)
    requireValue(await (await openIn(world)).merge(request))
    const { mirror } = world.repositories
    plainGit(mirror, 'update-ref', 'refs/heads/main', world.base)
    const forge = await openIn(world)
    expect(requireValue(await forge.readPullRequest(1))).toMatchObject({ state: 'open' })
    expect(requireValue(await forge.merge(request))).toMatchObject({ kind: 'merged' })
    expect(plainGit(mirror, 'rev-parse', 'main')).toBe(request.mergeCommit)
  })

  test('says that it cannot write, and goes on when it can', async () => {
    const forge = await openIn(world)
    const head = await work(world, 's1')
    const draft = { branch: branchOf('s1'), head, target: 'main', title: 'T', body: '' }
    // A folder in the place of the draft: no file can be written there.
    const obstacle = join(folderOf(world), '1.json+new')
    mkdirSync(obstacle)
    const error = { code: 'storage', retry: 'later' }
    expect(requireError(await forge.openPullRequest(draft))).toMatchObject(error)
    expect(existsSync(join(folderOf(world), '1.json'))).toBe(false)
    rmdirSync(obstacle)
    expect(requireValue(await forge.openPullRequest(draft))).toMatchObject({ number: 1 })
  })
})
