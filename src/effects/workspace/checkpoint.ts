import { lstatSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readlink, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Git } from '../git/git.ts'
import { changeRefs } from '../git/repositories.ts'
import { changedGitFiles, type GitFolderRecord } from './git-folder.ts'
import type { Place } from './place.ts'
import { isInPlace, makeReadable, restoreTree, storeTree } from './tree.ts'

/** A moment of a workspace, from which it can be made again exactly. */
export interface Checkpoint {
  readonly commit: string
  /** The commit of the target that the work stands on. */
  readonly base: string
  readonly tree: string
  /** Folders of git inside the workspace that hold something, with where their files are stored. */
  readonly gitFolders: Readonly<Record<string, string>>
}

/** What has to be known about a workspace to store it. */
export interface Contents {
  readonly base: string
  readonly submodules: readonly string[]
  readonly gitFolder: GitFolderRecord
}

/** Stores a workspace as it is; the same again when nothing has changed since the last time. */
export async function storeCheckpoint(
  git: Git,
  work: string,
  place: Place,
  contents: Contents,
): Promise<Checkpoint> {
  const { base, submodules } = contents
  const { folder, index } = place
  const source = { git, repository: work, folder, index, base, submodules }
  const [{ tree, gitFolders }, last] = await Promise.all([
    storeTree(source),
    readCheckpoint(git, work, place.checkpointRef),
  ])
  // Once their files are in the index, nothing there shows that these are repositories.
  const known = Object.keys(last?.gitFolders ?? {}).filter((path) => path !== '.git')
  const inner = [...new Set([...gitFolders, ...known])].filter((path) => isInPlace(folder, path))
  const store = () => storeGitFolders(git, work, place, contents, inner)
  const stored = await store().catch((error) => {
    if (error.code !== 'EACCES') throw error
    makeReadable(folder, '')
    return store()
  })
  const isSame =
    last?.tree === tree &&
    last.base === base &&
    JSON.stringify(last.gitFolders) === JSON.stringify(stored)
  if (isSame) return last
  const parents = [...(last === undefined ? [base] : [last.commit])].flatMap((id) => ['-p', id])
  const message = JSON.stringify({ base, gitFolders: stored })
  const kept = await keepTrees(git, work, Object.values(stored))
  const { text: commit } = await git.run(['commit-tree', tree, ...parents, ...kept, '-F', '-'], {
    repository: work,
    stdin: message,
  })
  await changeRefs(git, work, [{ ref: place.checkpointRef, to: commit }])
  return { commit, base, tree, gitFolders: stored }
}

/** The checkpoint that a ref or a commit stands for. */
export async function readCheckpoint(
  git: Git,
  work: string,
  name: string,
): Promise<Checkpoint | undefined> {
  const { text } = await git.run(['cat-file', '--batch'], {
    repository: work,
    stdin: `${name}^{commit}\n`,
  })
  const commit = /^([0-9a-f]+) commit \d+\n/.exec(text)?.[1]
  if (commit === undefined) return undefined
  const tree = /^tree ([0-9a-f]+)$/m.exec(text)?.[1]
  const { base, gitFolders } = JSON.parse(text.slice(text.indexOf('\n\n') + 2).trimEnd())
  return { commit, base, tree: tree as string, gitFolders }
}

/** Trees that belong to a checkpoint without being part of its own live on as those of parents. */
async function keepTrees(git: Git, work: string, trees: readonly string[]): Promise<string[]> {
  const parents: string[] = []
  for (const tree of trees) {
    const args = ['commit-tree', tree, '-m', 'the folder of a repository inside a workspace']
    const { text } = await git.run(args, { repository: work })
    parents.push('-p', text)
  }
  return parents
}

async function storeGitFolders(
  git: Git,
  work: string,
  { folder }: Place,
  { gitFolder }: Contents,
  inner: readonly string[],
): Promise<Record<string, string>> {
  const stored: Record<string, string> = {}
  const changed = changedGitFiles(join(folder, '.git'), gitFolder)
  if (changed.length > 0)
    stored['.git'] = await storeFiles(git, work, join(folder, '.git'), changed)
  for (const path of inner) {
    const source = join(folder, path)
    const files = lstatSync(source).isDirectory() ? changedGitFiles(source, {}) : undefined
    const name = basename(path)
    if (files === undefined) stored[path] = await storeFiles(git, work, dirname(source), [name])
    else if (files.length > 0) stored[path] = await storeFiles(git, work, source, files)
  }
  return stored
}

/** Copies the files first, under names that git takes, whatever they were called. */
async function storeFiles(
  git: Git,
  work: string,
  folder: string,
  paths: readonly string[],
): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), 'slipway-git-'))
  try {
    const copies = join(scratch, 'files')
    for (const path of paths) {
      const copy = join(copies, encodePath(path))
      await mkdir(dirname(copy), { recursive: true })
      if (lstatSync(join(folder, path)).isSymbolicLink()) {
        await symlink(await readlink(join(folder, path)), copy)
      } else await copyFile(join(folder, path), copy)
    }
    const options = { repository: work, workTree: copies, index: join(scratch, 'index') }
    await git.run(['add', '--all', '--force'], options)
    return (await git.run(['write-tree'], options)).text
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

const encodePath = (path: string) =>
  path
    .split('/')
    .map((part) => `=${part}`)
    .join('/')

/** Puts the files of git's folders back to where they were. */
export async function restoreGitFolders(
  git: Git,
  work: string,
  folder: string,
  { gitFolders }: Checkpoint,
): Promise<void> {
  for (const [path, tree] of Object.entries(gitFolders)) {
    const scratch = await mkdtemp(join(tmpdir(), 'slipway-git-'))
    try {
      await restoreTree(git, work, tree, scratch)
      const { text } = await git.run(['ls-tree', '-r', '-z', '--name-only', tree], {
        repository: work,
      })
      for (const name of text.split('\0').filter(Boolean)) {
        await putBack(join(scratch, name), gitFileOf(folder, path, decodePath(name)))
      }
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }
}

const decodePath = (path: string) =>
  path
    .split('/')
    .map((part) => part.slice(1))
    .join('/')

/** The `.git` of an inner repository may be a file; its only stored name is then its own. */
function gitFileOf(folder: string, path: string, name: string): string {
  const isFile = path !== '.git' && name === basename(path)
  return isFile ? join(folder, path) : join(folder, path, name)
}

async function putBack(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await rm(to, { recursive: true, force: true })
  if (lstatSync(from).isSymbolicLink()) await symlink(await readlink(from), to)
  else await copyFile(from, to)
}
