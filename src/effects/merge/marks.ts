import type { Git } from '../git/git.ts'
import type { BytePath } from '../workspace/byte-path.ts'
import { blobOf, type Entry, grepBlobs, readChangedFiles } from './tree-files.ts'

/**
 * Git writes marks around the two sides of a conflict and their base, and labels them with the full
 * ids of commits. Files may rightly hold marks, in a fixture; those of a merge that was made here are
 * the ones whose commits we know.
 */
const LABELLED = '^(<{7,}|>{7,}|[|]{7,}) [0-9a-f]{40}'
/** The name of the file follows where it differs. */
const LABEL_END = '(:|\r?$)'
const OPENING = `^<{7,} [0-9a-f]{40}${LABEL_END}`
/** Between the sides, and before a base of more than one commit. Headings are underlined so too. */
const UNLABELLED = '^(={7}|[|]{7,} (merged common ancestors|empty tree))\r?$'

/** The files into which a head brings marks of merges that were made here, wherever they are now. */
export async function findMarked(
  git: Git,
  work: string,
  onto: string,
  head: string,
): Promise<ReadonlySet<BytePath>> {
  // Git takes what is larger for no text, and would not look into it.
  const config = ['-c', 'core.bigFileThreshold=2g']
  const changes = await readChangedFiles(git, work, { onto, head }, config, [`-G${LABELLED}`])
  const labels = await readLabels(
    git,
    work,
    changes.flatMap(({ before, after }) => [before, after]),
  )
  const labelsOf = (entry: Entry | undefined) => labels.get(blobOf(entry) ?? '') ?? []
  const brought = changes.map(({ path, before, after }) => {
    const earlier = new Set(labelsOf(before))
    return {
      path,
      ids: labelsOf(after).flatMap((label) => (earlier.has(label) ? [] : idOf(label))),
    }
  })
  const ids = [...new Set(brought.flatMap(({ ids }) => ids))]
  const found = await git.find(
    work,
    ids.map((id) => `${id}^{commit}`),
  )
  const known = new Set(found)
  return new Set(
    brought.filter(({ ids }) => ids.some((id) => known.has(id))).map(({ path }) => path),
  )
}

function idOf(label: string): string {
  return /[0-9a-f]{40}/.exec(label)?.[0] ?? ''
}

async function readLabels(
  git: Git,
  work: string,
  entries: readonly (Entry | undefined)[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const blobs = entries.flatMap((entry) => blobOf(entry) ?? [])
  const lines = await grepBlobs(git, work, blobs, LABELLED + LABEL_END, ['-o'])
  return gather(lines.map(({ blob, text }) => [blob, text]))
}

function gather(pairs: readonly (readonly [string, string])[]): ReadonlyMap<string, string[]> {
  const gathered = new Map<string, string[]>()
  for (const [blob, text] of pairs) {
    const texts = gathered.get(blob)
    if (texts === undefined) gathered.set(blob, [text])
    else texts.push(text)
  }
  return gathered
}

/** How many conflicts are marked in blobs, of each that has one. */
export async function countMarks(
  git: Git,
  work: string,
  blobs: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { blob } of await grepBlobs(git, work, blobs, OPENING, ['-o'])) {
    counts.set(blob, (counts.get(blob) ?? 0) + 1)
  }
  return counts
}

/** What a file was made of, and what became of it. */
export interface Settled {
  readonly blob: string
  readonly sides: readonly string[]
}

/**
 * Those of the settled files in which a line without a label may be left of the marks: there are more
 * such lines than either side has, or one of them follows a line that it follows on neither side.
 */
export async function findSeparated(
  git: Git,
  work: string,
  settled: readonly Settled[],
): Promise<ReadonlySet<Settled>> {
  const blobs = settled.flatMap(({ blob, sides }) => [blob, ...sides])
  const lines = await grepBlobs(git, work, blobs, UNLABELLED, ['-B1'])
  const textAt = new Map(lines.map(({ blob, line, text }) => [`${blob} ${line}`, text]))
  const withLineBefore = lines
    .filter(({ isMatch }) => isMatch)
    .map(({ blob, line, text }) => {
      const both = `${textAt.get(`${blob} ${line - 1}`)}\n${text}`
      return [blob, both.replaceAll('\r', '')] as const
    })
  const separators = gather(withLineBefore)
  const separatorsOf = (blob: string) => separators.get(blob) ?? []
  const isSeparated = ({ blob, sides }: Settled) => {
    const own = separatorsOf(blob)
    const theirs = sides.map(separatorsOf)
    const known = new Set(theirs.flat())
    const countMax = Math.max(0, ...theirs.map(({ length }) => length))
    return own.length > countMax || own.some((one) => !known.has(one))
  }
  return new Set(settled.filter(isSeparated))
}
