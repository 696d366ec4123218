import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openGit } from '../../src/effects/git/git.ts'
import { inFreshClone } from '../../src/effects/merge/gate.ts'
import { mergeStory } from '../../src/effects/merge/merge-story.ts'
import type { Command } from '../../src/effects/process/command.ts'
import { plainGit } from '../git/world.ts'
import { describeForge } from './conformance.ts'
import { TOKEN } from './emulator.ts'
import { type Github, type GithubPlace, startGithub } from './github-place.ts'
import { branchOf, handIn, requireError, requireValue, squash, work } from './handed-in.ts'

// Most of the time is GitHub's pace, which each place keeps for itself.
vi.setConfig({ maxConcurrency: 20 })

let github: Github

beforeAll(async () => {
  github = await startGithub()
})

afterAll(() => github.stop())

describeForge('GitHub', () => github.makePlace())

describe.concurrent('the forge on GitHub', () => {
  const placeTest = (title: string, body: (place: GithubPlace) => Promise<void>) =>
    test(title, async () => {
      const place = await github.makePlace()
      try {
        await body(place)
      } finally {
        await place.dispose()
      }
    })

  placeTest('tells how checks and statuses stand, with names and links', async (place) => {
    const forge = await place.open()
    const { repository } = place.host
    const head = await work(place.world, 's1')
    await handIn(forge, 's1', head)
    const path = `/repos/robot/${repository.name}/check-runs`
    const check = (name: string, status: string, conclusion: string | null) =>
      repository.ask('POST', path, {
        name,
        head_sha: head,
        status,
        ...(conclusion === null ? {} : { conclusion }),
        details_url: `https://ci.example.org/${name}`,
      })
    const read = async () => requireValue(await forge.readChecks({ commit: head, target: 'main' }))
    await check('lint', 'in_progress', null)
    expect(await read()).toMatchObject({ kind: 'pending', names: ['lint'] })
    await check('lint', 'completed', 'success')
    await check('docs', 'completed', 'skipped')
    expect(await read()).toEqual({ kind: 'passed' })
    const status = { context: 'deploy', target_url: 'https://ci.example.org/deploy' }
    repository.statuses.set(head, [{ ...status, state: 'pending' }])
    expect(await read()).toMatchObject({ kind: 'pending', names: ['deploy'] })
    repository.statuses.set(head, [{ ...status, state: 'error' }])
    await check('test', 'completed', 'timed_out')
    expect(await read()).toEqual({
      kind: 'failed',
      failures: [
        { name: 'test', url: 'https://ci.example.org/test' },
        { name: 'deploy', url: 'https://ci.example.org/deploy' },
      ],
    })
  })

  placeTest('keeps what somebody else has pushed to the branch of a story', async (place) => {
    const forge = await place.open()
    const first = await work(place.world, 's1')
    await handIn(forge, 's1', first)
    const theirs = await place.host.commitFromElsewhere(branchOf('s1'))
    const head = await work(place.world, 's1', first)
    const moved = { kind: 'moved', head: theirs }
    expect(requireValue(await forge.publish({ branch: branchOf('s1'), head }))).toEqual(moved)
    expect(await place.headOf(branchOf('s1'))).toBe(theirs)
  })

  placeTest('does not follow a target that was rewritten', async (place) => {
    const forge = await place.open()
    const before = await place.moveTarget()
    expect(requireValue(await forge.readTarget('main'))).toBe(before)
    const { folder } = place.host.repository
    plainGit(folder, 'update-ref', 'refs/heads/main', place.world.base)
    // That may be a copy of the server that is late.
    expect(requireError(await forge.readTarget('main'))).toMatchObject({ code: 'server_error' })
    await place.host.commitFromElsewhere('main')
    const error = { code: 'diverged', retry: 'never' }
    expect(requireError(await forge.readTarget('main'))).toMatchObject(error)
    expect(plainGit(place.world.repositories.mirror, 'rev-parse', 'main')).toBe(before)
  })

  placeTest('says what to push where stories were merged on this machine before', async (place) => {
    const { base, repositories } = place.world
    const { mirror } = repositories
    const ahead = plainGit(mirror, 'commit-tree', '-m', 'here', '-p', base, `${base}^{tree}`)
    plainGit(mirror, 'update-ref', 'refs/heads/main', ahead)
    const forge = await place.open()
    const error = requireError(await forge.readTarget('main'))
    expect(error).toMatchObject({ code: 'diverged', retry: 'never' })
    expect(error.message).toMatch(/git -C \S+ push \S+ main$/)
    plainGit(mirror, 'push', '-q', place.host.repository.folder, 'main')
    expect(requireValue(await forge.readTarget('main'))).toBe(ahead)
  })

  placeTest('merges a head that was not the first one of its pull request', async (place) => {
    const forge = await place.open()
    const first = await work(place.world, 's1')
    await handIn(forge, 's1', first)
    const pull = await handIn(forge, 's1', await work(place.world, 's1', first))
    const request = await squash(place.world, pull, place.world.base)
    const merged = { kind: 'merged', asTested: true }
    expect(requireValue(await forge.merge(request))).toMatchObject(merged)
  })

  placeTest('leaves the token on no command line and on no disk', async (place) => {
    const commands: Command[] = []
    const { processes, state } = place.world
    const git = openGit({
      ...processes,
      run(command, trust) {
        commands.push(command)
        return processes.run(command, trust)
      },
    })
    const forge = await place.open({ git })
    const pull = await handIn(forge, 's1', await work(place.world, 's1'))
    await forge.merge(await squash(place.world, pull, place.world.base))
    await forge.deleteBranch(pull)
    const carrying = commands.filter(({ env }) => holdsToken(JSON.stringify(env)))
    // So that the rest of this test means something.
    expect(carrying.length).toBeGreaterThan(4)
    expect(commands.filter(({ argv }) => holdsToken(argv.join('\n')))).toEqual([])
    const files = readdirSync(state, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    expect(files.length).toBeGreaterThan(10)
    expect(files.filter((file) => holdsToken(readFileSync(file, 'latin1')))).toEqual([])
  })

  placeTest('says that a token is refused, and does not say the token', async (place) => {
    const wrong = 'wrong-5b1de0c4a7724f'
    const forge = await place.open({ token: wrong })
    const head = await work(place.world, 's1')
    const branch = branchOf('s1')
    const answers = [
      await forge.publish({ branch, head }),
      await forge.openPullRequest({ branch, head, target: 'main', title: 'T', body: wrong }),
      await forge.readPullRequest(1),
      await forge.readTarget('main'),
    ]
    for (const answer of answers) {
      const error = requireError(answer)
      expect(error).toMatchObject({ code: 'unauthorized', retry: 'never' })
      expect(error.message).not.toContain(wrong)
      expect(error.message).not.toContain(Buffer.from(wrong).toString('base64').slice(0, 16))
    }
    // It answers, and so nobody has to wait for it.
    expect(await forge.probe(new AbortController().signal)).toBe(true)
  })

  placeTest('takes a story all the way: opened, reviewed, gated and merged', async (place) => {
    const forge = await place.open()
    const { git, repositories, state } = place.world
    const head = await work(place.world, 's1')
    const { number } = await handIn(forge, 's1', head)
    const review = { number, commit: head, verdict: 'approved', body: 'Fine.' } as const
    requireValue(await forge.review(review))
    const run = promisify(execFile)
    const gate = (commit: string) =>
      inFreshClone(git, repositories, state, commit, async (folder) => {
        const { stdout } = await run('ls', { cwd: folder })
        return { passed: true, gate: stdout }
      })
    const owner = { run: 'r1', story: 's1' }
    const text = { title: 'Story s1', body: 'What it is about.' }
    const merge = { ...text, target: 'main', head, owner, number, atMs: Date.UTC(2026, 0, 1) }
    const { signal } = new AbortController()
    const parts = { git, repositories, forge, stateFolder: state, gate }
    const outcome = await mergeStory(parts, merge, signal)
    const passed = { kind: 'merged', asTested: true, gate: 'readme.txt\ns1.txt\n' }
    expect(outcome).toMatchObject(passed)
    // Once more, as after a crash: nothing new happens.
    expect(await mergeStory(parts, merge, signal)).toMatchObject(passed)
    const { folder } = place.host.repository
    expect(plainGit(folder, 'log', '--format=%s', 'main')).toBe('Story s1\ninit')
    expect(plainGit(folder, 'log', '-1', '--format=%(trailers)', 'main')).toBe(
      `Slipway-Run: r1\nSlipway-Story: s1\nSlipway-Head: ${head}`,
    )
  })
})

const ENCODED = Buffer.from(`x-access-token:${TOKEN}`).toString('base64')
const holdsToken = (text: string) => text.includes(TOKEN) || text.includes(ENCODED)
