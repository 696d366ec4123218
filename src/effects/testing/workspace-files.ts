import { type FileHandle, lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { openInside, PathGuardError } from '../guards/path-guard.ts'

/** Something in a workspace that was not taken as it is, and why. */
export interface Remark {
  /** Below the workspace. */
  readonly path: string
  readonly code: RemarkCode
  readonly message: string
}

type RemarkCode =
  | 'unreadable'
  | 'too_large'
  | 'outside'
  | 'malformed'
  | 'no_test_script'
  | 'unknown'

interface Listing {
  readonly files: ReadonlySet<string>
  readonly folders: ReadonlySet<string>
  readonly links: ReadonlySet<string>
}

const FILE_BYTES_MAX = 262_144
const ENTRIES_MAX = 10_000
const NOTHING: Listing = { files: new Set(), folders: new Set(), links: new Set() }

/**
 * Looks at the files of a workspace that nobody vouches for. It follows no link that leads outside,
 * reads only files of a bounded size, and notes what it could not read instead of throwing.
 */
export class WorkspaceFiles {
  readonly remarks: Remark[] = []
  readonly #root: string
  readonly #listings = new Map<string, Listing>()

  constructor(root: string) {
    this.#root = root
  }

  note(path: string, code: RemarkCode, message: string): void {
    this.remarks.push({ path, code, message })
  }

  /** Whether a folder has a file of this name. A link that leads outside is noted, and none. */
  async has(name: string, folder = '.'): Promise<boolean> {
    const { files, links } = await this.#list(folder)
    if (files.has(name)) return true
    return links.has(name) && (await this.#open(pathOf(folder, name), async () => true)) === true
  }

  /** The first of the names that the root has. */
  async firstOf(...names: string[]): Promise<string | undefined> {
    for (const name of names) if (await this.has(name)) return name
    return undefined
  }

  async hasFolder(name: string): Promise<boolean> {
    return (await this.#list('.')).folders.has(name)
  }

  /** Names of a folder's files, sorted. */
  async filesIn(folder: string, pattern: RegExp): Promise<readonly string[]> {
    if (folder !== '.' && !(await this.hasFolder(folder))) return []
    return [...(await this.#list(folder)).files].filter((name) => pattern.test(name)).sort()
  }

  /** The text of a file, or undefined when there is none that can be read. */
  async read(name: string, folder = '.'): Promise<string | undefined> {
    if (!(await this.has(name, folder))) return undefined
    const path = pathOf(folder, name)
    return this.#open(path, async (file) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(FILE_BYTES_MAX + 1))
      if (bytesRead <= FILE_BYTES_MAX)
        return buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, '')
      this.note(path, 'too_large', `it has more than ${FILE_BYTES_MAX} bytes`)
      return undefined
    })
  }

  /** The object that a file holds as JSON, or undefined. */
  async readJson(
    name: string,
    folder = '.',
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const text = await this.read(name, folder)
    if (text === undefined) return undefined
    try {
      const value: unknown = JSON.parse(text)
      if (isObject(value)) return value
      this.note(name, 'malformed', 'it holds no JSON object')
    } catch (error) {
      this.note(
        name,
        'malformed',
        `it is no JSON: ${error instanceof Error ? error.message : error}`,
      )
    }
    return undefined
  }

  async isExecutable(name: string): Promise<boolean> {
    if (!(await this.has(name))) return false
    const mode = await this.#open(name, async (file) => (await file.stat()).mode)
    return ((mode ?? 0) & 0o111) !== 0
  }

  /** Opens a file that lies inside, uses it, and notes it when that is impossible. */
  async #open<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
    try {
      const file = await openInside(this.#root, path, 'read')
      try {
        return await use(file)
      } finally {
        await file.close()
      }
    } catch (error) {
      const isNew = !this.remarks.some((remark) => remark.path === path)
      if (isNew)
        this.note(path, error instanceof PathGuardError ? 'outside' : 'unreadable', String(error))
      return undefined
    }
  }

  async #list(folder: string): Promise<Listing> {
    const known = this.#listings.get(folder)
    if (known) return known
    const listing = await this.#listNow(folder).catch((error: unknown) => {
      this.note(folder, 'unreadable', String(error))
      return NOTHING
    })
    this.#listings.set(folder, listing)
    return listing
  }

  async #listNow(folder: string): Promise<Listing> {
    const path = join(this.#root, folder)
    if (folder !== '.' && !(await lstat(path)).isDirectory()) return NOTHING
    const listing = {
      files: new Set<string>(),
      folders: new Set<string>(),
      links: new Set<string>(),
    }
    let count = 0
    for await (const entry of await opendir(path)) {
      count += 1
      if (count > ENTRIES_MAX) {
        this.note(folder, 'too_large', `only ${ENTRIES_MAX} of its entries were looked at`)
        break
      }
      if (entry.isFile()) listing.files.add(entry.name)
      else if (entry.isDirectory()) listing.folders.add(entry.name)
      else if (entry.isSymbolicLink()) listing.links.add(entry.name)
    }
    return listing
  }
}

/** Whether a value of JSON is an object, whose members are then unknown. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function pathOf(folder: string, name: string): string {
  return folder === '.' ? name : `${folder}/${name}`
}
