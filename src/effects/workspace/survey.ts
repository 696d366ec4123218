import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { type BytePath, bytesOf, readable } from './byte-path.ts'
import { fingerprint, type GitFolderRecord } from './git-folder.ts'
import type { Place } from './place.ts'

/** What is in a workspace besides that which git has stored. */
export interface Survey {
  /** Folders with nothing in them. */
  readonly emptyFolders: readonly BytePath[]
  /** Files and links that are stored nowhere else, and folders that could not be looked into. */
  readonly unstored: readonly BytePath[]
}

/** What was stored of a workspace. */
export interface StoredParts {
  /** As it was when the clone was made: what has not changed can be cloned again. */
  readonly gitFolder: GitFolderRecord
  /** The files of git's folders that were stored. */
  readonly gitFiles: ReadonlySet<BytePath>
}

/** More than a checkpoint has room for are as good as unstored. */
const EMPTY_FOLDERS_MAX = 10_000
/** Git would look into repositories inside by running itself there. */
const IGNORE_INNER = '--ignore-submodules=all'
const LISTING_MS_MAX = 60_000

/**
 * Compares all that is in a workspace, but for what is ignored, with what was stored of it just now.
 * It knows no shape that git cannot store: whatever is there and not stored is found.
 */
export async function surveyWorkspace(
  git: Git,
  { work }: Repositories,
  { folder, index }: Place,
  { gitFolder, gitFiles }: StoredParts,
): Promise<Survey> {
  const ask = async (...args: string[]) => {
    const options = { repository: work, workTree: folder, index, timeoutMs: LISTING_MS_MAX }
    const { stdout } = await git.run(args, { ...options, accept: [0, 1] })
    return stdout.toString('latin1').split('\0').filter(Boolean)
  }
  // What was taken into the index piece by piece has no times there, and would look changed.
  await ask('update-index', '-q', '--refresh')
  const entries = await ask('ls-files', '--stage', '-z')
  const changed = new Set(await ask('diff-files', '--name-only', '-z', IGNORE_INNER))
  const stored = new Set(entries.map((line) => line.slice(line.indexOf('\t') + 1)))
  const isOfClone = (path: BytePath) => {
    if (!path.startsWith('.git/')) return false
    const seen = gitFolder[readable(path).slice('.git/'.length)]
    return seen !== undefined && seen === fingerprint(join(folder, readable(path)))
  }
  return walk(folder, {
    ignored: ignoredOf(await ask(...IGNORED)),
    isStored: (path) =>
      (stored.has(path) && !changed.has(path)) || gitFiles.has(path) || isOfClone(path),
    isSubmodule: (path) => stored.has(path),
  })
}

const IGNORED = [
  'ls-files',
  '--others',
  '--ignored',
  '--exclude-standard',
  '--directory',
  '-z',
] as const

/** A folder is listed also where only all of its files are ignored, which are listed with it then. */
function ignoredOf(listed: readonly BytePath[]): ReadonlySet<BytePath> {
  const parents = new Set(listed.flatMap((path) => ancestorsOf(path)))
  return new Set(listed.filter((path) => !parents.has(path)).map((path) => path.replace(/\/$/, '')))
}

function ancestorsOf(path: BytePath): BytePath[] {
  const parts = path.replace(/\/$/, '').split('/')
  return parts.slice(0, -1).map((_, i) => `${parts.slice(0, i + 1).join('/')}/`)
}

interface Known {
  readonly ignored: ReadonlySet<BytePath>
  isStored(path: BytePath): boolean
  isSubmodule(path: BytePath): boolean
}

async function walk(folder: string, known: Known): Promise<Survey> {
  const emptyFolders: BytePath[] = []
  const unstored: BytePath[] = []
  const waiting: BytePath[] = ['']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entries = await list(folder, path)
    if (entries === undefined) unstored.push(path)
    if (entries?.length === 0 && !known.isSubmodule(path)) emptyFolders.push(path)
    for (const entry of entries ?? []) {
      const name = entry.name.toString('latin1')
      const below = path === '' ? name : `${path}/${name}`
      if (known.ignored.has(below)) continue
      if (entry.isDirectory()) waiting.push(below)
      else if (!known.isStored(below)) unstored.push(below)
    }
  }
  // A clone comes with its own.
  const empty = emptyFolders.filter((path) => path !== '' && !/^\.git(?:\/|$)/.test(path))
  return {
    emptyFolders: empty.slice(0, EMPTY_FOLDERS_MAX).sort(),
    unstored: [...unstored, ...empty.slice(EMPTY_FOLDERS_MAX)].sort(),
  }
}

/** Undefined for a folder that cannot be read. Pipes, sockets and devices hold nothing. */
async function list(folder: string, path: BytePath): Promise<Dirent<Buffer>[] | undefined> {
  try {
    const place = bytesOf(folder, path)
    const entries = await readdir(place, { withFileTypes: true, encoding: 'buffer' })
    return entries.filter(
      (entry) => entry.isDirectory() || entry.isFile() || entry.isSymbolicLink(),
    )
  } catch {
    return undefined
  }
}
