import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { makeClone } from '../workspace/clone.ts'
import { removeFolder } from '../workspace/removal.ts'

/**
 * Does something in a fresh clone of a commit of the mirror, where nothing is left of any coder's
 * work but what is committed. The clone goes away afterwards.
 */
export async function inFreshClone<T>(
  git: Git,
  repositories: Repositories,
  stateFolder: string,
  commit: string,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const gates = join(stateFolder, 'gate')
  await mkdir(gates, { recursive: true, mode: 0o700 })
  const scratch = await mkdtemp(join(gates, 'clone-'))
  try {
    const folder = join(scratch, 'tree')
    const places = { folder, draft: join(scratch, 'draft'), index: join(scratch, 'index') }
    const request = { ...places, branch: 'slipway/gate', base: commit }
    const { settle } = await makeClone(git, repositories, request)
    await settle()
    return await use(folder)
  } finally {
    await removeFolder(scratch)
  }
}
