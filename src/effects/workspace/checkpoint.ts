import { rm } from 'node:fs/promises'
import { hasRef, isWhole, putDamagedAway, removeNonsense } from '../git/damage.ts'
import { type Git, GitError } from '../git/git.ts'
import { changeRefs } from '../git/refs.ts'
import type { Repositories } from '../git/repositories.ts'
import { type BytePath, bytePathOf, bytesOf } from './byte-path.ts'
import { restoreGitFiles, type StoredGitFiles, storeGitFiles } from './git-files.ts'
import { changedGitFiles, type GitFolderRecord, goneGitFiles } from './git-folder.ts'
import { isWholeIndex, rebuildIndex } from './index-file.ts'
import { Landing } from './landing.ts'
import { watchForLarge } from './large-files.ts'
import type { Place } from './place.ts'
import { holdToPlace } from './place-check.ts'
import { isTooLarge, type Scan, scanWorkspace } from './scan.ts'
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

/** How a workspace is stored. */
export interface Manner {
  /**
   * Trusting nothing that was stored before: every file is read and stored again, and the checkpoint
   * stands on earlier ones only if they are whole.
   */
  readonly anew?: boolean
  /** What may be too large to be stored, as it was the last time. */
  readonly suspects?: readonly BytePath[]
}

/** Stores a workspace as it is; the same again when nothing has changed since the last time. */
export async function storeCheckpoint(
  git: Git,
  repositories: Repositories,
  place: Place,
  contents: Contents,
  manner: Manner = {},
): Promise<Checkpoint> {
  return (await storeAll(git, repositories, place, contents, manner)).checkpoint
}

interface StoredAll {
  readonly checkpoint: Checkpoint
  readonly gitFiles: readonly BytePath[]
}

async function storeAll(
  git: Git,
  repositories: Repositories,
  place: Place,
  contents: Contents,
  manner: Manner,
): Promise<StoredAll> {
  const store = async (own: Manner) => {
    const { state, gitFiles, last } = await storeFolder(git, repositories, place, contents, own)
    return { checkpoint: await record(git, repositories, place, state, last), gitFiles }
  }
  if (manner.anew !== true) {
    try {
      return await store(manner)
    } catch (error) {
      // Git has refused, and not been ended: what it stands on may be damaged.
      if (!(error instanceof GitError) || error.exitCode === null) throw error
    }
  }
  await putDamagedAway(git, repositories)
  await removeNonsense(repositories.work, place.checkpointRef)
  return store({ ...manner, anew: true })
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
  manner: Manner = {},
): Promise<readonly BytePath[]> {
  const { checkpoint, gitFiles } = await storeAll(git, repositories, place, contents, manner)
  if (!(await isWhole(git, repositories, checkpoint.commit, contents.base))) {
    if (manner.anew === true) return ['.']
    return storeFinally(git, repositories, place, contents, { ...manner, anew: true })
  }
  return surveyWorkspace(git, repositories, place, {
    gitFolder: contents.gitFolder,
    gitFiles: new Set(gitFiles),
    emptyFolders: new Set(checkpoint.emptyFolders),
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
  { anew = false, suspects = [] }: Manner,
): Promise<StoredFolder> {
  const { base } = contents
  const reading = readLast(git, repositories, place, anew)
  const source = { git, repositories, place, contents, last: reading }
  if (anew || !(await isWholeIndex(place.index))) await renewIndex(source)
  const { tree, scan } = await storeAndScan({
    ...source,
    // A tree that may be damaged is nothing to compare with.
    last: anew ? Promise.resolve(undefined) : reading,
    leaveOut: suspects.filter((path) => isTooLarge(place.folder, path)),
  })
  const fits = (path: BytePath) => bytesOf(place.draft, path).length <= PATH_BYTES_MAX
  const files = await storeFilesOfGit(git, repositories, place, contents, scan, fits)
  const fitting = scan.emptyFolders.filter(fits)
  const unstored = [
    ...scan.tooLarge,
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
  const last = await reading
  // What was added again may have made earlier checkpoints whole.
  const holds =
    last !== undefined && (!anew || (await isWhole(git, repositories, last.commit, base)))
  return { state, gitFiles: files.stored, last: holds ? last : undefined }
}

/** What a ref leads to that is no checkpoint has nothing to say about the files that are there. */
function readLast(
  git: Git,
  { work }: Repositories,
  { checkpointRef }: Place,
  anew: boolean,
): Promise<Checkpoint | undefined> {
  const reading = readCheckpoint(git, work, checkpointRef).catch((error) => {
    if (anew || error instanceof NoCheckpointError) return undefined
    throw error
  })
  // Whoever needs it waits for it, later.
  reading.catch(() => {})
  return reading
}

interface FolderSource {
  readonly git: Git
  readonly repositories: Repositories
  readonly place: Place
  readonly contents: Contents
  readonly last: Promise<Checkpoint | undefined>
}

/** What was in the last checkpoint is tracked from then on, also where it is ignored. */
async function renewIndex({
  git,
  repositories,
  place,
  contents: { base },
  last,
}: FolderSource): Promise<void> {
  const stored = await last
  const trees = stored?.base === base ? [stored.tree, base] : [base]
  await rebuildIndex(git, repositories, place.index, trees)
}

/** Looks around while git works, which costs no time where nothing is out of the ordinary. */
async function storeAndScan(
  source: FolderSource & { readonly leaveOut: readonly BytePath[] },
): Promise<{ readonly tree: string; readonly scan: Scan }> {
  const { git, repositories, place, contents, last } = source
  const { folder } = place
  const { base, submodules } = contents
  const store = async (leaveOut: readonly BytePath[], signal?: AbortSignal) => {
    const { index } = place
    const all = { git, repositories, folder, index, base, submodules, leaveOut }
    const { tree, isSimple } = await storeTree(signal === undefined ? all : { ...all, signal })
    const before = (await last)?.tree ?? base
    return { tree: await holdToPlace(git, repositories, place, { before, tree }), isSimple }
  }
  const look = (large: readonly BytePath[]) =>
    scanWorkspace(git, repositories, place, { submodules, large })
  const { leaveOut } = source
  const watch = watchForLarge(git, repositories, place, leaveOut)
  const storing = store(leaveOut, watch.signal).catch((error) => {
    if (!watch.signal.aborted) throw error
    return undefined
  })
  const [stored, early, found] = await Promise.all([
    storing,
    look(leaveOut).catch(() => undefined),
    storing.then(watch.end, watch.end),
  ])
  const large = [...leaveOut, ...found]
  // Git may have taken it before it was ended.
  if (found.length > 0) await renewIndex(source)
  if (stored === undefined || found.length > 0 || early === undefined || early.closed.length > 0) {
    makeReadable(folder, '')
    const { tree } = await store(large)
    return { tree, scan: await look(large) }
  }
  // What a repository inside ignores is known once its files are in the index.
  return { tree: stored.tree, scan: stored.isSimple ? early : await look(large) }
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

/** There is a ref of checkpoints, and what it leads to is none. */
class NoCheckpointError extends Error {
  override readonly name = 'NoCheckpointError'
}

/** The checkpoint that a ref leads to; undefined when there is no such ref. */
export async function readCheckpoint(
  git: Git,
  work: string,
  ref: string,
): Promise<Checkpoint | undefined> {
  const { text } = await git.run(['cat-file', '--batch'], {
    repository: work,
    stdin: `${ref}^{commit}\n`,
  })
  const commit = /^([0-9a-f]+) commit \d+\n/.exec(text)?.[1]
  if (commit === undefined && !(await hasRef(work, ref))) return undefined
  const tree = /^tree ([0-9a-f]+)$/m.exec(text)?.[1]
  const content = readState(text.slice(text.indexOf('\n\n') + 2))
  if (commit === undefined || tree === undefined || content === undefined) {
    throw new NoCheckpointError(`${ref} leads to no checkpoint`)
  }
  return { ...content, commit, tree }
}

function readState(message: string): Omit<State, 'tree'> | undefined {
  try {
    const content = JSON.parse(message)
    const none = { gitFiles: null, goneGitFiles: [], emptyFolders: [], unstored: [] }
    return /^[0-9a-f]{40}$/.test(content?.base) ? { ...none, ...content } : undefined
  } catch {
    return undefined
  }
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
