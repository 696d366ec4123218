import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Forge } from '../../src/effects/forge/forge.ts'
import type { Answer } from './github-host.ts'
import { addFileElsewhere, type Github, type GithubPlace, startGithub } from './github-place.ts'
import { branchOf, handIn, requireError, requireValue, squash, work } from './handed-in.ts'
import { remoteGit } from './remote-git.ts'

// Most of the time is GitHub's pace, which each place keeps for itself.
vi.setConfig({ maxConcurrency: 20 })

let github: Github

beforeAll(async () => {
  github = await startGithub()
})

afterAll(() => github.stop())

const faultTest = (title: string, body: (place: GithubPlace, forge: Forge) => Promise<void>) =>
  test(title, async () => {
    const place = await github.makePlace()
    try {
      await body(place, await place.open())
    } finally {
      await place.dispose()
    }
  })

/** A pull request that is ready to be merged. */
async function readyToMerge({ world }: GithubPlace, forge: Forge) {
  const pull = await handIn(forge, 's1', await work(world, 's1'))
  return { pull, request: await squash(world, pull, world.base) }
}

const MERGE = /^PUT .*\/merge$/
const PULL = /^GET .*\/pulls\/1$/
const says = (status: number, message: string, headers = {}): Answer => ({
  status,
  headers,
  body: { message, documentation_url: 'https://docs.github.com/rest' },
})
const always = (answer: Answer) => async () => answer

describe.concurrent('a merge on GitHub', () => {
  faultTest('sees a head that moved at the last moment', async (place, forge) => {
    const { pull, request } = await readyToMerge(place, forge)
    let theirs = ''
    place.host.onNext(MERGE, async (pass) => {
      theirs = await place.host.commitFromElsewhere(pull.branch)
      const answer = await pass()
      expect(answer.status).toBe(409)
      return answer
    })
    const moved = { kind: 'moved', what: 'head' }
    expect(requireValue(await forge.merge(request))).toMatchObject(moved)
    expect(await place.headOf(pull.branch)).toBe(theirs)
    expect(await place.headOf('main')).toBe(place.world.base)
  })

  const REFUSAL = 'Pull Request is not mergeable'
  const reason = `405: ${REFUSAL} - https://docs.github.com/rest`

  for (const [isMergeable, answer] of [
    [false, { ok: true, value: { kind: 'conflicted', reason } }],
    [true, { ok: true, value: { kind: 'blocked', reason } }],
    [null, { ok: false, error: { code: 'server_error', retry: 'later' } }],
  ] as const) {
    faultTest(`that is refused is looked into: ${isMergeable}`, async (place, forge) => {
      const { request } = await readyToMerge(place, forge)
      place.host.onNext(MERGE, always(says(405, REFUSAL)))
      // The first look is before the merge.
      place.host.onNext(PULL, (pass) => pass())
      place.host.onNext(PULL, async (pass) => {
        const { status, body } = await pass()
        return { status, body: { ...(body as object), mergeable: isMergeable } }
      })
      expect(await forge.merge(request)).toMatchObject(answer)
    })
  }

  faultTest('sees a target that moved at the last moment', async (place, forge) => {
    const { request } = await readyToMerge(place, forge)
    let target = ''
    place.host.onNext(MERGE, async () => {
      target = await place.moveTarget()
      return says(405, 'Base branch was modified. Review and try the merge again.')
    })
    const answer = requireValue(await forge.merge(request))
    expect(answer).toEqual({ kind: 'moved', what: 'target', at: target })
  })

  faultTest(
    'owns up when the target moved unseen and the tree is another',
    async (place, forge) => {
      const { request } = await readyToMerge(place, forge)
      place.host.onNext(MERGE, async (pass) => {
        await addFileElsewhere(place)
        return pass()
      })
      const merged = { kind: 'merged', asTested: false }
      expect(requireValue(await forge.merge(request))).toMatchObject(merged)
    },
  )

  // GitHub has other words for what is merged already than the emulator, which says 422.
  for (const status of [405, 409, 422, undefined]) {
    const refused = status ?? 'the emulator'
    faultTest(`happens once when its answer gets lost: ${refused}`, async (place, forge) => {
      const { request } = await readyToMerge(place, forge)
      place.host.onNext(MERGE, async (pass) => {
        await pass()
        return 'cut'
      })
      if (status !== undefined) place.host.onNext(MERGE, always(says(status, REFUSAL)), 9)
      const merge = requireValue(await forge.merge(request))
      expect(merge).toMatchObject({ kind: 'merged', asTested: true })
      expect(await remoteGit(place.host.repository.folder, 'rev-list', '--count', 'main')).toBe('2')
      expect(requireValue(await (await place.open()).merge(request))).toEqual(merge)
    })
  }

  faultTest('is not claimed for a head that somebody else merged', async (place, forge) => {
    const { pull, request } = await readyToMerge(place, forge)
    const next = await handIn(forge, 's1', await work(place.world, 's1', pull.head))
    const other = await squash(place.world, next, place.world.base)
    expect(requireValue(await forge.merge(other))).toMatchObject({ kind: 'merged' })
    expect(requireValue(await forge.merge(request))).toEqual({ kind: 'closed' })
  })
})

describe.concurrent('a review on GitHub', () => {
  const POST = /^POST .*\/reviews$/

  faultTest('is a comment on one’s own pull request', async (place, forge) => {
    const { pull } = await readyToMerge(place, forge)
    const message = 'Unprocessable Entity: "Review Can not approve your own pull request"'
    place.host.onNext(POST, always(says(422, message)))
    const commit = pull.head
    const review = { number: 1, commit, verdict: 'approved', body: 'Fine, @everyone.' } as const
    const recorded = { kind: 'recorded', as: 'comment' }
    expect(requireValue(await forge.review(review))).toEqual(recorded)
    expect(requireValue(await forge.review(review))).toEqual(recorded)
    const reviews = await place.reviewsOf(1)
    expect(reviews).toMatchObject([{ state: 'COMMENTED', commit }])
    expect(reviews[0]?.body).toMatch(/^\*\*Approved\*\*\n\nFine, @\u200beveryone\./)
  })

  faultTest('is recorded once when its answer gets lost', async (place, forge) => {
    const { pull } = await readyToMerge(place, forge)
    place.host.onNext(POST, async (pass) => {
      await pass()
      return 'cut'
    })
    const review = { number: 1, commit: pull.head, verdict: 'approved', body: 'Fine.' } as const
    const error = { code: 'network', retry: 'later' }
    expect(requireError(await forge.review(review))).toMatchObject(error)
    const recorded = { kind: 'recorded', as: 'verdict' }
    expect(requireValue(await forge.review(review))).toEqual(recorded)
    expect(await place.reviewsOf(1)).toHaveLength(1)
  })
})

describe.concurrent('a branch on GitHub', () => {
  /** Somebody is faster: after our look at the branch, before our push. */
  const beFaster = ({ host }: GithubPlace) => {
    let theirs = ''
    host.onNext(/\/info\/refs$/, (pass) => pass())
    host.onNext(/\/info\/refs$/, async (pass) => {
      theirs = await host.commitFromElsewhere(branchOf('s1'))
      return pass()
    })
    return () => theirs
  }

  faultTest('is not overwritten when somebody is faster', async (place, forge) => {
    const first = await work(place.world, 's1')
    await handIn(forge, 's1', first)
    const branch = { branch: branchOf('s1'), head: await work(place.world, 's1', first) }
    const theirs = beFaster(place)
    const error = { code: 'server_error', retry: 'later' }
    expect(requireError(await forge.publish(branch))).toMatchObject(error)
    expect(await place.headOf(branch.branch)).toBe(theirs())
    const moved = { kind: 'moved', head: theirs() }
    expect(requireValue(await forge.publish(branch))).toEqual(moved)
  })

  faultTest('is not deleted when somebody is faster', async (place, forge) => {
    const head = await work(place.world, 's1')
    await handIn(forge, 's1', head)
    const branch = { branch: branchOf('s1'), head }
    const theirs = beFaster(place)
    const error = { code: 'server_error', retry: 'later' }
    expect(requireError(await forge.deleteBranch(branch))).toMatchObject(error)
    expect(await place.headOf(branch.branch)).toBe(theirs())
  })
})

describe.concurrent('GitHub in trouble', () => {
  faultTest('opens one pull request when the answer gets lost', async (place, forge) => {
    const head = await work(place.world, 's1')
    place.host.onNext(/^POST .*\/pulls$/, async (pass) => {
      await pass()
      return 'cut'
    })
    const message = 'Validation Failed: A pull request already exists for robot:slipway/r1/s1.'
    place.host.onNext(/^POST .*\/pulls$/, always(says(422, message)))
    expect(await handIn(forge, 's1', head)).toMatchObject({ number: 1, head })
    const { body } = await place.host.repository.ask('GET', `${pullsOf(place)}?state=all`)
    expect(body).toHaveLength(1)
  })

  faultTest('is tried again after a 5xx, and not for ever', async (place, forge) => {
    await readyToMerge(place, forge)
    place.host.onNext(PULL, always(says(502, 'Server Error')))
    const before = place.host.count(PULL)
    expect(requireValue(await forge.readPullRequest(1))).toMatchObject({ number: 1 })
    expect(place.host.count(PULL) - before).toBe(2)
    place.host.onNext(PULL, always(says(503, 'Service Unavailable')), 9)
    const error = { code: 'server_error', retry: 'later' }
    expect(requireError(await forge.readPullRequest(1))).toMatchObject(error)
    expect(place.host.count(PULL) - before).toBe(4)
  })

  const SECONDARY = 'You have exceeded a secondary rate limit. Please wait a few minutes.'

  faultTest('sits a short limit out, once, and hands a long one on', async (place, forge) => {
    await readyToMerge(place, forge)
    const limit = (seconds: string) => always(says(403, SECONDARY, { 'retry-after': seconds }))
    place.host.onNext(PULL, limit('1'))
    const startedMs = performance.now()
    expect(requireValue(await forge.readPullRequest(1))).toMatchObject({ number: 1 })
    expect(performance.now() - startedMs).toBeGreaterThan(900)
    place.host.onNext(PULL, limit('1'), 2)
    const limited = { code: 'rate_limited', retry: 'later' }
    const twice = requireError(await forge.readPullRequest(1))
    expect(twice).toMatchObject({ ...limited, retryAfterMs: 1_000 })
    place.host.onNext(PULL, limit('120'))
    const long = requireError(await forge.readPullRequest(1))
    expect(long).toMatchObject({ ...limited, retryAfterMs: 120_000 })
    expect(place.host.count(PULL)).toBe(5)
  })

  faultTest('says when the primary limit is over', async (place, forge) => {
    const resetS = Math.floor(Date.now() / 1_000) + 600
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetS) }
    place.host.onNext(PULL, always(says(403, 'API rate limit exceeded for user ID 1.', headers)))
    const error = requireError(await forge.readPullRequest(1))
    expect(error).toMatchObject({ code: 'rate_limited', retry: 'later' })
    expect(error.retryAfterMs).toBeGreaterThan(590_000)
    expect(error.retryAfterMs).toBeLessThan(602_000)
  })

  faultTest(
    'gives up a request that is not answered, and one that is not wanted',
    async (place) => {
      const forge = await place.open({ timeoutMs: 100 })
      place.host.onNext(PULL, async () => 'hang', 2)
      const error = { code: 'network', retry: 'later' }
      expect(requireError(await forge.readPullRequest(1))).toMatchObject(error)
      expect(place.host.count(PULL)).toBe(2)
      const patient = await place.open()
      place.host.onNext(PULL, async () => 'hang')
      const end = new AbortController()
      const reading = patient.readPullRequest(1, end.signal)
      end.abort()
      expect(requireError(await reading)).toMatchObject({ code: 'aborted' })
      const late = await patient.readPullRequest(1, end.signal)
      expect(requireError(late)).toMatchObject({ code: 'aborted' })
    },
  )

  faultTest('believes no answer that GitHub would not give', async (place, forge) => {
    const html = { 'content-type': 'text/html' }
    const answers: Answer[] = [
      { status: 200, headers: html, body: Buffer.from('<h1>Please log in</h1>') },
      { status: 200, body: { number: 1, title: 'T', head: {}, base: {} } },
      { status: 200, body: [] },
    ]
    for (const answer of answers) {
      place.host.onNext(PULL, always(answer))
      const error = requireError(await forge.readPullRequest(1))
      expect(error).toMatchObject({ code: 'server_error', retry: 'later' })
    }
  })

  faultTest('is not followed to another address', async (place, forge) => {
    const elsewhere = await github.makePlace()
    try {
      const location = `${elsewhere.host.url}/api/v3${pullsOf(place)}/1`
      place.host.onNext(PULL, always(says(307, 'Temporary Redirect', { location })))
      const error = requireError(await forge.readPullRequest(1))
      expect(error).toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('redirect'),
      })
      const git = `${elsewhere.host.url}/robot/x.git/info/refs?service=git-upload-pack`
      const moved: Answer = { status: 301, headers: { location: git }, body: '' }
      place.host.onNext(/^GET .*\/info\/refs$/, always(moved))
      expect((await forge.readTarget('main')).ok).toBe(false)
      expect(elsewhere.host.requests).toEqual([])
    } finally {
      await elsewhere.dispose()
    }
  })

  faultTest('is told apart when git meets it', async (place, forge) => {
    const head = await work(place.world, 's1')
    const branch = branchOf('s1')
    const meet = async (answer: Answer) => {
      place.host.onNext(/\/info\/refs$/, always(answer))
      return requireError(await forge.publish({ branch, head }))
    }
    expect(await meet(says(503, ''))).toMatchObject({ code: 'server_error', retry: 'later' })
    expect(await meet(says(403, ''))).toMatchObject({ code: 'unauthorized', retry: 'never' })
    expect(await meet(says(404, ''))).toMatchObject({ code: 'not_found', retry: 'never' })
    expect(await meet(says(429, ''))).toMatchObject({ code: 'rate_limited', retryAfterMs: 60_000 })
    await place.host.close()
    const cut = { code: 'network', retry: 'later' }
    expect(requireError(await forge.publish({ branch, head }))).toMatchObject(cut)
    expect(requireError(await forge.readTarget('main'))).toMatchObject(cut)
    expect(await forge.probe(new AbortController().signal)).toBe(false)
  })

  faultTest(
    'that breaks down in the middle of a push is asked again later',
    async (place, forge) => {
      const head = await work(place.world, 's1')
      place.host.onNext(/\/git-receive-pack$/, always(says(500, '')))
      const answer = await forge.publish({ branch: branchOf('s1'), head })
      expect(requireError(answer)).toMatchObject({ code: 'server_error', retry: 'later' })
      requireValue(await forge.publish({ branch: branchOf('s1'), head }))
    },
  )

  faultTest('may refuse a push by its own rules', async (place, forge) => {
    const { folder } = place.host.repository
    await remoteGit(folder, 'config', 'receive.denyNonFastForwards', 'true')
    const first = await work(place.world, 's1', await work(place.world, 's1'))
    await handIn(forge, 's1', first)
    const rewritten = await work(place.world, 's1')
    const answer = await forge.publish({ branch: branchOf('s1'), head: rewritten })
    expect(requireError(answer)).toMatchObject({ code: 'invalid', retry: 'never' })
    expect(await place.headOf(branchOf('s1'))).toBe(first)
  })
})

const pullsOf = ({ host }: GithubPlace) => `/repos/robot/${host.repository.name}/pulls`
