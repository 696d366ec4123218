import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AgentId, EffectId, Json } from '../../src/agents/values.ts'
import type { Forge } from '../../src/effects/forge/forge.ts'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import {
  FORGE_SERVICE,
  forgeService,
  openPullRequestHandler,
} from '../../src/effects/forge/pull-request-handler.ts'
import { mergeHandler } from '../../src/effects/merge/merge-handler.ts'
import type { BlobStore } from '../../src/runtime/blobs.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { Effect } from '../../src/runtime/effect-handler.ts'
import { Executor } from '../../src/runtime/executor.ts'
import { type Github, type GithubPlace, startGithub } from './github-place.ts'
import { branchOf, work } from './handed-in.ts'

let github: Github
let place: GithubPlace

beforeAll(async () => {
  github = await startGithub()
})

afterAll(() => github.stop())

beforeEach(async () => {
  place = await github.makePlace()
})

afterEach(() => place.dispose())

const signal = () => new AbortController().signal

function executorFor(forge: Forge): Executor {
  // Five tries within milliseconds, so that the outage is what takes time here and not the waits.
  const policy = { retryDelayMs: 1, retryDelayMsMax: 2 }
  return new Executor({
    handlers: { open_pull_request: { ...openPullRequestHandler(forge, []), policy } },
    services: { [FORGE_SERVICE]: forgeService(forge) },
    blobs: {} as BlobStore,
    clock: systemClock,
    random: () => 0.5,
  })
}

const effectOf = (input: Json): Effect => ({
  id: 'coder-1:4.0' as EffectId,
  agent: 'coder-1' as AgentId,
  kind: 'open_pull_request',
  input,
})

const draftOf = (head: string) => ({
  branch: branchOf('s1'),
  target: 'main',
  head,
  title: 'Story s1',
  body: 'What it is about.',
})

describe('open_pull_request', () => {
  test('publishes and opens, and the second time finds it', async () => {
    const executor = executorFor(await place.open())
    const head = await work(place.world, 's1')
    const value = {
      number: 1,
      head,
      state: 'open',
      url: expect.stringMatching(/^http.*\/pull\/1$/),
    }
    const finished = { kind: 'finished', result: { ok: true, value } }
    const effect = effectOf(draftOf(head))
    expect(await executor.execute(effect, signal(), false)).toEqual(finished)
    expect(await executor.execute(effect, signal(), true)).toEqual(finished)
  })

  test('waits for a forge that is out, and goes on when it answers', async () => {
    const executor = executorFor(await place.open())
    const effect = effectOf(draftOf(await work(place.world, 's1')))
    const port = Number(new URL(place.host.url).port)
    await place.host.close()
    const ending = await executor.execute(effect, signal(), false)
    expect(ending).toMatchObject({ kind: 'unavailable', reason: expect.stringMatching(/^network/) })
    expect(await executor.probeAll(signal())).toBe(false)
    await place.host.listen(port)
    expect(await executor.probeAll(signal())).toBe(true)
    const again = await executor.execute(effect, signal(), true)
    expect(again).toMatchObject({ kind: 'finished', result: { ok: true } })
  })

  test('waits as long as the forge asks, without asking again', async () => {
    const executor = executorFor(await place.open())
    const effect = effectOf(draftOf(await work(place.world, 's1')))
    const POST = /^POST .*\/pulls$/
    place.host.onNext(POST, async () => ({
      status: 403,
      headers: { 'retry-after': '300' },
      body: { message: 'You have exceeded a secondary rate limit.' },
    }))
    const beforeMs = Date.now()
    const ending = await executor.execute(effect, signal(), false)
    expect(ending).toMatchObject({ kind: 'unavailable', untilMs: expect.any(Number) })
    const untilMs = 'untilMs' in ending ? (ending.untilMs ?? 0) : 0
    expect(untilMs - beforeMs).toBeGreaterThanOrEqual(300_000)
    expect(await executor.probeAll(signal())).toBe(false)
    expect(place.host.count(POST)).toBe(1)
  })

  test('fails for good when its branch is somebody else’s by now', async () => {
    const executor = executorFor(await place.open())
    const head = await work(place.world, 's1')
    await executor.execute(effectOf(draftOf(head)), signal(), false)
    await place.host.commitFromElsewhere(branchOf('s1'))
    const next = await work(place.world, 's1', head)
    const ending = await executor.execute(effectOf(draftOf(next)), signal(), false)
    expect(ending).toMatchObject({ kind: 'finished', result: { error: { code: 'head_moved' } } })
  })

  test.each<[string, Json]>([
    ['nothing', null],
    ['a list', []],
    ['a part', { branch: 'slipway/r1/s1' }],
    ['a number for a title', { ...draftOf('0'.repeat(40)), title: 7 }],
    ['a head that is no commit', draftOf('main')],
    ['a branch that is an option', { ...draftOf('0'.repeat(40)), branch: '--mirror' }],
  ])('refuses %s as its input, and asks nobody', async (_, input) => {
    const executor = executorFor(await place.open())
    const ending = await executor.execute(effectOf(input), signal(), false)
    expect(ending).toMatchObject({ kind: 'finished', result: { error: { code: 'invalid' } } })
    expect(place.host.requests).toEqual([])
  })

  test('needs no service on this machine', async () => {
    const { git, repositories, state } = place.world
    const folder = join(state, 'pull-requests')
    const forge = await openLocalForge({ git, repositories, folder })
    expect(openPullRequestHandler(forge, []).serviceOf).toBeUndefined()
    const head = await work(place.world, 's1')
    const ending = await executorFor(forge).execute(effectOf(draftOf(head)), signal(), false)
    const value = { number: 1, head, state: 'open', url: null }
    expect(ending).toEqual({ kind: 'finished', result: { ok: true, value } })
  })
})

test('a merge has time for its test runs and for the wait for checks', async () => {
  const { git, repositories, state: stateFolder } = place.world
  const testsMs = 7_200_000
  const tests = {
    policy: { timeoutMs: testsMs },
    run: async () => ({ ok: true, value: null }) as const,
  }
  const forge = await place.open()
  const { policy } = mergeHandler({ git, repositories, forge, stateFolder, tests, secrets: [] })
  const checksMs = 45 * 60_000
  expect(policy?.timeoutMs).toBeGreaterThan(2 * testsMs + checksMs)
})
