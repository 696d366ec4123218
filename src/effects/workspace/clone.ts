import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Git, GitError } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import type { Contents } from './checkpoint.ts'
import { recordGitFolder } from './git-folder.ts'

export interface CloneRequest {
  readonly folder: string
  /** Where it is made before it takes its place. */
  readonly draft: string
  readonly index: string
  readonly branch: string
  readonly base: string
}

/** A workspace can be made again at any time, so nobody waits for the disk. */
const UNSYNCED = ['-c', 'core.fsync=none']

const COPY_TRIES_MAX = 10
const VANISHED = /(?:failed to|cannot|unable to) \w+ .*No such file or directory/s

/**
 * Makes a repository of its own before it is where it is wanted: no object shared with the mirror, no
 * hook, no submodule, no way back. It takes its place with the promise's `settle`.
 */
export async function makeClone(
  git: Git,
  { mirror, template, turns }: Repositories,
  { folder, draft, index, branch, base }: CloneRequest,
): Promise<{ readonly contents: Contents; settle(): Promise<void> }> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  await mkdir(dirname(index), { recursive: true, mode: 0o700 })
  const flags = [
    '--quiet',
    '--no-hardlinks',
    '--no-checkout',
    '--no-tags',
    '--no-recurse-submodules',
  ]
  const from = [`--template=${template}`, '--end-of-options', mirror, draft]
  const clone = () => git.run([...UNSYNCED, 'clone', ...flags, ...from])
  await turns.take(['files'], () => copyRepository(draft, clone))
  const own = { repository: join(draft, '.git'), workTree: draft }
  await cutLoose(own.repository)
  const [submodules] = await Promise.all([
    findSubmodules(git, mirror, base),
    git.run([...UNSYNCED, 'checkout', '--quiet', '--no-track', '-B', branch, base], own),
  ])
  await copyFile(join(draft, '.git', 'index'), index)
  return {
    contents: { base, submodules, gitFolder: recordGitFolder(join(draft, '.git')) },
    settle: () => rename(draft, folder),
  }
}

/** The paths of a commit's submodules. */
export async function findSubmodules(
  git: Git,
  repository: string,
  commit: string,
): Promise<readonly string[]> {
  const { text } = await git.run(['ls-tree', '-r', '-z', commit], { repository })
  return text.split('\0').flatMap((line) => /^160000 .*?\t(.*)$/s.exec(line)?.[1] ?? [])
}

/**
 * A clone copies the files of the mirror one by one. One that git itself writes there meanwhile, for
 * a merge, goes away under another name; whoever was about to copy it begins again.
 */
async function copyRepository(draft: string, clone: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await rm(draft, { recursive: true, force: true })
    try {
      await clone()
      return
    } catch (error) {
      const hasVanished = error instanceof GitError && VANISHED.test(error.message)
      if (!hasVanished || tries >= COPY_TRIES_MAX) throw error
    }
  }
}

/** Forgets where it came from: without a sandbox a model could push there. */
async function cutLoose(repository: string): Promise<void> {
  await writeFile(
    join(repository, 'config'),
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogAllRefUpdates = true\n',
  )
  await rm(join(repository, 'packed-refs'), { force: true })
  await rm(join(repository, 'refs', 'remotes'), { recursive: true, force: true })
}
