import { existsSync, lstatSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeDurably } from '../durable-file.ts'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { type Contents, readCheckpoint } from './checkpoint.ts'
import { findSubmodules } from './clone.ts'
import { type GitFolderRecord, recordGitFolder } from './git-folder.ts'
import { openInPlace } from './in-place.ts'
import type { Place } from './place.ts'

/** Notes what has to be known about a workspace. */
export async function writeRecord({ record }: Place, contents: Contents): Promise<void> {
  await mkdir(dirname(record), { recursive: true, mode: 0o700 })
  await writeDurably(record, JSON.stringify(contents))
}

/** What was noted; undefined when that is not there, or is damaged, be it in one byte of a name. */
export async function readRecord(
  git: Git,
  { mirror }: Repositories,
  { record }: Place,
): Promise<Contents | undefined> {
  const text = await readFile(record, 'utf8').catch(() => undefined)
  const contents = text === undefined ? undefined : parse(text)
  if (contents === undefined) return undefined
  const [known] = await git.find(mirror, [`${contents.base}^{commit}`])
  return known === contents.base ? contents : undefined
}

function parse(text: string): Contents | undefined {
  try {
    const contents: Contents = JSON.parse(text)
    const { base, submodules, gitFolder } = contents
    const isRecord =
      COMMIT.test(base) &&
      Array.isArray(submodules) &&
      submodules.every((path) => typeof path === 'string') &&
      gitFolder instanceof Object
    return isRecord ? contents : undefined
  } catch {
    return undefined
  }
}

const COMMIT = /^[0-9a-f]{40}$/

/**
 * Finds out again what was noted about a workspace that is there, and notes it. Undefined when there
 * is nothing to tell what it stands on: neither a checkpoint nor the story of its branch.
 */
export async function rebuildRecord(
  git: Git,
  { mirror, work }: Repositories,
  place: Place,
): Promise<Contents | undefined> {
  const stored = await readCheckpoint(git, work, place.checkpointRef).catch(() => undefined)
  const base = stored?.base ?? (await readFirstCommit(place))
  if (base === undefined) return undefined
  const [known] = await git.find(mirror, [`${base}^{commit}`])
  if (known !== base) return undefined
  const submodules = await findSubmodules(git, mirror, base)
  const contents = { base, submodules, gitFolder: recordCopied(place, mirror) }
  await writeRecord(place, contents)
  return contents
}

/** The first commit that the branch of a clone was on, by its own account. */
async function readFirstCommit({ folder, branch }: Place): Promise<string | undefined> {
  const path = Buffer.from(join(folder, '.git', 'logs', 'refs', 'heads', branch))
  const file = await openInPlace(path).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(81), 0, 81, 0)
    return /^0{40} ([0-9a-f]{40})$/.exec(buffer.toString('latin1', 0, bytesRead))?.[1]
  } finally {
    await file.close()
  }
}

/** Only what was copied from the mirror as it is can be cloned again; the rest counts as changed. */
function recordCopied({ folder }: Place, mirror: string): GitFolderRecord {
  const isCopied = (path: string) => {
    const twin = join(mirror, path)
    if (!path.startsWith('objects/') || !existsSync(twin)) return false
    return lstatSync(twin).size === lstatSync(join(folder, '.git', path)).size
  }
  const files = Object.entries(recordGitFolder(join(folder, '.git')))
  return Object.fromEntries(files.filter(([path]) => isCopied(path)))
}
