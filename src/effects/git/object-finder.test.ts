import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Command } from '../process/command.ts'
import { openProcesses, type Processes } from '../process/processes.ts'
import { type Git, openGit } from './git.ts'

const ON_LINUX = process.platform === 'linux'

let scratch: string
let repository: string
let processes: Processes
let git: Git
let started: Command[]

const sh = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
    cwd: scratch,
    encoding: 'utf8',
  }).trim()

/** A bare repository with one commit more than it had. */
function commit(path: string): string {
  const tree = sh('-C', path, 'mktree', '--missing')
  const made = sh('-C', path, 'commit-tree', tree, '-m', String(Math.random()))
  sh('-C', path, 'update-ref', 'refs/heads/main', made)
  return made
}

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-finder-'))
  repository = join(scratch, 'r.git')
  execFileSync('git', ['init', '-q', '--bare', repository])
  processes = openProcesses(scratch)
  started = []
  git = openGit({
    ...processes,
    run(command, by) {
      started.push(command)
      return processes.run(command, by)
    },
  })
})

afterEach(async () => {
  await processes.close()
  rmSync(scratch, { recursive: true, force: true })
})

const main = async () => (await git.find(repository, ['refs/heads/main']))[0]

test('one process answers many, also what has come since it began', async () => {
  expect(await main()).toBe(undefined)
  for (let i = 0; i < 5; i += 1) {
    const made = commit(repository)
    expect(await main()).toBe(made)
    if (i === 2) sh('-C', repository, 'gc', '-q', '--prune=now')
    if (i === 3) sh('-C', repository, 'pack-refs', '--all')
    expect(await git.find(repository, [made, 'nothing', `${made}^{tree}`, `${made}^1`])).toEqual([
      made,
      undefined,
      expect.stringMatching(/^[0-9a-f]{40}$/),
      undefined,
    ])
  }
  sh('-C', repository, 'update-ref', '-d', 'refs/heads/main')
  expect(await main()).toBe(undefined)
  expect(started).toHaveLength(1)
})

test('questions at once are answered each with its own', async () => {
  const made = commit(repository)
  const asked = Array.from({ length: 50 }, (_, i) =>
    git.find(repository, i % 2 === 0 ? [made] : ['nothing', made]),
  )
  const answers = await Promise.all(asked)
  for (const [i, answer] of answers.entries()) {
    expect(answer).toEqual(i % 2 === 0 ? [made] : [undefined, made])
  }
})

test.runIf(ON_LINUX)('a process that was killed is followed by another', async () => {
  const made = commit(repository)
  expect(await main()).toBe(made)
  const [reader = 0, ...others] = findReaders()
  process.kill(reader, 'SIGKILL')
  expect(await main()).toBe(made)
  expect(others).toEqual([])
})

/** The processes that read this repository. */
function findReaders(): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return readFileSync(`/proc/${name}/environ`).includes(repository) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

test('a repository that was made anew is looked into anew', async () => {
  commit(repository)
  expect(await main()).toBeDefined()
  renameSync(repository, join(scratch, 'old.git'))
  execFileSync('git', ['init', '-q', '--bare', repository])
  expect(await main()).toBe(undefined)
  const made = commit(repository)
  expect(await main()).toBe(made)
})

test('what is no repository is an error, and a name of two lines too', async () => {
  await expect(git.find(join(scratch, 'nothing'), ['x'])).rejects.toThrow(/git cat-file: /)
  await expect(git.find(repository, ['a\nb'])).rejects.toThrow('a name is one line')
})

test.runIf(ON_LINUX)('it ends when nothing has been asked for a while', async () => {
  commit(repository)
  await main()
  expect(findReaders()).toHaveLength(1)
  await new Promise((done) => setTimeout(done, 2_600))
  expect(findReaders()).toHaveLength(0)
  expect(await main()).toBeDefined()
})
