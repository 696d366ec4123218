import { type Git, GitError } from './git.ts'

/** The commit of a ref, or undefined when there is no such ref. */
export async function readRef(
  git: Git,
  repository: string,
  ref: string,
): Promise<string | undefined> {
  return (await git.find(repository, [`${ref}^{commit}`]))[0]
}

/** One change of a ref; `null` stands for a ref that is not there. */
export interface RefChange {
  readonly ref: string
  readonly to: string | null
  /** What it must be now; absent where that does not matter. */
  readonly from?: string | null
}

const NOTHING = '0'.repeat(40)

/** Changes refs together. False, and nothing has changed, when one is not what it must be. */
export async function changeRefs(
  git: Git,
  repository: string,
  changes: readonly RefChange[],
): Promise<boolean> {
  const lines = changes.map(({ ref, to, from }) => {
    const expected = from === undefined ? '' : `${from ?? NOTHING}`
    return to === null ? `delete ${ref}\0${expected}\0` : `update ${ref}\0${to}\0${expected}\0`
  })
  const stdin = ['start\0', ...lines, 'commit\0'].join('')
  try {
    await git.run(['update-ref', '--no-deref', '-z', '--stdin'], { repository, stdin })
    return true
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    for (const { ref, from } of changes) {
      const isAsExpected =
        from === undefined || ((await readRef(git, repository, ref)) ?? null) === from
      if (!isAsExpected) return false
    }
    throw error
  }
}
