import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Git, GitError } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'

const HASH_BYTES = 20

/** Whether an index is there and says of itself that it is whole, which git does not look at. */
export async function isWholeIndex(index: string): Promise<boolean> {
  const bytes = await readFile(index).catch(() => Buffer.alloc(0))
  if (bytes.length <= HASH_BYTES) return false
  const content = bytes.subarray(0, -HASH_BYTES)
  return createHash('sha1').update(content).digest().equals(bytes.subarray(-HASH_BYTES))
}

/**
 * Makes an index anew from the first of some trees that can be read. It knows nothing about the
 * files on the disk, so whatever is added next is read and stored again.
 */
export async function rebuildIndex(
  git: Git,
  { work: repository }: Repositories,
  index: string,
  trees: readonly string[],
): Promise<void> {
  const draft = `${index}+new`
  await mkdir(dirname(index), { recursive: true, mode: 0o700 })
  let refusal: unknown
  for (const tree of trees) {
    for (const path of [draft, `${draft}.lock`]) await rm(path, { force: true })
    try {
      await git.run(['read-tree', tree], { repository, index: draft })
      await rename(draft, index)
      return
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      refusal = error
    }
  }
  throw refusal
}
