import type { Forge } from '../../effects/forge/forge.ts'
import type { Git } from '../../effects/git/git.ts'
import { findLoss } from '../../effects/git/lost-mirror.ts'
import { isAncestor } from '../../effects/git/objects.ts'
import { changeRefs, readRef } from '../../effects/git/refs.ts'
import { type Repositories, updateMirror } from '../../effects/git/repositories.ts'
import { GitGuardError, guardGit } from '../../effects/guards/git-guard.ts'
import { fullDisk, hasNoRoom } from '../../journal/file-system.ts'
import { UsageError } from '../usage-error.ts'

/** Where the branch is that stories are merged into. */
export interface TargetGround {
  readonly stateFolder: string
  readonly git: Git
  readonly repositories: Repositories
  readonly forge: Forge
}

/** Takes in what the user's repository has by now, for work on that branch. */
export async function takeIn(
  { stateFolder, git, repositories, forge }: TargetGround,
  repository: string,
  target: string,
): Promise<void> {
  try {
    await updateMirror(git, repositories, repository)
    // Another forge has its own, whatever the user has here and has not pushed.
    if (forge.kind === 'local') await openTarget(git, repositories, target)
  } catch (error) {
    throw hasNoRoom(error) ? fullDisk(stateFolder, error) : error
  }
}

/** What stories are merged into is the forge's branch. */
export async function requireTarget(forge: Forge, target: string): Promise<void> {
  const found = await forge.readTarget(target)
  if (found.ok) return
  const { code, message, retry } = found.error
  // An outage is waited out by whoever needs it, at the start as at any other time.
  if (retry !== 'never') return
  if (code !== 'not_found') throw new UsageError(`The forge cannot be used: ${message}`)
  throw new UsageError(
    `The forge has no branch ${target}, or no such repository for you. Push it, or name another with --target.`,
  )
}

/**
 * The branch that stories are merged into begins where the user's branch is, and follows it for as
 * long as that only adds to what was merged here.
 */
export async function openTarget(
  git: Git,
  repositories: Repositories,
  target: string,
): Promise<void> {
  const { mirror } = repositories
  const ref = `refs/heads/${requireBranch(target)}`
  const merged = await readRef(git, mirror, ref)
  const tip = await readRef(git, mirror, `refs/origin/heads/${target}`)
  if (tip === undefined && merged === undefined) {
    throw new UsageError(
      `The repository has no branch ${target}, or no commit on it. Commit something first, or name another with --target.`,
    )
  }
  if (tip === undefined || tip === merged) return
  // To begin anew at the user's branch would be to give up what was merged, without a word.
  const loss = await findLoss(git, repositories, target)
  if (loss !== undefined) throw new UsageError(`Nothing can begin on ${target} yet: ${loss}`)
  if (merged === undefined || (await isAncestor(git, mirror, merged, tip))) {
    const isDone = await changeRefs(git, mirror, [{ ref, to: tip, from: merged ?? null }])
    // Another run merged something at the same moment.
    return isDone ? undefined : openTarget(git, repositories, target)
  }
  if (await isAncestor(git, mirror, tip, merged)) return
  throw new UsageError(
    `Your ${target} and what earlier runs merged have each gone on. Bring them together first:\n  git fetch ${mirror} ${target} && git merge FETCH_HEAD`,
  )
}

/** Said before anybody is paid to think: nothing could be made on such a branch. */
function requireBranch(target: string): string {
  try {
    return guardGit('branch', target)
  } catch (error) {
    if (!(error instanceof GitGuardError)) throw error
    throw new UsageError(`${error.message}. Name another with --target.`)
  }
}
