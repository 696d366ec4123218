import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Git } from '../../src/effects/git/git.ts'
import { readRef } from '../../src/effects/git/refs.ts'
import {
  openRepositories,
  type Repositories,
  updateMirror,
} from '../../src/effects/git/repositories.ts'
import { inFreshClone } from '../../src/effects/merge/gate.ts'
import { findArchived } from '../../src/effects/workspace/archive.ts'
import { placeOf } from '../../src/effects/workspace/place.ts'
import { openWorkspaces, type Workspaces } from '../../src/effects/workspace/workspaces.ts'
import { contentOf, type GitWorld, openGitWorld, plainGit as sh } from '../git/world.ts'

const S1 = { run: 'r1', story: 's1' }

let world: GitWorld
let git: Git
let repositories: Repositories
let workspaces: Workspaces
let state: string
let user: string
let base: string

beforeEach(async () => {
  world = await openGitWorld({
    'a.txt': 'one\ntwo\n',
    '.gitattributes': '*.txt text eol=crlf\n',
    '.gitignore': 'ignored/\n',
    'src/b.js': 'export const b = 1\n',
  })
  ;({ git, repositories, workspaces, state, user, base } = world)
})

afterEach(() => {
  vi.unstubAllEnvs()
  return world.close()
})

describe('prepare', () => {
  test('makes a clone of its own on its branch, with nothing that leads back', async () => {
    const { folder, branch } = await workspaces.prepare(S1, base)
    expect(branch).toBe('slipway/r1/s1')
    expect(sh(folder, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(branch)
    expect(sh(folder, 'rev-parse', 'HEAD')).toBe(base)
    expect(sh(folder, 'remote')).toBe('')
    expect(existsSync(join(folder, '.git/hooks'))).toBe(false)
    expect(existsSync(join(folder, '.git/objects/info/alternates'))).toBe(false)
    expect(sh(folder, 'status', '--porcelain')).toBe('')
  })

  test('takes files byte by byte, whatever the attributes say', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
  })

  test('a second time finds the work as it is', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    writeFileSync(join(folder, 'new.txt'), 'mine')
    await workspaces.prepare(S1, base)
    expect(readFileSync(join(folder, 'new.txt'), 'utf8')).toBe('mine')
  })

  test('stories may be called what bookkeeping sounds like', async () => {
    const names = ['s1', 's1.new', 's1.old', 's1.json', 's1.record', 's1.lock.x']
    const owners = names.map((story) => ({ run: 'r1', story }))
    for (const owner of owners) {
      const { folder } = await workspaces.prepare(owner, base)
      writeFileSync(join(folder, 'mine.txt'), owner.story)
    }
    for (const owner of owners) await workspaces.checkpoint(owner)
    expect(await workspaces.reconcile(owners)).toEqual({
      removed: [],
      kept: [],
      missing: [],
      mended: [],
      failed: [],
    })
    await workspaces.remove(S1)
    for (const owner of owners.slice(1)) {
      const { folder } = placeOf(state, owner)
      expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe(owner.story)
    }
  })

  test('30 at once', async () => {
    const owners = Array.from({ length: 30 }, (_, i) => ({ run: 'r1', story: `s${i}` }))
    const made = await Promise.all(owners.map((owner) => workspaces.prepare(owner, base)))
    expect(new Set(made.map(({ folder }) => contentOf(folder).join())).size).toBe(1)
  })

  test.each(['../x', '', '-x', 'a/b', 'x.lock', 'a b', '.', 'x'.repeat(65)])(
    'refuses the name %j',
    async (story) => {
      await expect(workspaces.prepare({ run: 'r1', story }, base)).rejects.toThrow()
    },
  )

  test('a move to a new base keeps the old work in a checkpoint', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    writeFileSync(join(folder, 'new.txt'), 'mine')
    writeFileSync(join(user, 'a.txt'), 'changed\n')
    sh(user, 'commit', '-qam', 'next')
    const next = sh(user, 'rev-parse', 'HEAD')
    await updateMirror(git, repositories, user)
    await workspaces.prepare(S1, next)
    expect(existsSync(join(folder, 'new.txt'))).toBe(false)
    expect(sh(folder, 'rev-parse', 'HEAD')).toBe(next)
    const { checkpointRef } = placeOf(state, S1)
    expect(sh(repositories.work, 'show', `${checkpointRef}^:new.txt`)).toBe('mine')
  })
})

describe('a lost workspace', () => {
  async function loseAndMakeAgain(): Promise<[string[], string[]]> {
    const { folder } = placeOf(state, S1)
    const before = contentOf(folder)
    await workspaces.checkpoint(S1)
    rmSync(folder, { recursive: true })
    await workspaces.prepare(S1, base)
    return [before, contentOf(folder)]
  }

  test('comes back exactly', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    writeFileSync(join(folder, 'a.txt'), 'mixed\r\nends\n\0binary')
    writeFileSync(join(folder, 'tool.sh'), '#!/bin/sh\n')
    chmodSync(join(folder, 'tool.sh'), 0o755)
    symlinkSync('/etc/passwd', join(folder, 'link'))
    rmSync(join(folder, 'src'), { recursive: true })
    writeFileSync(join(folder, 'src'), 'a file now')
    mkdirSync(join(folder, 'odd [names]* \n here'))
    writeFileSync(join(folder, 'odd [names]* \n here', '-rf'), 'x')
    writeFileSync(join(folder, '.gitattributes'), '* filter=evil text=auto\n')
    const [before, after] = await loseAndMakeAgain()
    expect(after).toEqual(before)
  })

  test('leaves ignored files out', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    mkdirSync(join(folder, 'ignored'))
    writeFileSync(join(folder, 'ignored/x'), 'x')
    await loseAndMakeAgain()
    expect(existsSync(join(folder, 'ignored'))).toBe(false)
  })

  test('comes back with repositories inside it, with and without commits', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    for (const name of ['empty', 'deep/er']) {
      mkdirSync(join(folder, name), { recursive: true })
      sh(join(folder, name), 'init', '-q')
      writeFileSync(join(folder, name, 'x.txt'), name)
    }
    sh(join(folder, 'deep/er'), 'add', '-A')
    sh(join(folder, 'deep/er'), 'commit', '-qm', 'inner')
    const [before, after] = await loseAndMakeAgain()
    expect(after).toEqual(before)
    expect(sh(join(folder, 'deep/er'), 'log', '--format=%s')).toBe('inner')
  })

  test('needs no place for temporary files but the state folder', async () => {
    vi.stubEnv('TMPDIR', join(world.scratch, 'nowhere'))
    const { folder } = await workspaces.prepare(S1, base)
    mkdirSync(join(folder, 'inner'))
    sh(join(folder, 'inner'), 'init', '-q')
    writeFileSync(join(folder, 'inner/x.txt'), 'x')
    const [before, after] = await loseAndMakeAgain()
    expect(after).toEqual(before)
    expect(readdirSync(repositories.scratch)).toEqual([])
  })

  test('comes back with commits that the model made itself', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    writeFileSync(join(folder, 'mine.txt'), 'committed')
    sh(folder, 'add', '-A')
    sh(folder, 'commit', '-qm', 'mine')
    const mine = sh(folder, 'rev-parse', 'HEAD')
    rmSync(join(folder, 'mine.txt'))
    await loseAndMakeAgain()
    expect(sh(folder, 'show', `${mine}:mine.txt`)).toBe('committed')
    expect(sh(folder, 'rev-parse', 'HEAD')).toBe(mine)
  })

  test('comes back with files that nobody may read', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    mkdirSync(join(folder, 'closed'))
    writeFileSync(join(folder, 'closed/x'), 'x')
    chmodSync(join(folder, 'closed/x'), 0)
    chmodSync(join(folder, 'closed'), 0)
    await workspaces.checkpoint(S1)
    chmodSync(join(folder, 'closed'), 0o700)
    rmSync(folder, { recursive: true })
    await workspaces.prepare(S1, base)
    expect(readFileSync(join(folder, 'closed/x'), 'utf8')).toBe('x')
  })
})

describe('commit', () => {
  test('puts all work on the branch, on top of what is there', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    expect(await workspaces.commit(S1, 'nothing')).toBeUndefined()
    writeFileSync(join(folder, 'one.txt'), '1')
    const first = await workspaces.commit(S1, 'first')
    expect(await workspaces.commit(S1, 'again')).toBe(first)
    writeFileSync(join(folder, 'two.txt'), '2')
    const second = await workspaces.commit(S1, 'second')
    expect(sh(repositories.work, 'log', '--format=%s', 'slipway/r1/s1')).toBe('second\nfirst\ninit')
    expect(await readRef(git, repositories.work, 'refs/heads/slipway/r1/s1')).toBe(second)
  })
})

describe('remove', () => {
  test('stores first; the archive is one ref for all, and a copy of it', async () => {
    for (const story of ['s1', 's2', 's3']) {
      const { folder } = await workspaces.prepare({ run: 'r1', story }, base)
      writeFileSync(join(folder, 'work.txt'), story)
      await workspaces.remove({ run: 'r1', story })
      expect(existsSync(folder)).toBe(false)
    }
    expect(sh(repositories.work, 'for-each-ref', '--format=%(refname)')).toBe(
      'refs/slipway/archive\nrefs/slipway/archive-copy',
    )
    const refs = await findArchived(git, repositories.work, { run: 'r1', story: 's2' })
    const commit = refs?.['refs/slipway/checkpoints/r1/s2']
    expect(sh(repositories.work, 'show', `${commit}:work.txt`)).toBe('s2')
  })
})

describe('reconcile', () => {
  test('removes what nobody wants, after storing it, and names what is missing', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    writeFileSync(join(folder, 'work.txt'), 'kept')
    const wanted = { run: 'r1', story: 's9' }
    expect(await workspaces.reconcile([wanted])).toEqual({
      removed: [S1],
      kept: [],
      missing: [wanted],
      mended: [],
      failed: [],
    })
    const refs = await findArchived(git, repositories.work, S1)
    expect(sh(repositories.work, 'show', `${Object.values(refs ?? {})[0]}:work.txt`)).toBe('kept')
  })
})

describe('a start', () => {
  test('archives the work of a story that nobody wants and whose folder is gone', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    writeFileSync(join(folder, 'work.txt'), 'kept')
    await workspaces.commit(S1, 'work')
    rmSync(join(state, 'workspaces'), { recursive: true })
    expect(await workspaces.reconcile([])).toMatchObject({ removed: [S1] })
    const refs = ['for-each-ref', '--format=%(refname)']
    expect(sh(repositories.work, ...refs)).toBe('refs/slipway/archive\nrefs/slipway/archive-copy')
    expect(Object.keys((await findArchived(git, repositories.work, S1)) ?? {})).toHaveLength(2)
  })

  test('removes what a kill has left of a moment', async () => {
    mkdirSync(join(repositories.scratch, 'at-x'))
    await openRepositories(git, state)
    expect(readdirSync(repositories.scratch)).toEqual([])
  })

  test('brings a lost workspace back from its last checkpoint', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    writeFileSync(join(folder, 'work.txt'), 'kept')
    await workspaces.checkpoint(S1)
    rmSync(folder, { recursive: true })
    expect(await workspaces.reconcile([S1])).toEqual({
      removed: [],
      kept: [],
      missing: [],
      mended: [],
      failed: [],
    })
    expect(readFileSync(join(folder, 'work.txt'), 'utf8')).toBe('kept')
  })

  test('leaves alone what we did not make', async () => {
    await workspaces.prepare(S1, base)
    const runs = join(world.state, 'workspaces', 'r1')
    writeFileSync(join(runs, '.DS_Store'), '')
    mkdirSync(join(runs, 'other'))
    expect(await workspaces.reconcile([S1])).toEqual({
      removed: [],
      kept: [],
      missing: [],
      mended: [],
      failed: [],
    })
  })
})

describe('a note for whom something runs there', () => {
  test('is found by the next process, which takes it for no workspace', async () => {
    await workspaces.prepare(S1, base)
    expect(await workspaces.findRun(S1)).toBeUndefined()
    await workspaces.noteRun(S1, 'coder-1:7.0')
    const next = openWorkspaces(git, repositories, state)
    expect(await next.reconcile([S1])).toMatchObject({ removed: [], failed: [], missing: [] })
    expect(await next.findRun(S1)).toBe('coder-1:7.0')
    await next.noteRun(S1, null)
    expect(await workspaces.findRun(S1)).toBeUndefined()
  })

  test('goes with the workspace', async () => {
    await workspaces.prepare(S1, base)
    await workspaces.noteRun(S1, 'coder-1:7.0')
    await workspaces.remove(S1)
    expect(readdirSync(join(state, 'workspaces', 'r1'))).toEqual([])
    await workspaces.restore(S1)
    expect(await workspaces.findRun(S1)).toBeUndefined()
  })
})

describe('many finished stories', () => {
  test('leave no heap of small files, and nothing of what they tried is lost', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    for (let i = 0; i < 1_500; i += 1) writeFileSync(join(folder, `f${i}`), `content ${i}`)
    const { tree } = await workspaces.checkpoint(S1)
    expect(looseObjects()).toBeGreaterThan(1_500)
    await workspaces.remove(S1)
    expect(looseObjects()).toBeLessThan(10)
    expect(sh(repositories.work, 'ls-tree', '--name-only', tree).split('\n')).toContain('f1499')
  })

  test('are not packed while the gate clones', async () => {
    const { folder } = await workspaces.prepare(S1, base)
    for (let i = 0; i < 1_500; i += 1) writeFileSync(join(folder, `f${i}`), `content ${i}`)
    const said: string[] = []
    let noteRepack = () => {}
    const repacking = new Promise<void>((done) => (noteRepack = done))
    const watched: Git = {
      ...git,
      async run(args, options) {
        if (args.includes('repack')) noteRepack()
        if (!args.includes('clone')) return git.run(args, options)
        const answer = await git.run(args, options)
        const waited = new Promise((done) => setTimeout(done, 2_000, 'undisturbed'))
        said.push(String(await Promise.race([waited, repacking.then(() => 'disturbed')])))
        return answer
      },
    }
    const removal = openWorkspaces(watched, repositories, state).remove(S1)
    await inFreshClone(watched, repositories, state, base, async () => {})
    await removal
    await repacking
    expect(said).toEqual(['undisturbed'])
  })

  function looseObjects(): number {
    return Number(sh(repositories.work, 'count-objects').split(' ')[0])
  }
})
