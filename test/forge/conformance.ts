import { describe, expect, test } from 'vitest'
import type { Forge, Merge } from '../../src/effects/forge/forge.ts'
import { type GitWorld, plainGit } from '../git/world.ts'
import { branchOf, handIn, requireError, requireValue, squash, work } from './handed-in.ts'

/** Somewhere that a forge can be opened, closed and opened again. */
export interface ForgePlace {
  readonly world: GitWorld
  open(): Promise<Forge>
  /** What a person would find there, however the forge keeps it. */
  reviewsOf(number: number): Promise<readonly { commit: string; body: string }[]>
  /** A commit of somebody else arrives on the target. */
  moveTarget(): Promise<string>
  /** Where a branch is, for those who look at the forge. */
  headOf(branch: string): Promise<string | undefined>
  dispose(): Promise<void>
}

type ForgeTest = (place: ForgePlace, forge: Forge) => Promise<void>

/** What every forge must do, wherever it is. */
export function describeForge(name: string, makePlace: () => Promise<ForgePlace>): void {
  // At once, because a forge may have to keep a pace; each has a place of its own.
  describe.concurrent(`${name} as a forge`, () => {
    for (const [title, body] of Object.entries({ ...PULL_REQUESTS, ...MERGES })) {
      test(title, async () => {
        const place = await makePlace()
        try {
          await body(place, await place.open())
        } finally {
          await place.dispose()
        }
      })
    }
  })
}

const mainOf = ({ repositories }: GitWorld) => plainGit(repositories.mirror, 'rev-parse', 'main')

const PULL_REQUESTS: Readonly<Record<string, ForgeTest>> = {
  'publishes a branch, however often it is asked to': async (place, forge) => {
    const head = await work(place.world, 's1')
    const branch = branchOf('s1')
    for (const _ of [1, 2]) {
      expect(requireValue(await forge.publish({ branch, head }))).toEqual({ kind: 'published' })
      expect(await place.headOf(branch)).toBe(head)
    }
  },

  'touches no branch but those of stories': async (place, forge) => {
    const head = await work(place.world, 's1')
    const hostile = ['main', 'slipway/../main', 'slipway/-x', '--mirror', 'slipway/a:b', 'slipway/']
    for (const branch of hostile) {
      const error = { code: 'invalid', retry: 'never' }
      expect(requireError(await forge.publish({ branch, head }))).toMatchObject(error)
      expect(requireError(await forge.deleteBranch({ branch, head }))).toMatchObject(error)
      const draft = { branch, head, target: 'main', title: 'T', body: '' }
      expect(requireError(await forge.openPullRequest(draft))).toMatchObject(error)
    }
    const named = { branch: branchOf('s1'), head: 'HEAD' }
    expect(requireError(await forge.publish(named))).toMatchObject({ code: 'invalid' })
    expect(await place.headOf('main')).toBe(place.world.base)
  },

  'opens a pull request once, also after it was opened again': async (place, forge) => {
    const head = await work(place.world, 's1')
    const first = await handIn(forge, 's1', head)
    expect(first).toMatchObject({
      number: 1,
      branch: branchOf('s1'),
      target: 'main',
      head,
      title: 'Story s1',
      state: 'open',
      mergeCommit: null,
    })
    expect(await handIn(forge, 's1', head)).toEqual(first)
    const reopened = await place.open()
    expect(await handIn(reopened, 's1', head)).toEqual(first)
    expect(requireValue(await reopened.readPullRequest(1))).toEqual(first)
  },

  'keeps one pull request while its branch goes on': async (place, forge) => {
    const first = await work(place.world, 's1')
    const { number } = await handIn(forge, 's1', first)
    const second = await work(place.world, 's1', first)
    expect(await handIn(forge, 's1', second)).toMatchObject({ number, head: second })
    expect(requireValue(await forge.readPullRequest(number))).toMatchObject({ head: second })
    // Also when the history was rewritten, as long as it is our own.
    const rewritten = await work(place.world, 's1', place.world.base)
    expect(await handIn(forge, 's1', rewritten)).toMatchObject({ number, head: rewritten })
  },

  'gives each branch a pull request of its own': async (place, forge) => {
    const numbers = new Set<number>()
    for (const story of ['s1', 's2']) {
      const { number } = await handIn(forge, story, await work(place.world, story))
      numbers.add(number)
    }
    expect(numbers.size).toBe(2)
  },

  'knows what is not there': async (place, forge) => {
    const gone = { code: 'not_found', retry: 'never' }
    const commit = await work(place.world, 's1')
    const request = await squash(place.world, { number: 7, head: commit }, place.world.base)
    const review = { number: 7, commit, verdict: 'approved', body: '' } as const
    expect(requireError(await forge.readPullRequest(7))).toMatchObject(gone)
    expect(requireError(await forge.review(review))).toMatchObject(gone)
    expect(requireError(await forge.merge(request))).toMatchObject(gone)
    expect(requireError(await forge.readTarget('nowhere'))).toMatchObject(gone)
  },

  'records a review of one commit, once': async (place, forge) => {
    const head = await work(place.world, 's1')
    const { number } = await handIn(forge, 's1', head)
    const review = { number, commit: head, verdict: 'changes_requested', body: 'No.' } as const
    const recorded = { kind: 'recorded', as: 'verdict' }
    expect(requireValue(await forge.review(review))).toEqual(recorded)
    expect(requireValue(await (await place.open()).review(review))).toEqual(recorded)
    const reviews = await place.reviewsOf(number)
    expect(reviews).toMatchObject([{ commit: head, body: expect.stringContaining('No.') }])
    const next = await work(place.world, 's1', head)
    await handIn(forge, 's1', next)
    expect(requireValue(await forge.review(review))).toEqual({ kind: 'moved', head: next })
    const approval = { number, commit: next, verdict: 'approved', body: 'Yes.' } as const
    expect(requireValue(await forge.review(approval))).toEqual(recorded)
    expect(await place.reviewsOf(number)).toHaveLength(2)
  },

  'has no checks where nobody has any, and answers': async (place, forge) => {
    const head = await work(place.world, 's1')
    await handIn(forge, 's1', head)
    expect(requireValue(await forge.readChecks({ commit: head, target: 'main' }))).toEqual({
      kind: 'none',
    })
    expect(await forge.probe(new AbortController().signal)).toBe(true)
  },

  'deletes a branch that is where it is thought to be': async (place, forge) => {
    const branch = branchOf('s1')
    const first = await work(place.world, 's1')
    await forge.publish({ branch, head: first })
    const head = await work(place.world, 's1', first)
    await forge.publish({ branch, head })
    const deleteAt = async (at: string) =>
      requireValue(await forge.deleteBranch({ branch, head: at }))
    expect(await deleteAt(first)).toEqual({ kind: 'moved', head })
    expect(await place.headOf(branch)).toBe(head)
    expect(await deleteAt(head)).toEqual({ kind: 'deleted' })
    expect(await deleteAt(head)).toEqual({ kind: 'deleted' })
    expect(await place.headOf(branch)).toBeUndefined()
  },
}

const MERGES: Readonly<Record<string, ForgeTest>> = {
  'merges the reviewed commit as one, and says so again': async (place, forge) => {
    const { world } = place
    const first = await work(world, 's1')
    const pull = await handIn(forge, 's1', await work(world, 's1', first))
    const request = await squash(world, pull, world.base)
    const merge = requireValue(await forge.merge(request)) as Merge & { kind: 'merged' }
    expect(merge).toMatchObject({ kind: 'merged', asTested: true })
    expect(mainOf(world)).toBe(merge.mergeCommit)
    expect(await place.headOf('main')).toBe(merge.mergeCommit)
    const log = plainGit(world.repositories.mirror, 'log', '--format=%P %B', '-1', 'main')
    expect(log).toMatch(new RegExp(`^${world.base} Story 1\n\nIts body.\n`))
    expect(log).toContain(`Slipway-Head: ${pull.head}`)
    expect(await place.headOf(pull.branch)).toBeUndefined()
    expect(plainGit(world.repositories.work, 'for-each-ref', 'refs/heads')).toBe('')
    expect(plainGit(world.repositories.work, 'rev-parse', 'refs/pull/1/head')).toBe(pull.head)
    const merged = { state: 'merged', mergeCommit: merge.mergeCommit, head: pull.head }
    expect(requireValue(await forge.readPullRequest(pull.number))).toMatchObject(merged)
    expect(requireValue(await forge.merge(request))).toEqual(merge)
    const reopened = await place.open()
    expect(requireValue(await reopened.merge(request))).toEqual(merge)
    expect(requireValue(await reopened.readTarget('main'))).toBe(merge.mergeCommit)
  },

  'finds what was merged when it is handed in again': async (place, forge) => {
    const pull = await handIn(forge, 's1', await work(place.world, 's1'))
    const request = await squash(place.world, pull, place.world.base)
    const { kind } = requireValue(await forge.merge(request))
    expect(kind).toBe('merged')
    const draft = { ...pull, title: 'Another title', body: '' }
    expect(requireValue(await forge.openPullRequest(draft))).toMatchObject({
      number: pull.number,
      state: 'merged',
    })
  },

  'merges no other head than the reviewed one': async (place, forge) => {
    const { world } = place
    const pull = await handIn(forge, 's1', await work(world, 's1'))
    const request = await squash(world, pull, world.base)
    const next = await work(world, 's1', pull.head)
    await handIn(forge, 's1', next)
    const moved = { kind: 'moved', what: 'head', at: next }
    expect(requireValue(await forge.merge(request))).toEqual(moved)
    expect(mainOf(world)).toBe(world.base)
    expect(await place.headOf('main')).toBe(world.base)
  },

  'merges onto no other target than the tested one': async (place, forge) => {
    const { world } = place
    const pull = await handIn(forge, 's1', await work(world, 's1'))
    const stale = await squash(world, pull, world.base)
    const target = await place.moveTarget()
    const moved = { kind: 'moved', what: 'target', at: target }
    expect(requireValue(await forge.merge(stale))).toEqual(moved)
    expect(await place.headOf('main')).toBe(target)
    expect(requireValue(await forge.readTarget('main'))).toBe(target)
    const request = await squash(world, pull, target)
    const merge = requireValue(await forge.merge(request))
    expect(merge).toMatchObject({ kind: 'merged', asTested: true })
    const log = plainGit(world.repositories.mirror, 'log', '--format=%H', 'main').split('\n')
    expect(log).toHaveLength(3)
    expect(log[1]).toBe(target)
  },

  'never says that a tree was tested that was not': async (place, forge) => {
    const { world } = place
    const pulls = [
      await handIn(forge, 's1', await work(world, 's1')),
      await handIn(forge, 's2', await work(world, 's2')),
    ]
    const requests = await Promise.all(pulls.map((pull) => squash(world, pull, world.base)))
    const merges = (await Promise.all(requests.map((each) => forge.merge(each)))).map(requireValue)
    const tested = merges.filter((merge) => merge.kind === 'merged' && merge.asTested)
    expect(tested).toHaveLength(1)
    for (const merge of merges) {
      // A forge that cannot compare before it merges has to own up afterwards.
      const isSound = merge.kind === 'moved' ? merge.what === 'target' : merge.kind === 'merged'
      expect(isSound, JSON.stringify(merge)).toBe(true)
    }
  },
}
