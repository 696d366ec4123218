import type { Ended } from '../process/command.ts'

/** These name every file, which ripgrep does by itself, without going through what is ignored. */
const EVERYTHING = /^(?:\*|(?:\.?\/)?(?:\*\*\/)*\*\*(?:\/\*)?)$/

/**
 * How many globs one command may have, and how long they may be: bubblewrap takes 9,000 arguments,
 * and systems 1 MB or more. As one glob with braces, 3,000 paths take ripgrep two minutes.
 */
const GLOBS_MAX = 5_000
const GLOBS_CHARS_MAX = 500_000

export type SearchGlobs =
  | { readonly globs: readonly string[] }
  /** Why there are none. */
  | { readonly problem: string }
  /** The list that could not be made. */
  | { readonly unlisted: Ended }

/**
 * The globs by which ripgrep finds what one names, and no ignored file. A glob alone overrides its
 * ignore rules: `*` would find what is below node_modules. So its two lists, by the rules and by
 * the glob, are compared, and what only the second has is left out by further globs, since the last
 * that fits decides. `list` lists the files of a place, each with a NUL after it.
 */
export async function findGlobs(
  asked: string,
  place: string,
  list: (globs: readonly string[]) => Promise<Ended>,
): Promise<SearchGlobs> {
  if (EVERYTHING.test(asked)) return { globs: [] }
  // Ripgrep knows no `./`, and takes a glob that begins with `/` from where it works.
  const glob = asked.replace(/^(!?)\.\//, '$1/')
  const lists = await Promise.all([list([]), list([glob])])
  const unlisted = lists.find(({ how }) => how !== 'exited')
  if (unlisted !== undefined) return { unlisted }
  if (lists.some(({ droppedBytes }) => droppedBytes > 0)) return { problem: tooMany(asked) }
  const [shown, fitting] = lists.map(({ stdout }) => pathsIn(stdout))
  const ignored = ignoredAmong(fitting ?? [], shown ?? [], place)
  const globs = [glob, ...ignored.map((path) => `!/${path.replace(/[\\*?[\]{}!\s]/g, '\\$&')}`)]
  const isTooLong = globs.length > GLOBS_MAX || globs.join('').length > GLOBS_CHARS_MAX
  return isTooLong ? { problem: tooMany(asked) } : { globs }
}

function tooMany(glob: string): string {
  return `too many files fit ${glob}, ignored ones among them: name a folder, or an ending`
}

function pathsIn(stdout: Buffer): readonly string[] {
  const paths = stdout.toString().split('\0').slice(0, -1)
  return paths.map((path) => (path.startsWith('./') ? path.slice(2) : path))
}

/** The paths that are not shown; of a folder in which nothing is shown only the folder. */
function ignoredAmong(
  paths: readonly string[],
  shown: readonly string[],
  place: string,
): readonly string[] {
  const known = new Set(shown)
  const ignored = paths.filter((path) => !known.has(path))
  if (ignored.length === 0) return []
  // What is searched is named, and so not ignored itself.
  const folders = new Set(place === '.' ? [] : [place, ...foldersOf(place)])
  for (const path of shown) for (const folder of foldersOf(path)) folders.add(folder)
  const outermost = (path: string) => foldersOf(path).find((folder) => !folders.has(folder)) ?? path
  return [...new Set(ignored.map(outermost))]
}

/** The folders that a path leads through, from the outermost on. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
}
