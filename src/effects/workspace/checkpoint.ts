import { rm } from 'node:fs/promises'
import type { Git } from '../git/git.ts'
import { changeRefs, type Repositories } from '../git/repositories.ts'
import { type BytePath, bytePathOf, bytesOf } from './byte-path.ts'
import { restoreGitFiles, type StoredGitFiles, storeGitFiles } from './git-files.ts'
import { changedGitFiles, type GitFolderRecord, goneGitFiles } from './git-folder.ts'
import { Landing } from './landing.ts'
import type { Place } from './place.ts'
import { holdToPlace } from './place-check.ts'
import { type Scan, scanWorkspace } from './scan.ts'
import { surveyWorkspace } from './survey.ts'
import { makeReadable, storeTree } from './tree.ts'

/** A moment of a workspace, from which it can be made again exactly. */
export interface Checkpoint {
  readonly commit: string
  /** The commit of the target that the work stands on. */
  readonly base: string
  readonly tree: string
  /** A tree of the files of git's own folders inside the workspace; null when there are none. */
  readonly gitFiles: string | null
  /** Files of the clone's own .git folder that are no longer there. */
  readonly goneGitFiles: readonly string[]
  /** Folders without anything in them, which no tree can hold. */
  readonly emptyFolders: readonly BytePath[]
  /** What was found and could not be stored, as far as it fits. */
  readonly unstored: readonly BytePath[]
}

/** More than a checkpoint has room for are as good as unstored. */
const EMPTY_FOLDERS_MAX = 10_000
const UNSTORED_NAMED_MAX = 100
/** What the kernel takes, without the byte that ends it. */
const PATH_BYTES_MAX = 4_095

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
  const { state, last } = await storeFolder(git, repositories, place, contents)
  return record(git, repositories, place, state, last)
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
  const { state, gitFiles, last } = await storeFolder(git, repositories, place, contents)
  await record(git, repositories, place, state, last)
  return surveyWorkspace(git, repositories, place, {
    gitFolder: contents.gitFolder,
    gitFiles: new Set(gitFiles),
    emptyFolders: new Set(state.emptyFolders),
  })
}

/** Stores what a workspace is about to be: the files of a commit on a base. */
export async function storePrepared(
  git: Git,
  repositories: Repositories,
  place: Place,
  { base, tree }: Pick<Checkpoint, 'base' | 'tree'>,
  last: Checkpoint | undefined,
): Promise<void> {
  const nothing = { gitFiles: null, goneGitFiles: [], emptyFolders: [], unstored: [] }
  await record(git, repositories, place, { base, tree, ...nothing }, last)
}

type State = Omit<Checkpoint, 'commit'>

interface StoredFolder {
  readonly state: State
  readonly gitFiles: readonly BytePath[]
  readonly last: Checkpoint | undefined
}

async function storeFolder(
  git: Git,
  repositories: Repositories,
  place: Place,
  contents: Contents,
): Promise<StoredFolder> {
  const { base } = contents
  const reading = readCheckpoint(git, repositories.work, place.checkpointRef)
  const [{ tree, scan }, last] = await Promise.all([
    storeAndScan(git, repositories, place, contents, reading),
    reading,
  ])
  const fits = (path: BytePath) => bytesOf(place.draft, path).length <= PATH_BYTES_MAX
  const files = await storeFilesOfGit(git, repositories, place, contents, scan, fits)
  const fitting = scan.emptyFolders.filter(fits)
  const unstored = [
    ...scan.closed,
    ...files.unstored,
    ...[...scan.emptyFolders, ...scan.gitFiles].filter((path) => !fits(path)),
    ...fitting.slice(EMPTY_FOLDERS_MAX),
  ]
  const state = {
    base,
    tree,
    gitFiles: files.tree ?? null,
    goneGitFiles: goneGitFiles(`${place.folder}/.git`, contents.gitFolder),
    emptyFolders: fitting.slice(0, EMPTY_FOLDERS_MAX),
    unstored: unstored.slice(0, UNSTORED_NAMED_MAX),
  }
  return { state, gitFiles: files.stored, last }
}

/** Looks around while git works, which costs no time where nothing is out of the ordinary. */
async function storeAndScan(
  git: Git,
  repositories: Repositories,
  place: Place,
  { base, submodules }: Contents,
  last: Promise<Checkpoint | undefined>,
): Promise<{ readonly tree: string; readonly scan: Scan }> {
  const { folder, index } = place
  const store = async () => {
    const source = { git, repositories, folder, index, base, submodules }
    const { tree, isSimple } = await storeTree(source)
    const before = (await last)?.tree ?? base
    return { tree: await holdToPlace(git, repositories, place, { before, tree }), isSimple }
  }
  const look = () => scanWorkspace(git, repositories, place, submodules)
  const [stored, early] = await Promise.all([store(), look().catch(() => undefined)])
  if (early === undefined || early.closed.length > 0) {
    makeReadable(folder, '')
    const { tree } = await store()
    return { tree, scan: await look() }
  }
  // What a repository inside ignores is known once its files are in the index.
  return { tree: stored.tree, scan: stored.isSimple ? early : await look() }
}

async function storeFilesOfGit(
  git: Git,
  repositories: Repositories,
  { folder }: Place,
  { gitFolder }: Contents,
  { gitFiles }: Scan,
  fits: (path: BytePath) => boolean,
): Promise<StoredGitFiles> {
  const store = async () => {
    const own = changedGitFiles(`${folder}/.git`, gitFolder).map((path) => `.git/${path}`)
    const paths = [...own.map(bytePathOf), ...gitFiles].filter(fits)
    return storeGitFiles(git, repositories, folder, paths)
  }
  const stored = await store().catch((error) => {
    if (error.code !== 'EACCES') throw error
    return undefined
  })
  if (stored?.unstored.length === 0) return stored
  makeReadable(folder, '')
  return store()
}

/** Commits what was stored, unless the last checkpoint says the same. */
async function record(
  git: Git,
  { work }: Repositories,
  { checkpointRef }: Place,
  state: State,
  last: Checkpoint | undefined,
): Promise<Checkpoint> {
  const { tree, gitFiles } = state
  const message = messageOf(state)
  if (last?.tree === tree && messageOf(last) === message) return last
  const parents = [last?.commit ?? state.base]
  // A tree that belongs to a checkpoint without being part of its own lives on as a parent's.
  if (gitFiles !== null) {
    const args = ['commit-tree', gitFiles, '-m', 'files of git inside a workspace']
    parents.push((await git.run(args, { repository: work })).text)
  }
  const args = ['commit-tree', tree, ...parents.flatMap((id) => ['-p', id]), '-F', '-']
  const { text: commit } = await git.run(args, { repository: work, stdin: message })
  await changeRefs(git, work, [{ ref: checkpointRef, to: commit }])
  return { commit, ...state }
}

function messageOf({ base, gitFiles, goneGitFiles, emptyFolders, unstored }: State): string {
  return JSON.stringify({ base, gitFiles, goneGitFiles, emptyFolders, unstored })
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
  const none = { gitFiles: null, goneGitFiles: [], emptyFolders: [], unstored: [] }
  return { ...none, ...content, commit, tree: tree as string }
}

/** Puts back what a tree cannot hold: the files of git's folders, and folders with nothing in them. */
export async function restoreOthers(
  git: Git,
  repositories: Repositories,
  folder: string,
  { gitFiles, goneGitFiles, emptyFolders }: Checkpoint,
): Promise<void> {
  for (const path of goneGitFiles) await rm(`${folder}/.git/${path}`, { force: true })
  const landing = new Landing(folder)
  if (gitFiles !== null) await restoreGitFiles(git, repositories, gitFiles, landing)
  for (const path of emptyFolders) await landing.makeFolder(path)
}
