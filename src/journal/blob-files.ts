import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import type { BlobRef } from '../agents/values.ts'
import { type BlobStore, NoRoomError } from '../runtime/blobs.ts'
import { FULL_DISK } from './file-system.ts'

const compress = promisify(deflate)
const decompress = promisify(inflate)

/** Keeps blobs as compressed files, named by the hash of their content, below a folder. */
export function openBlobFiles(folder: string): BlobStore {
  const pathOf = ({ sha256 }: Pick<BlobRef, 'sha256'>) =>
    join(folder, sha256.slice(0, 2), `${sha256.slice(2)}.z`)
  /** The folders that exist for good, or will: there are at most 256. */
  const made = new Map<string, Promise<void>>()

  const makeFolderOnce = (path: string): Promise<void> => {
    const making = made.get(path) ?? makeFolder(path, folder)
    made.set(path, making)
    making.catch(() => made.delete(path))
    return making
  }

  return {
    async put(content) {
      const bytes = Buffer.from(content as Uint8Array)
      const ref = { sha256: hashOf(bytes), bytes: bytes.length }
      const path = pathOf(ref)
      try {
        await makeFolderOnce(dirname(path))
        // A file that was damaged, or cut short by a power failure, has the name already.
        if (!(await holds(path, ref))) await write(path, await compress(bytes))
        await syncFolder(dirname(path))
      } catch (error) {
        throw explain(error, folder)
      }
      return ref
    },

    async get(ref) {
      const bytes = await decompress(await readFile(pathOf(ref)))
      if (hashOf(bytes) === ref.sha256) return bytes
      throw new Error(`blob ${ref.sha256} is damaged: its content does not match its hash`)
    },
  }
}

/** A full disk, or a quota that is used up, said in the store's words. */
function explain(error: unknown, folder: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  const advice = `${FULL_DISK}, it is tried again and goes on by itself`
  return new NoRoomError(`${folder}: ${advice} (${message})`, { cause: error })
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Whether the file is there and gives the content that its name promises. */
async function holds(path: string, { sha256 }: BlobRef): Promise<boolean> {
  try {
    return hashOf(await decompress(await readFile(path))) === sha256
  } catch {
    return false
  }
}

/** Writes a file whole or not at all. Another write of the same content is as good. */
async function write(path: string, bytes: Uint8Array): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Makes a folder below the root, and both names durable, whoever made them. */
async function makeFolder(path: string, root: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await syncFolder(root)
  await syncFolder(dirname(root))
}

/** A name is durable when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
