import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import { type Git, GitError } from '../../src/effects/git/git.ts'
import { changeRefs, readRef } from '../../src/effects/git/refs.ts'
import { updateMirror } from '../../src/effects/git/repositories.ts'
import { GitGuardError, type GitValue, guardGit } from '../../src/effects/guards/git-guard.ts'
import { snapshot } from '../canary/snapshot.ts'
import { type GitWorld, openGitWorld, plainGit } from '../git/world.ts'
import { fillIn } from './known-values.ts'
import { openRecorder, type Recorder, type Recording } from './recorder.ts'
import { RUNS, SEED, TIMEOUT_MS } from './runs.ts'
import { valuesFor } from './values.ts'

const ODD_NAMES = [
  "a'b",
  'a"b',
  'a b',
  '$(touch x)',
  '`x`',
  'a;b',
  '-x',
  'a!b',
  'ü',
  '\\',
  ':x',
  '~',
]

let scratch: string
let trap: string
let recorder: Recorder
let world: GitWorld
let git: Git
let elsewhere: readonly string[]

/** Where a file might land that git makes in the folder it stands in, or in a home. */
const listElsewhere = () => ['/', homedir()].flatMap((folder) => readdirSync(folder))

beforeAll(async () => {
  elsewhere = listElsewhere()
  scratch = mkdtempSync(join(tmpdir(), 'slipway-fuzz-'))
  trap = join(scratch, 'trap')
  mkdirSync(trap)
  recorder = openRecorder(scratch)
  const path = process.env.PATH
  process.env.PATH = `${recorder.folder}:${path}`
  world = await openGitWorld({ 'a.txt': 'x\n' })
  process.env.PATH = path
  git = {
    ...world.git,
    run: (args, options = {}) =>
      world.git.run(args, { ...options, env: { ...options.env, ...recorder.env } }),
  }
  recorder.take()
})

afterAll(async () => {
  expect(listElsewhere()).toEqual(elsewhere)
  await world.close()
  rmSync(scratch, { recursive: true })
})

const HELD_OPEN = '--batch-check=%(objectname)'

/** What was recorded, with a label in the place of each argument that has the value in it. */
type Labels = Readonly<Record<string, string>>
type Use = (value: string) => Promise<Labels>

/**
 * Puts values through the guard, and those that it takes through git: whatever the value, git is
 * called with the same arguments but for the value, and only where no option is expected any more.
 */
async function fuzz(kind: GitValue, neutral: string, use: Use): Promise<void> {
  const call = async (value: string) => {
    recorder.take()
    const labels = await use(value)
    const recording = recorder.take()
    expectTransport(recording, kind === 'url' ? value : '')
    // The one that looks names up is held open, and is started when none is.
    const commands = recording.commands.filter((args) => args.at(-1) !== HELD_OPEN)
    return commands.map((args) => args.map((arg) => labels[arg] ?? arg))
  }
  const shape = await call(neutral)
  for (const args of shape) expect(args.join(' ')).toMatch(/^[^<]*( --end-of-options [^-]*)?$/)
  expect(shape.flat().filter((arg) => arg.includes(neutral))).toEqual([])
  let accepted = 0
  const property = fc.asyncProperty(valuesFor(kind, trap), async (value) => {
    if (!passes(kind, value)) return
    // A folder that is there is looked at first, by standing in it: the test above shows those.
    if (kind === 'url' && existsSync(value)) return
    accepted += 1
    expect(await call(value)).toEqual(shape)
    expect(readdirSync(trap)).toEqual([])
  })
  await fc.assert(property, { numRuns: RUNS, seed: SEED })
  expect(accepted).toBeGreaterThan(RUNS / 10)
  console.log(`${accepted} of ${RUNS} values were taken for a ${kind}; seed ${SEED}`)
}

function passes(kind: GitValue, value: string): boolean {
  try {
    expect(guardGit(kind, value)).toBe(value)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(GitGuardError)
    return false
  }
}

const failure = (error: unknown) => {
  if (!(error instanceof GitError)) throw error
}

test('the trap is live: git falls for such values where nobody guards it', () => {
  const { user } = world
  const env = { PATH: process.env.PATH, HOME: trap, GIT_ALLOW_PROTOCOL: 'ext:file' }
  const commands: Readonly<Record<string, readonly string[]>> = {
    '--upload-pack=RUN': ['ls-remote', 'VALUE', user],
    'ext::RUN': ['ls-remote', 'VALUE'],
    '--output=TRAP/x': ['log', '-p', 'VALUE'],
    '-oTRAP': ['format-patch', '--root', 'VALUE', 'HEAD'],
  }
  for (const [value, args] of Object.entries(commands)) {
    const argv = args.map((arg) => (arg === 'VALUE' ? fillIn(value, trap) : arg))
    spawnSync('git', argv, { cwd: user, env, timeout: 10_000 })
    expect(readdirSync(trap), value).not.toEqual([])
    for (const name of readdirSync(trap)) rmSync(join(trap, name))
  }
})

test('repositories in folders with odd names are reached', async () => {
  const { mirror } = world.repositories
  for (const name of ODD_NAMES) {
    const folder = join(world.scratch, 'odd', name)
    cpSync(world.user, folder, { recursive: true })
    const commit = plainGit(folder, 'commit-tree', '-m', name, 'HEAD^{tree}')
    plainGit(folder, 'branch', 'odd', commit)
    await updateMirror(git, world.repositories, folder)
    expect(await readRef(git, mirror, 'refs/origin/heads/odd')).toBe(commit)
  }
})

describe('what passes the guard reaches git as what it is', () => {
  test('branches', { timeout: TIMEOUT_MS }, async () => {
    const forge = await openLocalForge({ ...world, git, folder: join(world.state, 'pulls') })
    const { mirror } = world.repositories
    await fuzz('branch', 'neutral', async (branch) => {
      const ref = `refs/heads/fuzz/${branch}`
      expect(await changeRefs(git, mirror, [{ ref, to: world.base, from: null }])).toBe(true)
      expect(await forge.readTarget(`fuzz/${branch}`)).toEqual({ ok: true, value: world.base })
      const list = ['for-each-ref', '--format=%(refname)', 'refs/heads/fuzz']
      expect((await git.run(list, { repository: mirror })).text).toBe(ref)
      expect(await changeRefs(git, mirror, [{ ref, to: null, from: world.base }])).toBe(true)
      return { [`${ref}^{commit}`]: '<ref>' }
    })
  })

  test('commits', { timeout: TIMEOUT_MS }, async () => {
    const { work } = world.repositories
    await fuzz('commit', '1'.repeat(40), async (commit) => {
      const found = await readRef(git, work, commit).catch(failure)
      expect(found === undefined || found === commit).toBe(true)
      const parents = ['rev-parse', '--verify', '--end-of-options', `${commit}^@`]
      await git.run(parents, { repository: work }).catch(failure)
      return { [`${commit}^@`]: '<parents>' }
    })
  })

  test('paths', { timeout: TIMEOUT_MS }, async () => {
    const { work } = world.repositories
    const blob = plainGit(world.user, 'rev-parse', 'HEAD:a.txt')
    const index = join(scratch, 'index')
    await fuzz('path', 'neutral', async (path) => {
      const folder = mkdtempSync(join(world.scratch, 'tree-'))
      const options = { repository: work, workTree: folder, index }
      const stdin = `100644 ${blob}\t${path}\0`
      await git.run(['update-index', '-z', '--index-info'], { ...options, stdin })
      const { text: tree } = await git.run(['write-tree'], options)
      const list = ['ls-tree', '-r', '-z', '--end-of-options', tree, path]
      expect((await git.run(list, options)).text).toBe(`100644 blob ${blob}\t${path}\0`)
      const name = ['rev-parse', '--verify', '--end-of-options', `${tree}:${path}`]
      expect((await git.run(name, options)).text).toBe(blob)
      await git.run(['checkout-index', '--all'], options).catch(failure)
      // One that is too long for the disk is not made.
      expect([[], [path]]).toContainEqual(filesBelow(folder))
      rmSync(folder, { recursive: true })
      rmSync(index)
      return { [tree]: '<tree>', [path]: '<path>', [`${tree}:${path}`]: '<blob>' }
    })
  })

  test('URLs', { timeout: TIMEOUT_MS }, async () => {
    const before = snapshot(world.user)
    // Nothing leaves this machine: hosts are asked for at a proxy that is not there.
    const secretConfig = { 'http.proxy': 'http://127.0.0.1:1' }
    const protocols = 'file:ssh:http:https'
    await fuzz('url', join(trap, 'none'), async (url) => {
      await updateMirror(git, world.repositories, url).catch(failure)
      const remote = ['ls-remote', '--end-of-options', url]
      await git.run(remote, { protocols, secretConfig }).catch(failure)
      return { [url]: '<url>' }
    })
    expect(snapshot(world.user)).toEqual(before)
  })
})

/** What git starts to reach another repository; nothing where there is none to reach. */
function expectTransport({ children, ssh }: Recording, url: string): void {
  for (const argv of children) {
    const isLocal = argv.length === 1 && argv[0] === `git-upload-pack ${quoted(url)}`
    const isSsh = argv[0] === 'ssh -oBatchMode=yes'
    const http = argv[0] === 'git' ? `git-${argv[1]}` : argv[0]
    const isHttp =
      /^git-remote-https?$/.test(http ?? '') && argv.slice(-2).every((arg) => arg === url)
    expect(url !== '' && (isLocal || isSsh || isHttp), JSON.stringify(argv)).toBe(true)
  }
  for (const argv of ssh) {
    const [batch, o, send, ...rest] = argv
    expect([batch, o, send]).toEqual(['-oBatchMode=yes', '-o', 'SendEnv=GIT_PROTOCOL'])
    const [host, command, ...more] = rest[0] === '-p' ? rest.slice(2) : rest
    expect(host, JSON.stringify(argv)).toBe(hostOf(url))
    expect(command).toMatch(/^git-upload-pack '/)
    expect(more).toEqual([])
  }
}

/** Who is to be reached, as ssh is told: with the user, without brackets and port. */
function hostOf(url: string): string {
  const [authority = ''] = url.startsWith('ssh://') ? url.slice(6).split('/') : url.split(':')
  return authority.replace(/:\d+$/, '').replace(/\[(.*)\]/, '$1')
}

const quoted = (text: string) => `'${text.replace(/['!]/g, (char) => `'\\${char}'`)}'`

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}
