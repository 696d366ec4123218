import type { Git } from '../git/git.ts'
import { changeRefs } from '../git/repositories.ts'
import type { BytePath } from '../workspace/byte-path.ts'
import { type Owner, placeOf } from '../workspace/place.ts'
import type { Found } from './conflict-report.ts'
import { hasMarks, hasSeparator } from './marks.ts'
import { blobOf, type Entry, readBlobs, readEntries } from './tree-files.ts'

/** A conflict that a story's coder was told of, and has to settle. */
interface OpenConflict {
  readonly path: BytePath
  /** Told a second time, after it had been handed in as git had left it. */
  readonly isTold: boolean
  readonly stages: readonly (readonly [number, Entry])[]
}

/** What the next hand-in of a story is held against. */
export interface Unsettled {
  /** The commit that says this. */
  readonly record: string
  /** The commit whose files the coder was given. */
  readonly content: string
  readonly conflicts: readonly OpenConflict[]
  /** What was handed in twice as git had left it, and so is the coder's decision. */
  readonly decided: readonly BytePath[]
  /** The merge that came to this: tried again, it is held against what was there before. */
  readonly head: string
  readonly atMs: number
  readonly before: string | null
}

/** Which merge it is: the same head may be handed in twice. */
interface Asked {
  readonly owner: Owner
  readonly head: string
  readonly atMs: number
}

/** Where the unsettled conflicts of a story are kept, in the repository for work. */
export function unsettledRef({ run, story }: Owner): string {
  placeOf('', { run, story })
  return `refs/slipway/unsettled/${run}/${story}`
}

/** What a merge is held against, given the commit that the ref is at. */
export async function readUnsettled(
  git: Git,
  work: string,
  record: string | null | undefined,
  asked: Asked,
): Promise<Unsettled | undefined> {
  if (record === null || record === undefined) return undefined
  const { text } = await git.run(['cat-file', 'commit', record], { repository: work })
  const said = JSON.parse(text.slice(text.indexOf('\n\n')))
  const isOwn = said.head === asked.head && said.atMs === asked.atMs
  return isOwn ? readUnsettled(git, work, said.before, asked) : { ...said, record }
}

/** Remembers conflicts before anybody is told of them, so that a crash makes none of them good. */
export async function keepUnsettled(
  git: Git,
  work: string,
  { owner, head, atMs }: Asked,
  content: string,
  conflicts: readonly OpenConflict[],
  { decided, against }: Pick<Judged, 'decided' | 'against'>,
): Promise<void> {
  const before = against?.record ?? null
  const said = { content, conflicts, decided, head, atMs, before }
  const parents = before === null ? [content] : [content, before]
  const args = ['commit-tree', `${content}^{tree}`, ...parents.flatMap((id) => ['-p', id])]
  const stdin = JSON.stringify(said satisfies Omit<Unsettled, 'record'>)
  const { text: to } = await git.run([...args, '-F', '-'], { repository: work, stdin })
  await changeRefs(git, work, [{ ref: unsettledRef(owner), to }])
}

/** Forgets what was unsettled: the story is merged, or begins anew. */
export async function forgetUnsettled(git: Git, work: string, owner: Owner): Promise<void> {
  const ref = unsettledRef(owner)
  const [record] = await git.find(work, [ref])
  if (record !== undefined) await changeRefs(git, work, [{ ref, to: null }])
}

/** What has become of a story's conflicts in what was handed in. */
export interface Judged {
  readonly left: readonly Left[]
  /** Left as git had them, by a coder who had been asked about it. */
  readonly decided: readonly BytePath[]
  readonly against: Unsettled | undefined
}

interface Left {
  readonly conflict: OpenConflict
  readonly message: string
}

/**
 * Looks whether each conflict was settled. Marks in a file never are. A file that is as git had left
 * it is asked about once; handed in like that again, it is what the coder decided.
 */
export async function judge(
  git: Git,
  work: string,
  against: Unsettled | undefined,
  head: string,
): Promise<Judged> {
  if (against === undefined) return { left: [], decided: [], against }
  const [given, handedIn] = await Promise.all([
    readEntries(git, work, against.content),
    readEntries(git, work, head),
  ])
  const texts = new Map<string, string>()
  const blobs = against.conflicts.flatMap(({ path }) =>
    [given, handedIn].flatMap((entries) => blobOf(entries.get(path)) ?? []),
  )
  await readBlobs(git, work, [...new Set(blobs)], (blob, text) => texts.set(blob, text))
  const textOf = (entry: Entry | undefined) => texts.get(blobOf(entry) ?? '') ?? ''
  const left: Left[] = []
  const decided = [...against.decided]
  for (const conflict of against.conflicts) {
    const { path, isTold } = conflict
    const text = textOf(handedIn.get(path))
    const isUntouched = isSameAt(path, given, handedIn)
    if (hasMarks(text)) left.push({ conflict, message: MARKED })
    else if (isUntouched && isTold) decided.push(path)
    else if (isUntouched) left.push({ conflict, message: untouched(conflict, handedIn) })
    else if (hasSeparator(text, textOf(given.get(path)))) {
      left.push({ conflict, message: SEPARATED })
    }
  }
  return { left, decided: [...new Set(decided)], against }
}

const MARKED = 'It was handed in with the marks of the conflict in it.'
const SEPARATED =
  'It was handed in with a line of equals signs that had stood between the two sides. If that is meant to be there, hand it in once more.'

function untouched({ path, stages }: OpenConflict, handedIn: ReadonlyMap<BytePath, Entry>): string {
  const sides = new Map(stages)
  const isSide = (stage: number) => stages.length > 0 && sides.get(stage) === handedIn.get(path)
  const [whose, other] = isSide(2) ? ['the target', 'the story'] : ['the story', 'the target']
  const state =
    isSide(2) || isSide(3) ? `: as ${whose} has it, and what ${other} did to it is left out` : ''
  return `It was handed in exactly as git had left it${state}. Settle it, or hand the same in once more to say that it is right.`
}

/** Whether two trees have the same at a path and below it. */
function isSameAt(
  path: BytePath,
  a: ReadonlyMap<BytePath, Entry>,
  b: ReadonlyMap<BytePath, Entry>,
): boolean {
  if (a.has(path) || b.has(path)) return a.get(path) === b.get(path)
  const below = (entries: ReadonlyMap<BytePath, Entry>) =>
    [...entries].filter(([name]) => name.startsWith(`${path}/`)).join('\0')
  return below(a) === below(b)
}

/** A conflict that was just found, as it is remembered. */
export function openConflictOf({ path, stages }: Found): OpenConflict {
  return { path, isTold: false, stages: [...stages] }
}

/** A conflict that was not settled, as it is told. */
export function foundOf({ conflict, message }: Left): Found {
  const { path, stages } = conflict
  return { path, kind: 'CONFLICT (unsettled)', message, stages: new Map(stages) }
}
