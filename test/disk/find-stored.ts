import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { inflateSync } from 'node:zlib'

/** How blobs are named, which are kept compressed. */
const BLOB = /(?:^|\/)blobs\/[0-9a-f]{2}\/[0-9a-f]{62}\.z$/

/**
 * The files below a folder that hold a text, as they are or, in a blob, once it is unpacked. Objects
 * of git are not unpacked: what is in a workspace is in its commits too.
 */
export function findStored(folder: string, text: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  return files.filter((file) => {
    const stored = readIfThere(join(folder, file))
    if (stored === undefined) return false
    return (BLOB.test(file) ? inflateSync(stored) : stored).includes(text)
  })
}

/** Who still works there may have removed it meanwhile. */
function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
