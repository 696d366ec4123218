import { relative } from 'node:path'
import { type Git, openGit } from '../effects/git/git.ts'
import { openProcesses } from '../effects/process/processes.ts'
import type { RepositoryPlace } from './config/place.ts'
import { UsageError } from './usage-error.ts'

const GIT_MS_MAX = 10_000

/** The path of a state folder that came with the repository, and so was written by somebody else. */
export async function findTrackedState(
  git: Git,
  { root, git: folder }: RepositoryPlace,
  stateFolder: string,
): Promise<string | undefined> {
  const path = relative(root, stateFolder)
  if (path === '' || path.startsWith('..')) return undefined
  const { stdout } = await git.run(['ls-files', '-z', '--', path], {
    repository: folder,
    workTree: root,
    timeoutMs: GIT_MS_MAX,
  })
  return stdout.length === 0 ? undefined : path
}

/** Refuses to work on such a folder: what it says is not the user's. */
export async function refuseTrackedState(
  place: RepositoryPlace,
  stateFolder: string,
): Promise<void> {
  const processes = openProcesses(stateFolder)
  try {
    const path = await findTrackedState(openGit(processes), place, stateFolder)
    if (path === undefined) return
    throw new UsageError(
      `${path} came with the repository, so somebody else wrote what is in it. Do not run here before you know why. To remove it: git rm -r --cached ${path}, and delete the folder.`,
    )
  } finally {
    await processes.close()
  }
}
