import { constants, type Stats } from 'node:fs'
import { copyFile, lstat, mkdir, readlink, rm, symlink } from 'node:fs/promises'
import { type BytePath, bytesOf } from './byte-path.ts'

/**
 * Puts things into a workspace that nobody works in yet. No link is followed on the way, so nothing
 * lands outside. Where a link or a file stands in the way, the checkpoint was made while somebody
 * exchanged the two: its tree holds, and what does not fit it is left out.
 */
export class Landing {
  readonly #folder: string
  readonly #folders = new Set<BytePath>([''])
  readonly #files = new Set<BytePath>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** False when it is left out. */
  async putFile(from: string, path: BytePath): Promise<boolean> {
    if (!(await this.makeFolder(path.slice(0, Math.max(0, path.lastIndexOf('/')))))) return false
    const to = bytesOf(this.#folder, path)
    await rm(to, { recursive: true, force: true })
    if ((await lstat(from)).isSymbolicLink()) {
      await symlink(await readlink(from, { encoding: 'buffer' }), to)
    } else await copyFile(from, to, constants.COPYFILE_EXCL)
    this.#files.add(path)
    return true
  }

  /** False when it is left out. */
  async makeFolder(path: BytePath): Promise<boolean> {
    for (let end = 0; end >= 0; ) {
      end = path.indexOf('/', end + 1)
      const part = end < 0 ? path : path.slice(0, end)
      if (this.#folders.has(part)) continue
      if (!(await this.#makeOne(part))) return false
      this.#folders.add(part)
    }
    return true
  }

  async #makeOne(path: BytePath): Promise<boolean> {
    const place = bytesOf(this.#folder, path)
    const there: Stats | undefined = await lstat(place).catch((error) => {
      if (error.code !== 'ENOENT') throw error
      return undefined
    })
    if (there?.isDirectory()) return true
    if (there !== undefined) {
      // What the clone came with is not what was stored.
      const isOfClone = path.startsWith('.git/') && !this.#files.has(path)
      if (!isOfClone) return false
      await rm(place)
    }
    await mkdir(place)
    return true
  }
}
