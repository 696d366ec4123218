import { copyFile, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { PACKED_REFS_COPY } from './claim.ts'
import { putDamagedAway } from './damage.ts'
import { type Git, GitError } from './git.ts'
import type { Repositories } from './repositories.ts'

/** One of the 256 folders of loose objects stands for all: this many in it are about a thousand. */
const SAMPLE = '17'
const SAMPLE_FILES_MAX = 4

/**
 * Packs what has been written since, when it has become much: a clone copies files, and a thousand
 * small ones take longer than the one that they fit into. Deletes no object, reachable or not. Waits
 * for clones, which would miss what moves from one file to another meanwhile.
 */
export async function packWhenMany(git: Git, repositories: Repositories): Promise<void> {
  if (await packAll(git, repositories)) return
  // One object that cannot be read keeps git from packing all others.
  await putDamagedAway(git, repositories)
  await packAll(git, repositories)
}

/** False when git would not: then all is as it was. */
function packAll(git: Git, { mirror, work, turns }: Repositories): Promise<boolean> {
  return turns.take(['files'], async () => {
    try {
      for (const repository of [mirror, work]) await pack(git, repository)
      return true
    } catch (error) {
      if (error instanceof GitError) return false
      throw error
    }
  })
}

async function pack(git: Git, repository: string): Promise<void> {
  const loose = await readdir(join(repository, 'objects', SAMPLE)).catch(() => [])
  if (loose.length < SAMPLE_FILES_MAX) return
  await git.run(['repack', '--quiet', '--geometric=2', '-d', '-l'], { repository })
  await git.run(['pack-refs', '--all'], { repository })
  // One damaged line of that file would be the loss of a ref.
  const draft = join(repository, `${PACKED_REFS_COPY}.new`)
  await copyFile(join(repository, 'packed-refs'), draft)
  await rename(draft, join(repository, PACKED_REFS_COPY))
}
