import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'
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

/** What a file is opened for. `write` makes it when it is not there; `replace` empties it first. */
export type Purpose = 'read' | 'write' | 'replace' | 'list'

// macOS has no way to say "in this open folder", but a flag that refuses links on the whole way.
const NO_LINK = process.platform === 'darwin' ? 0x2000_0000 : constants.O_NOFOLLOW
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINK
/** Opening must neither wait for somebody nor have an effect of its own. */
const QUIET = constants.O_NONBLOCK | constants.O_NOCTTY | NO_LINK

const FLAGS: Readonly<Record<Purpose, number>> = {
  read: constants.O_RDONLY | QUIET,
  write: constants.O_RDWR | constants.O_CREAT | QUIET,
  // Emptied only when it is known to be a plain file that is nobody else's.
  replace: constants.O_WRONLY | constants.O_CREAT | QUIET,
  list: FOLDER,
}

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
  const root = await realpath(folder)
  const walk = new Walk(root, purpose)
  try {
    return await walk.to(partsOf([folder.replace(/\/+$/, ''), root], path))
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
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      if (part === '..') await this.#up()
      else if (rest.length === 0) {
        const found = await this.#last(part, rest)
        if (found !== undefined) return found
      } else await this.#down(part, rest)
    }
    if (this.#purpose === 'list') return open(this.#here(), FLAGS.list)
    throw new PathGuardError('the path names a folder')
  }

  async leave(): Promise<void> {
    await Promise.all(this.#folders.map((folder) => folder.close()))
  }

  /** Linux reaches a folder through its descriptor, whatever its name leads to by now. */
  #here(name = '.'): string {
    const { fd } = this.#folders.at(-1) as FileHandle
    return process.platform === 'linux'
      ? `/proc/self/fd/${fd}/${name}`
      : `${join(this.#root, ...this.#names)}/${name}`
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
      this.#folders.push(await open(this.#here(name), FOLDER))
      this.#names.push(name)
    } catch (error) {
      await this.#follow(name, rest, error)
    }
  }

  async #last(name: string, rest: string[]): Promise<FileHandle | undefined> {
    this.#refuseGit(name)
    try {
      const file = await open(this.#here(name), FLAGS[this.#purpose], 0o644)
      return await this.#accept(file)
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
      if (this.#purpose === 'replace') await file.truncate(0)
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
    return this.#purpose === 'write' || this.#purpose === 'replace'
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

/** The file system names the way that we took; a reader knows the path alone. */
function named(error: unknown, path: string): unknown {
  const { path: taken, message } = error as NodeJS.ErrnoException
  if (!(error instanceof Error) || taken === undefined) return error
  error.message = message.replaceAll(taken, () => path)
  return Object.assign(error, { path })
}
