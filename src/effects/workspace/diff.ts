import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { guardGit } from '../guards/git-guard.ts'

/** What differs between two commits, as git shows it, in all files or below one path. */
export async function readDiff(
  git: Git,
  { work }: Repositories,
  { from, to, path }: { readonly from: string; readonly to: string; readonly path?: string },
): Promise<string> {
  const flags = ['--no-color', '--no-ext-diff', '--no-textconv', '--find-renames', '--stat', '-p']
  const commits = [guardGit('commit', from), guardGit('commit', to)]
  const only = path === undefined ? [] : ['--', guardGit('path', path)]
  const { text } = await git.run(['diff', ...flags, ...commits, ...only], { repository: work })
  return text
}
