import type { Git } from './git.ts'

/** A tree without files, which git knows without being told. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** Whether one commit is in the history of another; one that is not there is not. */
export async function isAncestor(
  git: Git,
  repository: string,
  commit: string,
  descendant: string,
): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', commit, descendant]
  return (await git.run(args, { repository, accept: [0, 1, 128] })).exitCode === 0
}
