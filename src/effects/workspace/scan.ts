import { lstatSync, readdirSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { isGitFolder } from '../guards/git-guard.ts'
import { type BytePath, bytePathOf, bytesOf, readable } from './byte-path.ts'
import type { Place } from './place.ts'

/** What is in a workspace that no tree of git's can hold, but for what is ignored. */
export interface Scan {
  /** The files and links of repositories inside that are git's own. */
  readonly gitFiles: readonly BytePath[]
  /** Folders with nothing in them. */
  readonly emptyFolders: readonly BytePath[]
  /** Folders that could not be looked into. */
  readonly closed: readonly BytePath[]
  /** Those of the files that are too large which are there. */
  readonly tooLarge: readonly BytePath[]
}

/**
 * The largest file that is stored, by its apparent size: a sparse one takes as long to read as one
 * that is full.
 */
const FILE_BYTES_MAX = 1024 ** 3

/** Folders that are read before others have their turn: some milliseconds. */
const READ_AT_ONCE = 64
const LISTING_MS_MAX = 60_000

/** Whether git has no place for a file or a folder of that name. */
export function isRefusedName(name: BytePath): boolean {
  return process.platform === 'linux' ? /^\.git$/i.test(name) : isGitFolder(readable(name))
}

/**
 * Looks into every folder of a workspace, following no link. What git says about repositories inside
 * is no help: once a file of theirs is in an index, they are folders like all others to it.
 */
export async function scanWorkspace(
  git: Git,
  repositories: Repositories,
  place: Place,
  {
    submodules,
    large,
  }: { readonly submodules: readonly string[]; readonly large: readonly BytePath[] },
): Promise<Scan> {
  const gitFiles: BytePath[] = []
  const emptyFolders: BytePath[] = []
  const closed: BytePath[] = []
  const tooLarge: BytePath[] = []
  const isLarge = new Set(large)
  const ignored = await listIgnored(git, repositories, place)
  // A clone comes with its own, which are compared with what was cloned.
  const left = new Set([...ignored, '.git'])
  const comesWithClone = new Set(['', ...submodules.map(bytePathOf)])
  await walkFolders(place.folder, left, (path, entries) => {
    if (entries === undefined) closed.push(path)
    if (entries?.length === 0 && !comesWithClone.has(path)) emptyFolders.push(path)
    const isOfGit = path.split('/').some(isRefusedName)
    for (const entry of entries ?? []) {
      const file = below(path, entry)
      if (entry.isDirectory() || left.has(file)) continue
      if (isOfGit || isRefusedName(entry.name)) gitFiles.push(file)
      else if (isLarge.has(file)) tooLarge.push(file)
    }
  })
  const [files, folders] = [gitFiles.sort(), emptyFolders.sort()]
  return { gitFiles: files, emptyFolders: folders, closed: closed.sort(), tooLarge }
}

/** All files that are larger than what is stored, but for what is ignored and what is git's. */
export async function findTooLarge(
  git: Git,
  repositories: Repositories,
  place: Place,
): Promise<readonly BytePath[]> {
  const found: BytePath[] = []
  const left = new Set([...(await listIgnored(git, repositories, place)), '.git'])
  await walkFolders(place.folder, left, (path, entries) => {
    for (const entry of entries ?? []) {
      const file = below(path, entry)
      const isOurs = entry.isFile() && !left.has(file) && !file.split('/').some(isRefusedName)
      if (isOurs && isTooLarge(place.folder, file)) found.push(file)
    }
  })
  return found
}

/** Whether there is a file at that path which is larger than what is stored. */
export function isTooLarge(folder: string, path: BytePath): boolean {
  try {
    const stats = lstatSync(bytesOf(folder, path))
    return stats.isFile() && stats.size > FILE_BYTES_MAX
  } catch {
    return false
  }
}

/** A file, a link or a folder in a folder. Pipes, sockets and devices hold nothing. */
interface Entry {
  readonly name: BytePath
  isDirectory(): boolean
  isFile(): boolean
  isSymbolicLink(): boolean
}

/** Calls `visit` with each folder and what is in it; with nothing for one that cannot be read. */
export async function walkFolders(
  folder: string,
  leaveOut: ReadonlySet<BytePath>,
  visit: (path: BytePath, entries: readonly Entry[] | undefined) => void,
): Promise<void> {
  const waiting: BytePath[] = ['']
  for (let read = 1; waiting.length > 0; read += 1) {
    const path = waiting.pop() as BytePath
    const entries = list(folder, path)
    visit(path, entries)
    for (const entry of entries ?? []) {
      if (!entry.isDirectory()) continue
      const next = below(path, entry)
      if (!leaveOut.has(next)) waiting.push(next)
    }
    // One call that waits costs less than half of one that does not.
    if (read % READ_AT_ONCE === 0) await setImmediate()
  }
}

/** The path of what is in a folder. */
export function below(path: BytePath, { name }: Pick<Entry, 'name'>): BytePath {
  return path === '' ? name : `${path}/${name}`
}

function list(folder: string, path: BytePath): readonly Entry[] | undefined {
  try {
    const entries = read(folder, path)
    return entries.filter(
      (entry) => entry.isDirectory() || entry.isFile() || entry.isSymbolicLink(),
    )
  } catch {
    return undefined
  }
}

function read(folder: string, path: BytePath): readonly Entry[] {
  const place = bytesOf(folder, path)
  try {
    return readdirSync(place, { withFileTypes: true, encoding: 'latin1' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_INVALID_ARG_TYPE') throw error
    // Where the file system does not say what is a folder, Node asks under a name that it cannot.
    return readdirSync(place, { encoding: 'latin1' }).map((name) =>
      Object.assign(lstatSync(bytesOf(folder, below(path, { name }))), { name }),
    )
  }
}

const IGNORED = [
  'ls-files',
  '--others',
  '--ignored',
  '--exclude-standard',
  '--directory',
  '-z',
] as const

/** Everything that is ignored: the outermost folders, and files that lie in none of them. */
export async function listIgnored(
  git: Git,
  { work }: Repositories,
  { folder, index }: Place,
): Promise<ReadonlySet<BytePath>> {
  const options = { repository: work, workTree: folder, index, timeoutMs: LISTING_MS_MAX }
  const { stdout } = await git.run(IGNORED, options)
  const listed = stdout.toString('latin1').split('\0').filter(Boolean)
  // A folder is listed also where only all of its files are ignored, which are listed with it then.
  const parents = new Set(listed.flatMap((path) => ancestorsOf(path)))
  return new Set(listed.filter((path) => !parents.has(path)).map((path) => path.replace(/\/$/, '')))
}

function ancestorsOf(path: BytePath): BytePath[] {
  const parts = path.replace(/\/$/, '').split('/')
  return parts.slice(0, -1).map((_, i) => `${parts.slice(0, i + 1).join('/')}/`)
}
