import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a small file whole or not at all, for nobody else to read, in a folder that is there. It
 * survives a power cut: a file is whole when it has its name, and the name is durable when its
 * folder is. A draft that a kill leaves is overwritten by the next one.
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  const draft = `${path}+new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
