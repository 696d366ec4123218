import { constants } from 'node:fs'
import { type FileHandle, open, readlink, writeFile } from 'node:fs/promises'

// macOS has a flag that refuses links on the whole way.
const NO_LINK = process.platform === 'darwin' ? 0x2000_0000 : constants.O_NOFOLLOW

/**
 * Opens a plain file to read it, under a path that has no link in it. Undefined for what is not
 * there: a folder on the way may have become a link that leads elsewhere.
 */
export async function openInPlace(path: Buffer): Promise<FileHandle | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | NO_LINK)
  let isInPlace = false
  try {
    isInPlace = (await file.stat()).isFile() && (await pathOf(file, path)).equals(path)
  } finally {
    if (!isInPlace) await file.close()
  }
  return isInPlace ? file : undefined
}

/** Linux tells where an open file is; elsewhere the way has been checked. */
async function pathOf({ fd }: FileHandle, path: Buffer): Promise<Buffer> {
  if (process.platform !== 'linux') return path
  return readlink(`/proc/self/fd/${fd}`, { encoding: 'buffer' })
}

/** Copies what such a file holds; false when there is none. */
export async function writeCopy(path: Buffer, copy: string): Promise<boolean> {
  const file = await openInPlace(path)
  if (file === undefined) return false
  try {
    const mode = ((await file.stat()).mode & 0o700) | 0o600
    await writeFile(copy, file.createReadStream({ autoClose: false }), { mode })
    return true
  } finally {
    await file.close()
  }
}
