import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isGitFolder } from './git-guard.ts'

/** A path that leads out of its folder, or to something that is not to be opened. */
export class PathGuardError extends Error {
  override readonly name = 'PathGuardError'
}

const PATH_BYTES_MAX = 4_096
const LINKS_MAX = 20

/** What a file is opened for. `write` makes it when it is not there; `replace` empties it first. */
export type Purpose = 'read' | 'write' | 'replace' | 'list'

const FLAGS: Readonly<Record<Purpose, number>> = {
  read: constants.O_RDONLY | constants.O_NONBLOCK,
  write: constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK,
  replace: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NONBLOCK,
  list: constants.O_RDONLY | constants.O_DIRECTORY,
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
  const walk = new Walk(await realpath(folder), purpose)
  try {
    return await walk.to(partsOf(folder, path))
  } finally {
    await walk.leave()
  }
}

function partsOf(folder: string, path: string): string[] {
  if (path.includes('\0')) throw new PathGuardError('a path has no NUL')
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw new PathGuardError('the path is too long')
  if (!path.startsWith('/')) return path.split('/')
  if (path === folder) return []
  if (path.startsWith(`${folder}/`)) return path.slice(folder.length + 1).split('/')
  throw new PathGuardError(`${path} is not inside ${folder}`)
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

  async to(parts: readonly string[]): Promise<FileHandle> {
    this.#folders.push(await open(this.#root, constants.O_RDONLY | constants.O_DIRECTORY))
    const rest = parts.filter((part) => part !== '' && part !== '.')
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
  #here(name?: string): string {
    const { fd } = this.#folders.at(-1) as FileHandle
    const folder =
      process.platform === 'linux' ? `/proc/self/fd/${fd}` : join(this.#root, ...this.#names)
    return name === undefined ? `${folder}/.` : `${folder}/${name}`
  }

  async #up(): Promise<void> {
    if (this.#folders.length === 1) throw new PathGuardError('the path leads out of its folder')
    await this.#folders.pop()?.close()
    this.#names.pop()
  }

  async #down(name: string, rest: string[]): Promise<void> {
    this.#refuseGit(name)
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
    try {
      this.#folders.push(await open(this.#here(name), flags))
      this.#names.push(name)
    } catch (error) {
      await this.#follow(name, rest, error)
    }
  }

  async #last(name: string, rest: string[]): Promise<FileHandle | undefined> {
    this.#refuseGit(name)
    try {
      const file = await open(this.#here(name), FLAGS[this.#purpose] | constants.O_NOFOLLOW, 0o644)
      return await this.#requireKind(file)
    } catch (error) {
      if (this.#purpose === 'write' || this.#purpose === 'replace') throw refusal(error, name)
      await this.#follow(name, rest, error)
      return undefined
    }
  }

  /** A pipe or a device would block or do something; a file with another name is somebody else's. */
  async #requireKind(file: FileHandle): Promise<FileHandle> {
    const stat = await file.stat()
    const isRight = this.#purpose === 'list' ? stat.isDirectory() : stat.isFile()
    if (isRight) return file
    await file.close()
    throw new PathGuardError(`the path names ${stat.isDirectory() ? 'a folder' : 'no plain file'}`)
  }

  /** Puts what a link says in front of the rest of the path. */
  async #follow(name: string, rest: string[], error: unknown): Promise<void> {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ELOOP' && code !== 'ENOTDIR' && code !== 'EMLINK') throw error
    const place = this.#here(name)
    if (!(await lstat(place)).isSymbolicLink()) throw error
    this.#links += 1
    if (this.#links > LINKS_MAX) throw new PathGuardError('the path has too many links')
    const target = await readlink(place)
    if (target.startsWith('/')) {
      const inside = partsOf(this.#root, target)
      while (this.#folders.length > 1) await this.#up()
      rest.unshift(...inside)
    } else rest.unshift(...target.split('/'))
    const plain = rest.filter((part) => part !== '' && part !== '.')
    rest.splice(0, rest.length, ...plain)
  }

  #refuseGit(name: string): void {
    if (this.#purpose !== 'read' && this.#purpose !== 'list' && isGitFolder(name)) {
      throw new PathGuardError('nothing writes into a .git folder')
    }
  }
}

function refusal(error: unknown, name: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ELOOP'
    ? new PathGuardError(`${name} is a link, and links are not written to`)
    : error
}
