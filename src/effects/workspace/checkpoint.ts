import { lstatSync } from 'node:fs'
import { copyFile, mkdir, readlink, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Git } from '../git/git.ts'
import { changeRefs, type Repositories } from '../git/repositories.ts'
import { inScratch } from '../git/scratch.ts'
import { type BytePath, bytePathOf, bytesOf } from './byte-path.ts'
import { changedGitFiles, type GitFolderRecord } from './git-folder.ts'
import type { Place } from './place.ts'
import { surveyWorkspace } from './survey.ts'
import { isInPlace, makeReadable, restoreTree, storeTree } from './tree.ts'

/** A moment of a workspace, from which it can be made again exactly. */
export interface Checkpoint {
  readonly commit: string
  /** The commit of the target that the work stands on. */
  readonly base: string
  readonly tree: string
  /** Folders of git inside the workspace that hold something, with where their files are stored. */
  readonly gitFolders: Readonly<Record<string, string>>
  /** Folders without anything in them, which no tree can hold. */
  readonly emptyFolders: readonly BytePath[]
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
  repositories: Repositories,
  place: Place,
  contents: Contents,
): Promise<Checkpoint> {
  const { last, ...stored } = await storeFolder(git, repositories, place, contents)
  // Looked for before a removal, since that takes a look at every folder.
  const { emptyFolders = [] } = last ?? {}
  return record(git, repositories, place, { ...stored, emptyFolders }, last)
}

/**
 * Stores a workspace before it is removed, and compares the disk with what was stored. Gives what
 * there is no place for in any checkpoint, and would be lost with the folder.
 */
export async function storeFinally(
  git: Git,
  repositories: Repositories,
  place: Place,
  contents: Contents,
): Promise<readonly BytePath[]> {
  const { last, gitFiles, ...stored } = await storeFolder(git, repositories, place, contents)
  const parts = { gitFolder: contents.gitFolder, gitFiles: new Set(gitFiles) }
  const { emptyFolders, unstored } = await surveyWorkspace(git, repositories, place, parts)
  await record(git, repositories, place, { ...stored, emptyFolders }, last)
  return unstored
}

interface StoredFolder extends Omit<Checkpoint, 'commit' | 'emptyFolders'> {
  readonly gitFiles: readonly BytePath[]
  readonly last: Checkpoint | undefined
}

async function storeFolder(
  git: Git,
  repositories: Repositories,
  place: Place,
  contents: Contents,
): Promise<StoredFolder> {
  const { base, submodules } = contents
  const { folder, index } = place
  const source = { git, repositories, folder, index, base, submodules }
  const [{ tree, gitFolders }, last] = await Promise.all([
    storeTree(source),
    readCheckpoint(git, repositories.work, place.checkpointRef),
  ])
  // Once their files are in the index, nothing there shows that these are repositories.
  const known = Object.keys(last?.gitFolders ?? {}).filter((path) => path !== '.git')
  const inner = [...new Set([...gitFolders, ...known])].filter((path) => isInPlace(folder, path))
  const store = () => storeGitFolders(git, repositories, place, contents, inner)
  const { trees, files } = await store().catch((error) => {
    if (error.code !== 'EACCES') throw error
    makeReadable(folder, '')
    return store()
  })
  return { base, tree, gitFolders: trees, gitFiles: files.map(bytePathOf), last }
}

/** Commits what was stored, unless the last checkpoint says the same. */
async function record(
  git: Git,
  { work }: Repositories,
  { checkpointRef }: Place,
  { base, tree, gitFolders, emptyFolders }: Omit<Checkpoint, 'commit'>,
  last: Checkpoint | undefined,
): Promise<Checkpoint> {
  const content = { base, gitFolders, emptyFolders }
  const message = JSON.stringify(content)
  if (last?.tree === tree && messageOf(last) === message) return last
  const parents = [...(last === undefined ? [base] : [last.commit])].flatMap((id) => ['-p', id])
  const kept = await keepTrees(git, work, Object.values(gitFolders))
  const { text: commit } = await git.run(['commit-tree', tree, ...parents, ...kept, '-F', '-'], {
    repository: work,
    stdin: message,
  })
  await changeRefs(git, work, [{ ref: checkpointRef, to: commit }])
  return { commit, tree, ...content }
}

function messageOf({ base, gitFolders, emptyFolders }: Checkpoint): string {
  return JSON.stringify({ base, gitFolders, emptyFolders })
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
  const content = JSON.parse(text.slice(text.indexOf('\n\n') + 2).trimEnd())
  const { base, gitFolders, emptyFolders = [] } = content
  return { commit, base, tree: tree as string, gitFolders, emptyFolders }
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

/** Also gives the paths of the files, below the workspace. */
async function storeGitFolders(
  git: Git,
  repositories: Repositories,
  { folder }: Place,
  { gitFolder }: Contents,
  inner: readonly string[],
): Promise<{ readonly trees: Record<string, string>; readonly files: readonly string[] }> {
  const trees: Record<string, string> = {}
  const files: string[] = []
  const store = async (path: string, from: string, names: readonly string[]) => {
    if (names.length === 0) return
    trees[path] = await storeFiles(git, repositories, join(folder, from), names)
    files.push(...names.map((name) => join(from, name)))
  }
  await store('.git', '.git', changedGitFiles(join(folder, '.git'), gitFolder))
  for (const path of inner) {
    const isFolder = lstatSync(join(folder, path)).isDirectory()
    if (isFolder) await store(path, path, changedGitFiles(join(folder, path), {}))
    else await store(path, dirname(path), [basename(path)])
  }
  return { trees, files }
}

/** Copies the files first, under names that git takes, whatever they were called. */
function storeFiles(
  git: Git,
  repositories: Repositories,
  folder: string,
  paths: readonly string[],
): Promise<string> {
  return inScratch(repositories, async (scratch) => {
    const copies = join(scratch, 'files')
    for (const path of paths) {
      const copy = join(copies, encodePath(path))
      await mkdir(dirname(copy), { recursive: true })
      if (lstatSync(join(folder, path)).isSymbolicLink()) {
        await symlink(await readlink(join(folder, path)), copy)
      } else await copyFile(join(folder, path), copy)
    }
    const index = join(scratch, 'index')
    const options = { repository: repositories.work, workTree: copies, index }
    await git.run(['add', '--all', '--force'], options)
    return (await git.run(['write-tree'], options)).text
  })
}

const encodePath = (path: string) =>
  path
    .split('/')
    .map((part) => `=${part}`)
    .join('/')

/** Puts back what a tree cannot hold: the files of git's folders, and folders with nothing in them. */
export async function restoreOthers(
  git: Git,
  repositories: Repositories,
  folder: string,
  { gitFolders, emptyFolders }: Checkpoint,
): Promise<void> {
  for (const [path, tree] of Object.entries(gitFolders)) {
    await inScratch(repositories, async (scratch) => {
      await restoreTree(git, repositories, tree, scratch)
      const { text } = await git.run(['ls-tree', '-r', '-z', '--name-only', tree], {
        repository: repositories.work,
      })
      for (const name of text.split('\0').filter(Boolean)) {
        await putBack(join(scratch, name), gitFileOf(folder, path, decodePath(name)))
      }
    })
  }
  for (const path of emptyFolders) await mkdir(bytesOf(folder, path), { recursive: true })
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
