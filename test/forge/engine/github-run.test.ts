import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { findStored } from '../../disk/find-stored.ts'
import { plainGit } from '../../git/world.ts'
import { makeUser, type User } from '../../run/slipway.ts'
import { APPROVES, building, DONE, planOf, testing, write } from '../../task/replies.ts'
import { EmulatedRepository } from '../emulated-repository.ts'
import { type Emulator, OWNER, startEmulator, TOKEN } from '../emulator.ts'
import { GithubHost } from '../github-host.ts'
import { remoteGit } from '../remote-git.ts'

const SPEC = `# Greetings

The library greets people.

## Acceptance criteria

1. \`greet(name)\` says hello.
2. \`part(name)\` says goodbye.
`

const story = (id: string, criterion: string, depends_on: string[] = []) => ({
  id,
  title: `Write ${id}`,
  description: `Add src/${id}.js, with a test.`,
  criteria: [criterion],
  depends_on,
})

/** Writes a file and its test, and says that it is done. */
const coding = (id: string, word: string) => ({
  when: { state: 'CODING', story: id },
  do: [
    {
      call: 'write_file',
      input: { path: `src/${id}.js`, text: `export const ${id} = (n) => '${word}, ' + n\n` },
    },
    {
      call: 'write_file',
      input: {
        path: `test/${id}.test.js`,
        text: `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { ${id} } from '../src/${id}.js'\n\ntest('${id}', () => assert.equal(${id}('Ada'), '${word}, Ada'))\n`,
      },
    },
    { call: 'done', input: { summary: `${id} is written.` } },
  ],
})

const HALF_TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { half } from '../src/half.js'

test('half', () => assert.equal(half(4), 2))
`

const SCENARIO = {
  title: 'Two stories on GitHub',
  replies: [
    {
      when: { task: 'architect/spec-review' },
      do: [
        {
          call: 'submit_stories',
          input: { stories: [story('greet', '1'), story('part', '2', ['greet'])] },
        },
      ],
    },
    {
      when: { task: 'coder/planning' },
      do: [
        { call: 'submit_plan', input: { plan: 'A function and its test.', confidence: 'high' } },
      ],
    },
    coding('greet', 'Hello'),
    coding('part', 'Goodbye'),
    {
      when: { task: 'architect/code-review' },
      do: [{ call: 'review_complete', input: { verdict: 'approved', feedback: 'Good.' } }],
    },
    building(
      { turn: 1 },
      write('src/half.js', 'export const half = (n) => n / 2\n'),
      write('test/half.test.js', HALF_TEST),
    ),
    DONE,
    APPROVES,
    testing({ call: 'submit_test_plan', input: planOf(['node', '--test', 'test/half.test.js']) }),
  ],
}

let emulator: Emulator
let user: User
let host: GithubHost
let root: string
let count = 0

beforeAll(async () => {
  emulator = await startEmulator()
}, 60_000)

afterAll(() => emulator.stop())

beforeEach(async () => {
  user = await makeUser()
  root = mkdtempSync(join(tmpdir(), 'slipway-github-'))
  count += 1
  const repository = new EmulatedRepository(emulator.url, root, `tally-${count}`)
  mkdirSync(join(root, OWNER))
  host = new GithubHost(root, repository)
  await host.listen()
  const spec = join(user.repository, '..', 'spec.md')
  const scenario = join(user.repository, '..', 'scenario.yaml')
  writeFileSync(spec, SPEC)
  writeFileSync(scenario, JSON.stringify(SCENARIO))
  user.env.SLIPWAY_SCENARIO = scenario
  user.env.GH_ENTERPRISE_TOKEN = TOKEN
  const config = `forge: { kind: github, apiUrl: '${host.url}/api/v3', checksGraceSeconds: 0 }
review: { plan: auto }
team: { coders: 2, architects: 1 }
`
  writeFileSync(join(user.repository, 'slipway.config.yaml'), config)
  plainGit(user.repository, 'commit', '-qam', 'configure')
  cpSync(join(user.repository, '.git'), repository.folder, { recursive: true })
  await remoteGit(repository.folder, 'config', 'core.bare', 'true')
  await repository.create()
  const address = `${host.url}/${OWNER}/${repository.name}.git`
  plainGit(user.repository, 'remote', 'add', 'origin', address)
  await user.slipway('config', 'trust', '--yes')
}, 60_000)

afterEach(async () => {
  await user.close()
  await host.close()
  rmSync(root, { recursive: true, force: true })
})

const remoteLog = () => plainGit(host.repository.folder, 'log', '--format=%s', 'main').split('\n')

async function pullRequests() {
  const path = `/repos/${OWNER}/${host.repository.name}/pulls?state=all`
  const { body } = await host.repository.answer('GET', path, undefined)
  return body as unknown as { number: number; title: string; merged_at: string | null }[]
}

async function runToEnd(): Promise<Awaited<ReturnType<User['slipway']>>> {
  return user.slipway('run', '../spec.md', '--foreground', '--json')
}

test('stories of a run are merged on GitHub as pull requests, tested and reviewed', async () => {
  // GitHub has the target: what this user has not pushed, and what others have, is no hindrance.
  plainGit(user.repository, 'commit', '-q', '--allow-empty', '-m', 'not pushed')
  await host.commitFromElsewhere('main')
  const head = plainGit(user.repository, 'rev-parse', 'HEAD')
  const done = await runToEnd()
  expect(done, done.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(done.stdout)).toMatchObject({ isComplete: true })
  const before = ['from elsewhere, number 1', 'configure', 'init']
  expect(remoteLog()).toEqual(['Write part', 'Write greet', ...before])
  const pulls = await pullRequests()
  expect(pulls.map(({ title }) => title).sort()).toEqual(['Write greet', 'Write part'])
  for (const { number, merged_at } of pulls) {
    expect(merged_at).not.toBeNull()
    const path = `/repos/${OWNER}/${host.repository.name}/pulls/${number}/reviews`
    const { body } = await host.repository.ask('GET', path)
    expect(body).toHaveLength(1)
  }
  // Neither a branch is left there, nor has anything changed here, nor is the token kept anywhere.
  const branches = plainGit(host.repository.folder, 'for-each-ref', '--format=%(refname:short)')
  expect(branches).toBe('main')
  expect(plainGit(user.repository, 'rev-parse', 'HEAD')).toBe(head)
  expect(findStored(user.state, TOKEN)).toEqual([])
  expect(done.stdout + done.stderr).not.toContain(TOKEN)
}, 180_000)

const task = () =>
  user.slipway('task', 'Halve a number.', '--mode', 'implementation', '--foreground', '--json')

test('a task is a pull request on GitHub, which somebody else merges', async () => {
  // It stands on what GitHub has, whatever this user has not pushed.
  plainGit(user.repository, 'commit', '-q', '--allow-empty', '-m', 'not pushed')
  const done = await task()
  expect(done, done.stderr).toMatchObject({ code: 0 })
  const { delivery, branch, head } = JSON.parse(done.stdout)
  expect(delivery).toMatchObject({ number: expect.any(Number), url: expect.any(String) })
  const pulls = await pullRequests()
  expect(pulls).toMatchObject([
    { number: delivery.number, title: 'Halve a number.', merged_at: null },
  ])
  expect(plainGit(host.repository.folder, 'rev-parse', branch)).toBe(head)
  expect(remoteLog()).toEqual(['configure', 'init'])
}, 120_000)

test('a task with a token that GitHub refuses says so, with its exit code', async () => {
  user.env.GH_ENTERPRISE_TOKEN = 'a-token-that-is-wrong'
  const { code, stdout } = await task()
  expect([code, JSON.parse(stdout)]).toMatchObject([
    5,
    {
      meaning: 'The forge refused the credentials.',
      why: expect.stringMatching(/401|Authentication failed/),
    },
  ])
}, 60_000)

test.each<[string, () => void, RegExp]>([
  [
    'a token',
    () => delete user.env.GH_ENTERPRISE_TOKEN,
    /no token for 127\.0\.0\.1.* Set GH_ENTERPRISE_TOKEN/,
  ],
  [
    'a remote on that server',
    () => plainGit(user.repository, 'remote', 'set-url', 'origin', 'https://example.org/a/b'),
    /Point the remote origin at GitHub/,
  ],
  [
    'a branch there',
    () => plainGit(user.repository, 'checkout', '-q', '-b', 'elsewhere'),
    /The forge has no branch elsewhere/,
  ],
])('without %s nothing is begun, and the user is told', async (_, spoil, message) => {
  spoil()
  const { code, stderr } = await runToEnd()
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})
