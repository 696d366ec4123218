import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type MergeOutcome, mergeStory } from '../../src/effects/merge/merge-story.ts'
import type { Answer } from './github-host.ts'
import { addFileElsewhere, type Github, type GithubPlace, startGithub } from './github-place.ts'
import { handIn, requireValue, work } from './handed-in.ts'
import { remoteGit } from './remote-git.ts'

// Most of the time is GitHub's pace, which each place keeps for itself.
vi.setConfig({ maxConcurrency: 20 })

let github: Github

beforeAll(async () => {
  github = await startGithub()
})

afterAll(() => github.stop())

interface Setting {
  readonly checksGraceMs?: number
  /** Whether the gate passes when it is asked for the first time, the second time and so on. */
  readonly passes?: (count: number) => boolean
}

/** A story that is ready, and what its merge comes to. The gate says what it was asked to test. */
async function ready(place: GithubPlace, { checksGraceMs = 0, passes = () => true }: Setting = {}) {
  const forge = await place.open({ checksGraceMs })
  const { git, repositories } = place.world
  const head = await work(place.world, 's1')
  const { number } = await handIn(forge, 's1', head)
  const tested: string[] = []
  const gate = async (commit: string) => {
    tested.push(commit)
    const passed = passes(tested.length)
    return { passed, gate: `${passed} ${commit}` }
  }
  const owner = { run: 'r1', story: 's1' }
  const texts = { title: 'Story s1', body: '', target: 'main', atMs: Date.UTC(2026, 0, 1) }
  const merge = (): Promise<MergeOutcome<string>> => {
    const { signal } = new AbortController()
    return mergeStory({ git, repositories, forge, gate }, { ...texts, owner, head, number }, signal)
  }
  return { forge, head, merge, tested }
}

const mergeTest = (title: string, body: (place: GithubPlace) => Promise<void>) =>
  test(title, async () => {
    const place = await github.makePlace()
    try {
      await body(place)
    } finally {
      await place.dispose()
    }
  })

const repoOf = ({ host }: GithubPlace) => `/repos/robot/${host.repository.name}`
const RUNS = /\/check-runs$/
const MERGE = /^PUT .*\/merge$/
const ok = (body: Answer['body']): Answer => ({ status: 200, body })

/** Has a check of the commit appear at the moment of the next look. */
function checkAppears(place: GithubPlace, head: string, conclusion: string): void {
  place.host.onNext(RUNS, (pass) => pass())
  place.host.onNext(RUNS, async (pass) => {
    const check = { name: 'ci', head_sha: head, status: 'completed', conclusion }
    await place.host.repository.ask('POST', `${repoOf(place)}/check-runs`, check)
    return pass()
  })
}

describe.concurrent('checks that appear late', () => {
  mergeTest('are waited for, and hinder the merge when they fail', async (place) => {
    const { head, merge } = await ready(place, { checksGraceMs: 20_000 })
    checkAppears(place, head, 'failure')
    const reason = 'checks of the forge failed: ci'
    expect(await merge()).toEqual({ kind: 'refused', reason })
    expect(place.host.count(MERGE)).toBe(0)
  })

  mergeTest('end the wait when they pass', async (place) => {
    const { head, merge } = await ready(place, { checksGraceMs: 600_000 })
    checkAppears(place, head, 'success')
    expect(await merge()).toMatchObject({ kind: 'merged' })
  })

  mergeTest('are given up when the grace is over', async (place) => {
    const { merge } = await ready(place, { checksGraceMs: 500 })
    expect(await merge()).toMatchObject({ kind: 'merged' })
  })

  mergeTest('are expected where the branch requires them or an app has begun', async (place) => {
    const { forge, head } = await ready(place)
    const read = async () => requireValue(await forge.readChecks({ commit: head, target: 'main' }))
    const contexts = ['lint', 'test']
    const protection = { required_status_checks: { contexts } }
    place.host.onNext(/app-\d+\/branches\/main$/, async () => ok({ name: 'main', protection }), 2)
    const rule = { context: 'audit' }
    const parameters = { required_status_checks: [rule] }
    const rules = [{ type: 'required_status_checks', parameters }, { type: 'deletion' }]
    place.host.onNext(/\/rules\/branches\/main$/, async () => ok(rules))
    const suites = [
      { id: 1, status: 'in_progress', latest_check_runs_count: 0, app: { name: 'CI' } },
      { id: 2, status: 'queued', latest_check_runs_count: 0, app: { name: 'Silent' } },
      { id: 3, status: 'completed', latest_check_runs_count: 1, app: { name: 'Done' } },
    ]
    place.host.onNext(/\/check-suites$/, async () => ok({ total_count: 3, check_suites: suites }))
    expect(await read()).toEqual({ kind: 'expected', names: [...contexts, 'audit', 'CI'] })
    const status = (context: string) =>
      ({ context, state: 'success', target_url: 'https://ci.example.org' }) as const
    place.host.repository.statuses.set(head, contexts.map(status))
    expect(await read()).toEqual({ kind: 'passed' })
  })

  mergeTest('are expected from every page of rules and suites', async (place) => {
    const { forge, head } = await ready(place)
    const parameters = { required_status_checks: [{ context: 'audit' }] }
    const rules = Array.from({ length: 100 }, () => ({ type: 'deletion' }))
    const last = [{ type: 'required_status_checks', parameters }]
    place.host.onNext(/\/rules\/branches\/main$/, async () => ok(rules))
    place.host.onNext(/\/rules\/branches\/main$/, async () => ok(last))
    const suite = (id: number, status: string, name: string) =>
      ({ id, status, latest_check_runs_count: 0, app: { name } }) as const
    const suites = Array.from({ length: 100 }, (_, id) => suite(id, 'queued', 'Silent'))
    const more = [suite(101, 'in_progress', 'CI')]
    place.host.onNext(/\/check-suites$/, async () => ok({ check_suites: suites }))
    place.host.onNext(/\/check-suites$/, async () => ok({ check_suites: more }))
    const read = await forge.readChecks({ commit: head, target: 'main' })
    expect(requireValue(read)).toEqual({ kind: 'expected', names: ['audit', 'CI'] })
  })

  mergeTest('are not asked after where the server does not tell', async (place) => {
    const { forge, head } = await ready(place)
    const refusal = async (): Promise<Answer> => ({ status: 403, body: { message: 'Forbidden' } })
    place.host.onNext(/\/branches\/main$|\/check-suites$/, refusal, 3)
    const read = await forge.readChecks({ commit: head, target: 'main' })
    expect(requireValue(read)).toEqual({ kind: 'none' })
  })
})

describe.concurrent('a target that moves at the last moment', () => {
  const moves = (place: GithubPlace) =>
    place.host.onNext(MERGE, async (pass) => {
      await addFileElsewhere(place)
      return pass()
    })

  for (const passes of [true, false]) {
    mergeTest(`has the merged tree tested afterwards: ${passes}`, async (place) => {
      // What is tested before the merge passes in any case.
      const { merge, tested } = await ready(place, { passes: (count) => passes || count === 1 })
      moves(place)
      const outcome = await merge()
      const commit = await place.headOf('main')
      expect(tested).toEqual([expect.any(String), commit])
      expect(outcome).toMatchObject({ kind: 'merged', commit, asTested: false })
      expect(outcome).toMatchObject({ gate: `${passes} ${commit}` })
    })
  }

  mergeTest('is tested after a crash too', async (place) => {
    const { merge, tested } = await ready(place)
    moves(place)
    await merge()
    const commit = await place.headOf('main')
    expect(await merge()).toMatchObject({ kind: 'merged', commit, gate: `true ${commit}` })
    expect(tested).toHaveLength(3)
  })
})

describe.concurrent('a pull request that a person', () => {
  /** What the button on the page does; nobody there knows of our trailers. */
  const mergeByHand = async (place: GithubPlace, number: number, sha: string | undefined) => {
    const texts = { merge_method: 'squash', commit_title: 'By hand', commit_message: '' }
    const path = `${repoOf(place)}/pulls/${number}/merge`
    const { status } = await place.host.repository.answer('PUT', path, { ...texts, sha: sha ?? '' })
    expect(status).toBe(200)
    return place.headOf('main')
  }

  mergeTest('merged is merged, and tested as it is', async (place) => {
    const { head, merge, tested } = await ready(place)
    const commit = await mergeByHand(place, 1, head)
    const outcome = { kind: 'merged', commit, asTested: false, gate: `true ${commit}` }
    expect(await merge()).toMatchObject(outcome)
    expect(tested).toEqual([commit])
    expect(await place.headOf('slipway/r1/s1')).toBeUndefined()
  })

  mergeTest('merged is merged, also where the target went on from there', async (place) => {
    const { head, merge } = await ready(place)
    const commit = await mergeByHand(place, 1, head)
    // What the story brought is gone again: its tree alone would be merged a second time.
    const { folder } = place.host.repository
    const tree = await remoteGit(folder, 'rev-parse', `${commit}~1^{tree}`)
    const args = ['commit-tree', tree, '-p', `${commit}`, '-m', 'Not yet']
    await remoteGit(folder, 'update-ref', 'refs/heads/main', await remoteGit(folder, ...args))
    expect(await merge()).toMatchObject({ kind: 'merged', commit })
    expect(await remoteGit(folder, 'rev-list', '--count', 'main')).toBe('3')
  })

  mergeTest('merged at another head is merged already', async (place) => {
    const { merge, tested } = await ready(place)
    const theirs = await place.host.commitFromElsewhere('slipway/r1/s1')
    const commit = await mergeByHand(place, 1, theirs)
    expect(await merge()).toEqual({ kind: 'already_merged', commit, head: theirs })
    expect(tested).toEqual([])
  })

  mergeTest('closed is not merged, and the refusal says so', async (place) => {
    const { merge, tested } = await ready(place)
    const closed = await place.host.repository.answer('PATCH', `${repoOf(place)}/pulls/1`, {
      state: 'closed',
    })
    expect(closed.status).toBe(200)
    const reason = expect.stringContaining('somebody closed pull request 1 without merging it')
    expect(await merge()).toEqual({ kind: 'refused', reason })
    expect(tested).toEqual([])
    expect(place.host.count(MERGE)).toBe(0)
  })

  for (const isMerged of [false, true]) {
    mergeTest(`pointed at another branch is not merged there: ${isMerged}`, async (place) => {
      const { head, merge, tested } = await ready(place)
      const main = await place.headOf('main')
      const { folder } = place.host.repository
      await remoteGit(folder, 'update-ref', 'refs/heads/develop', `${main}`)
      await place.host.repository.takeOver()
      const path = `${repoOf(place)}/pulls/1`
      const pointed = await place.host.repository.answer('PATCH', path, { base: 'develop' })
      expect(pointed.status).toBe(200)
      if (isMerged) await mergeByHand(place, 1, head)
      const develop = await place.headOf('develop')
      const reason = expect.stringMatching(/pull request 1 into develop, and the story is for main/)
      expect(await merge()).toEqual({ kind: 'refused', reason })
      expect([await place.headOf('main'), await place.headOf('develop')]).toEqual([main, develop])
      expect(tested).toEqual([])
    })
  }
})
