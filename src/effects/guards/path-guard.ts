import { createHash } from 'node:crypto'
import { constants, type Dirent, type Stats } from 'node:fs'
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  stat,
  unlink,
} from 'node:fs/promises'
import { join } from 'node:path'
import { isGitFolder } from './git-guard.ts'

/** A path that leads out of its folder, or to something that is not to be opened. */
export class PathGuardError extends Error {
  override readonly name = 'PathGuardError'
}

const PATH_BYTES_MAX = 4_096
const LINKS_MAX = 20
/** Each level is an open file, of which a process has about a thousand. */
const LEVELS_MAX = 128

/** What a file is opened for. `write` makes it when it is not there. */
export type Purpose = 'read' | 'write' | 'list'

// macOS has no way to say "in this open folder", but a flag that refuses links on the whole way.
const NO_LINK = process.platform === 'darwin' ? 0x2000_0000 : constants.O_NOFOLLOW
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINK
/** Opening must neither wait for somebody nor have an effect of its own. */
const QUIET = constants.O_NONBLOCK | constants.O_NOCTTY | NO_LINK

const FLAGS: Readonly<Record<Purpose, number>> = {
  read: constants.O_RDONLY | QUIET,
  write: constants.O_RDWR | constants.O_CREAT | QUIET,
  list: FOLDER,
}
/** Finds out whether a file that is there may be written to. */
const PRESENT = constants.O_WRONLY | QUIET
const DRAFT = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | QUIET

/**
 * The door to every file whose path is not ours: opens it only if it lies below the folder, one
 * component at a time, so that no link and no swap in between leads elsewhere. Links that stay
 * inside are followed, but never the last component of a path that is written to. Rejects with a
 * PathGuardError, or with the error of the file system when there is no such file.
 */
export async function openInside(
  folder: string,
  path: string,
  purpose: Purpose,
): Promise<FileHandle> {
  return walkInside(folder, path, purpose, (walk, parts) => walk.to(parts))
}

/**
 * Where a file or a folder inside a folder is, from there and without links; `.` for the folder
 * itself. For programs that are given a path; rejects like `openInside`.
 */
export async function findInside(folder: string, path: string): Promise<string> {
  const find = (purpose: Purpose) =>
    walkInside(folder, path, purpose, (walk, parts) => walk.find(parts))
  return find('list').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTDIR') throw error
    return find('read')
  })
}

/** What is in a folder inside a folder; rejects like `openInside`. */
export async function listInside(folder: string, path: string): Promise<Dirent[]> {
  return walkInside(folder, path, 'list', (walk, parts) => walk.list(parts))
}

/**
 * Gives a file inside a folder another content, or makes it. What was there stays until all of the
 * new content is on the disk, so that neither a full disk nor a kill loses both. Its mode is kept.
 * Rejects like `openInside` for what is written to, and leaves nothing else behind then.
 */
export async function replaceInside(folder: string, path: string, content: string): Promise<void> {
  await walkInside(folder, path, 'write', (walk, parts) => walk.replace(parts, content))
}

/** The same, with the folders made that are missing on the way. */
export async function writeInside(folder: string, path: string, content: string): Promise<void> {
  await walkInside(folder, path, 'write', (walk, parts) => {
    walk.makesFolders = true
    return walk.replace(parts, content)
  })
}

async function walkInside<Found>(
  folder: string,
  path: string,
  purpose: Purpose,
  go: (walk: Walk, parts: string[]) => Promise<Found>,
): Promise<Found> {
  const root = await realpath(folder)
  const walk = new Walk(root, purpose)
  try {
    return await go(walk, partsOf([folder.replace(/\/+$/, ''), root], path))
  } catch (error) {
    throw named(error, path)
  } finally {
    await walk.leave()
  }
}

/** The components of a path below one of the names of its folder. */
function partsOf(folders: readonly string[], path: string): string[] {
  if (path.includes('\0')) throw new PathGuardError('a path has no NUL')
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw new PathGuardError('the path is too long')
  const folder = path.startsWith('/') ? folders.find((each) => isBelow(each, path)) : ''
  if (folder === undefined) throw new PathGuardError(`${path} is not inside ${folders[0]}`)
  return plainParts(path.slice(folder.length).split('/'))
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function plainParts(parts: readonly string[]): string[] {
  return parts.filter((part) => part !== '' && part !== '.')
}

class Walk {
  /** Whether a folder that is missing on the way is made. */
  makesFolders = false
  readonly #root: string
  readonly #purpose: Purpose
  /** The folders that are open, from the root to where the walk is. */
  readonly #folders: FileHandle[] = []
  readonly #names: string[] = []
  #links = 0

  constructor(root: string, purpose: Purpose) {
    this.#root = root
    this.#purpose = purpose
  }

  async to(rest: string[]): Promise<FileHandle> {
    this.#folders.push(await open(this.#root, FOLDER))
    for (let name = await this.#toLast(rest); name !== undefined; name = await this.#toLast(rest)) {
      const found = await this.#last(name, rest)
      if (found !== undefined) return found
    }
    if (this.#purpose === 'list') return open(this.#here(), FLAGS.list)
    throw new PathGuardError('the path names a folder')
  }

  async find(rest: string[]): Promise<string> {
    await (await this.to(rest)).close()
    return join(...this.#names)
  }

  async list(rest: string[]): Promise<Dirent[]> {
    this.#folders.push(await this.to(rest))
    const entries = await readdir(this.#here(), { withFileTypes: true })
    await this.#requireHere()
    return entries
  }

  async replace(rest: string[], content: string): Promise<void> {
    this.#folders.push(await open(this.#root, FOLDER))
    const name = await this.#toLast(rest)
    if (name === undefined) throw new PathGuardError('the path names a folder')
    this.#refuseGit(name)
    const before = await this.#present(name)
    const draft = this.#here(draftOf(name))
    await unlink(draft).catch(ignore('ENOENT'))
    const file = await open(draft, DRAFT, 0o644)
    try {
      await fill(file, content, before)
      await this.#requireHere()
      await rename(draft, this.#here(name))
    } catch (error) {
      await unlink(draft).catch(ignore('ENOENT'))
      throw error
    }
  }

  async leave(): Promise<void> {
    await Promise.all(this.#folders.map((folder) => folder.close()))
  }

  /** Goes to the folder of the last component, and says its name; undefined after a last `..`. */
  async #toLast(rest: string[]): Promise<string | undefined> {
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      if (part === '..') await this.#up()
      else if (rest.length === 0) return part
      else await this.#down(part, rest)
    }
    return undefined
  }

  /** What a file is that may be written to; undefined where there is none. */
  async #present(name: string): Promise<Stats | undefined> {
    try {
      const file = await this.#accept(await open(this.#here(name), PRESENT))
      return await file.stat().finally(() => file.close())
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw refusal(error, name)
    }
  }

  /** Linux reaches a folder through its descriptor, whatever its name leads to by now. */
  #here(name = '.'): string {
    const { fd } = this.#folders.at(-1) as FileHandle
    return process.platform === 'linux'
      ? `/proc/self/fd/${fd}/${name}`
      : `${join(this.#root, ...this.#names)}/${name}`
  }

  /** Where only a name leads to the folder, it has to be the one that is open. */
  async #requireHere(): Promise<void> {
    if (process.platform === 'linux') return
    const folder = this.#folders.at(-1) as FileHandle
    const [opened, named] = await Promise.all([folder.stat(), stat(this.#here())])
    if (opened.ino === named.ino && opened.dev === named.dev) return
    throw new PathGuardError('a folder of the path was exchanged meanwhile')
  }

  async #up(): Promise<void> {
    if (this.#folders.length === 1) throw new PathGuardError('the path leads out of its folder')
    await this.#folders.pop()?.close()
    this.#names.pop()
  }

  async #down(name: string, rest: string[]): Promise<void> {
    this.#refuseGit(name)
    if (this.#folders.length > LEVELS_MAX) throw new PathGuardError('the path is too deep')
    try {
      this.#folders.push(await this.#openFolder(name, rest))
      this.#names.push(name)
    } catch (error) {
      await this.#follow(name, rest, error)
    }
  }

  async #openFolder(name: string, rest: readonly string[]): Promise<FileHandle> {
    try {
      return await open(this.#here(name), FOLDER)
    } catch (error) {
      if (!this.makesFolders || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      await this.#makeFolder(name, rest)
      return open(this.#here(name), FOLDER)
    }
  }

  /** Looks at the rest of the path first: where it cannot be gone, nothing is made. */
  async #makeFolder(name: string, rest: readonly string[]): Promise<void> {
    if (rest.includes('..')) {
      throw new PathGuardError('the path goes up from a folder that is not there: write it without')
    }
    for (const part of rest) this.#refuseGit(part)
    if (this.#folders.length + rest.length > LEVELS_MAX) {
      throw new PathGuardError('the path is too deep')
    }
    await this.#requireHere()
    await mkdir(this.#here(name)).catch(ignore('EEXIST'))
  }

  async #last(name: string, rest: string[]): Promise<FileHandle | undefined> {
    this.#refuseGit(name)
    try {
      const file = await this.#accept(await open(this.#here(name), FLAGS[this.#purpose], 0o644))
      this.#names.push(name)
      return file
    } catch (error) {
      if (this.#isWriting()) throw refusal(error, name)
      await this.#follow(name, rest, error)
      return undefined
    }
  }

  /** Closes again what is of the wrong kind: a pipe, a device, or a file of somebody else. */
  async #accept(file: FileHandle): Promise<FileHandle> {
    try {
      const stat = await file.stat()
      const isRight = this.#purpose === 'list' ? stat.isDirectory() : stat.isFile()
      if (!isRight) {
        const kind = stat.isDirectory() ? 'a folder' : 'no plain file'
        throw new PathGuardError(`the path names ${kind}`)
      }
      // Its other name may be anywhere; package managers link whole stores like this.
      if (this.#isWriting() && stat.nlink > 1) {
        throw new PathGuardError('the file has another name, and would change there too')
      }
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** Puts what a link says in front of the rest of the path. */
  async #follow(name: string, rest: string[], error: unknown): Promise<void> {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ELOOP' && code !== 'ENOTDIR' && code !== 'EMLINK') throw error
    this.#links += 1
    if (this.#links > LINKS_MAX) throw new PathGuardError('the path has too many links')
    const target = await readlink(this.#here(name)).catch(() => {
      throw error
    })
    const parts = partsOf([this.#root], target)
    if (target.startsWith('/')) while (this.#folders.length > 1) await this.#up()
    rest.unshift(...parts)
  }

  #isWriting(): boolean {
    return this.#purpose === 'write'
  }

  #refuseGit(name: string): void {
    if (this.#isWriting() && isGitFolder(name)) {
      throw new PathGuardError('nothing writes into a .git folder')
    }
  }
}

function refusal(error: unknown, name: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ELOOP' || code === 'EMLINK'
    ? new PathGuardError(`${name} is a link, and links are not written to`)
    : error
}

/** The same for every try, so that the next one removes what a kill has left. */
function draftOf(name: string): string {
  return `.slipway-${createHash('sha256').update(name).digest('hex').slice(0, 16)}.draft`
}

async function fill(file: FileHandle, content: string, like: Stats | undefined): Promise<void> {
  try {
    if (like !== undefined) {
      // Only root may give a file away; for others the new one is theirs.
      await file.chown(like.uid, like.gid).catch(() => {})
      await file.chmod(like.mode & 0o777)
    }
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

function ignore(code: string): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== code) throw error
  }
}

/** The file system names the way that we took; a reader knows the path alone. */
function named(error: unknown, path: string): unknown {
  const { path: taken, message } = error as NodeJS.ErrnoException
  if (!(error instanceof Error) || taken === undefined) return error
  const { dest = taken } = error as { dest?: string }
  error.message = message.replaceAll(taken, () => path).replaceAll(dest, () => path)
  return Object.assign(error, { path })
}
