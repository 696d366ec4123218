import { lstat, mkdir, readlink, realpath, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { inScratch } from '../git/scratch.ts'
import { type BytePath, bytesOf } from './byte-path.ts'
import { writeCopy } from './in-place.ts'
import type { Landing } from './landing.ts'
import { isTooLarge } from './scan.ts'

/** What became of files that are git's own. */
export interface StoredGitFiles {
  /** Where they are; undefined when there are none. */
  readonly tree: string | undefined
  readonly stored: readonly BytePath[]
  /** What could not be read, or is too large. */
  readonly unstored: readonly BytePath[]
}

/**
 * Stores files under names that git takes, whatever they are called. They are copied first, each
 * under a number, so that no name becomes too long for the disk.
 */
export function storeGitFiles(
  git: Git,
  repositories: Repositories,
  folder: string,
  paths: readonly BytePath[],
): Promise<StoredGitFiles> {
  return inScratch(repositories, async (scratch) => {
    const copies = join(scratch, 'files')
    await mkdir(copies)
    const root = await realpath(folder)
    const stored: BytePath[] = []
    const unstored: BytePath[] = []
    for (const path of paths) {
      const outcome = await copyOut(root, path, join(copies, String(stored.length)))
      if (outcome === 'copied') stored.push(path)
      else if (outcome === 'refused') unstored.push(path)
    }
    if (stored.length === 0) return { tree: undefined, stored, unstored }
    const repository = repositories.work
    const flat = { repository, workTree: copies, index: join(scratch, 'flat') }
    await git.run(['add', '--all', '--force'], flat)
    const { text } = await git.run(['ls-files', '--stage', '-z'], flat)
    const named = text.split('\0').flatMap((line) => {
      const [, mode, id, number] = /^(\d+) ([0-9a-f]+) 0\t(\d+)$/.exec(line) ?? []
      return number === undefined ? [] : `${mode} ${id}\t${encode(stored[Number(number)] ?? '')}`
    })
    const options = { repository, index: join(scratch, 'named') }
    await addEntries(git, options, named)
    const { text: tree } = await git.run(['write-tree'], options)
    return { tree, stored, unstored }
  })
}

/** A name that is `.git` is one that no tree may hold. */
const encode = (path: BytePath) => path.replace(/(^|\/)/g, '$1=')
const decode = (name: string): BytePath => name.replace(/(^|\/)=/g, '$1')

async function addEntries(
  git: Git,
  options: { readonly repository: string; readonly index: string },
  entries: readonly string[],
): Promise<void> {
  const stdin = Buffer.from(entries.map((entry) => `${entry}\0`).join(''), 'latin1')
  await git.run(['update-index', '-z', '--index-info'], { ...options, stdin })
}

/** What is no longer there, since somebody still works, is as good as removed before. */
async function copyOut(
  root: string,
  path: BytePath,
  copy: string,
): Promise<'copied' | 'gone' | 'refused'> {
  const from = bytesOf(root, path)
  try {
    if ((await lstat(from)).isSymbolicLink()) {
      await symlink(await readlink(from, { encoding: 'buffer' }), copy)
      return 'copied'
    }
    if (isTooLarge(root, path)) return 'refused'
    return (await writeCopy(from, copy)) ? 'copied' : 'gone'
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') throw error
    return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code) ? 'gone' : 'refused'
  }
}

/** Where stored files were. */
export async function namesOfGitFiles(
  git: Git,
  { work: repository }: Repositories,
  tree: string,
): Promise<readonly BytePath[]> {
  const args = ['ls-tree', '-r', '-z', '--name-only', tree]
  const { stdout } = await git.run(args, { repository })
  return stdout.toString('latin1').split('\0').filter(Boolean).map(decode)
}

/** Puts stored files back to where they were. */
export async function restoreGitFiles(
  git: Git,
  repositories: Repositories,
  tree: string,
  landing: Landing,
): Promise<void> {
  await inScratch(repositories, async (scratch) => {
    const copies = join(scratch, 'files')
    await mkdir(copies)
    const repository = repositories.work
    const { stdout } = await git.run(['ls-tree', '-r', '-z', tree], { repository })
    const entries = stdout.toString('latin1').split('\0').filter(Boolean)
    const options = { repository, index: join(scratch, 'flat'), workTree: copies }
    const numbered = entries.map((line, i) => line.replace(/\t.*$/s, `\t${i}`))
    await addEntries(git, options, numbered)
    await git.run(['checkout-index', '--all', '--force'], options)
    for (const [i, line] of entries.entries()) {
      const path = decode(line.slice(line.indexOf('\t') + 1))
      await landing.putFile(join(copies, String(i)), path)
    }
  })
}
