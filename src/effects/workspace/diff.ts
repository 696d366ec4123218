import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { guardGit } from '../guards/git-guard.ts'
import { REDACTED, redact } from '../guards/redaction.ts'
import { writesMark } from '../guards/redaction-mark.ts'

const NAMED_MAX = 20

/**
 * What differs between two commits, as git shows it, in all files or below one path. It begins with
 * a warning where the mark of a secret was written: once secrets are taken out, such a line looks as
 * it did before.
 */
export async function readDiff(
  git: Git,
  { work }: Repositories,
  { from, to, path }: { readonly from: string; readonly to: string; readonly path?: string },
  secrets: readonly string[] = [],
): Promise<string> {
  const flags = ['--no-color', '--no-ext-diff', '--no-textconv', '--find-renames', '--stat', '-p']
  const commits = [guardGit('commit', from), guardGit('commit', to)]
  const only = path === undefined ? [] : ['--', guardGit('path', path)]
  const { text } = await git.run(['diff', ...flags, ...commits, ...only], { repository: work })
  const marked = filesWithMarks(text, secrets)
  if (marked.length === 0) return text
  const names = marked.slice(0, NAMED_MAX).join(', ')
  return `[${names}: the word ${REDACTED} itself was written, perhaps in the place of a value that is lost now]\n\n${text}`
}

/** The files of a diff in which the mark of a secret was written, by their names as git shows them. */
function filesWithMarks(diff: string, secrets: readonly string[]): readonly string[] {
  if (!diff.includes(REDACTED)) return []
  const clean = (text: string) => redact(text, secrets)
  const files = diff.split(/^diff --git /m).slice(1)
  return files.flatMap((file) => {
    const lines = file.split('\n')
    const linesOf = (sign: string) =>
      lines
        .filter((line) => line.startsWith(sign))
        .map((line) => line.slice(1))
        .join('\n')
    const [, name, quoted] = /^\+\+\+ (?:b\/(.*?)|("b\/.*"))\t?$/m.exec(file) ?? []
    const shown = name ?? quoted
    return shown !== undefined && writesMark(linesOf('-'), linesOf('+'), clean) ? [shown] : []
  })
}
