import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import type { BlobRef, BlobStore } from '../runtime/blobs.ts'

const compress = promisify(deflate)
const decompress = promisify(inflate)

/** Keeps blobs as compressed files, named by the hash of their content, below a folder. */
export function openBlobFiles(folder: string): BlobStore {
  const pathOf = ({ sha256 }: Pick<BlobRef, 'sha256'>) =>
    join(folder, sha256.slice(0, 2), `${sha256.slice(2)}.z`)

  return {
    async put(content) {
      const bytes = Buffer.from(content as Uint8Array)
      const ref = { sha256: hashOf(bytes), bytes: bytes.length }
      const path = pathOf(ref)
      if (await exists(path)) return ref
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
      // Another write of the same content is as good; a half-written one has another name.
      const draft = `${path}.${process.pid}.${performance.now()}`
      const file = await open(draft, 'wx', 0o600)
      try {
        await file.writeFile(await compress(bytes))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
      await syncFolder(join(path, '..'))
      return ref
    },

    async get(ref) {
      const bytes = await decompress(await readFile(pathOf(ref)))
      if (hashOf(bytes) === ref.sha256) return bytes
      throw new Error(`blob ${ref.sha256} is damaged: its content does not match its hash`)
    },
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
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
