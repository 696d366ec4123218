import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { hasRef, removeNonsense } from '../git/damage.ts'
import { type Git, GitError } from '../git/git.ts'
import { changeRefs } from '../git/refs.ts'
import type { BytePath } from '../workspace/byte-path.ts'
import { type Owner, placeOf } from '../workspace/place.ts'
import type { Found } from './conflict-report.ts'
import { findMarked, findSeparated } from './marks.ts'
import { blobOf, type Entry, readChangedFiles, readEntries } from './tree-files.ts'

const openConflictShape = z.object({
  path: z.string(),
  /** Told a second time, after it had been handed in as git had left it. */
  isTold: z.boolean(),
  stages: z.array(z.tuple([z.number(), z.string()])).readonly(),
  /** The files of one conflict: to touch one of them settles it. */
  together: z.array(z.string()).readonly(),
})

/** A conflict that a story's coder was told of, and has to settle. */
type OpenConflict = Readonly<z.infer<typeof openConflictShape>>

/** What stands for a record that was there and could not be read. */
const LOST = 'lost'

const unsettledShape = z.object({
  /** The commit whose files the coder was given. */
  content: z.string(),
  conflicts: z.array(openConflictShape).readonly(),
  /** What was handed in twice as git had left it, and so is the coder's decision. */
  decided: z.array(z.string()).readonly(),
  /** The merge that came to this: tried again, it is held against what was there before. */
  head: z.string(),
  atMs: z.number(),
  before: z.string().nullable(),
})

/** What the next hand-in of a story is held against. */
type Unsettled = Readonly<z.infer<typeof unsettledShape>>

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

/** The name of a record, and what it says; nothing where there is none, or it is lost. */
interface Kept {
  readonly record: string | null
  readonly said?: Unsettled
}

/** What a merge is held against. */
async function readUnsettled(git: Git, work: string, asked: Asked): Promise<Kept> {
  const ref = unsettledRef(asked.owner)
  const [at] = await git.find(work, [ref])
  let record = at ?? ((await hasRef(work, ref)) ? LOST : null)
  while (record !== null && record !== LOST) {
    const said = await readRecord(git, work, record)
    if (said === undefined) return { record: LOST }
    if (said.head !== asked.head || said.atMs !== asked.atMs) return { record, said }
    record = said.before
  }
  return { record }
}

/** What a commit says; undefined when it cannot be read, or says nothing of the kind. */
async function readRecord(git: Git, work: string, record: string): Promise<Unsettled | undefined> {
  try {
    const { text } = await git.run(['cat-file', 'commit', record], { repository: work })
    return unsettledShape.parse(JSON.parse(text.slice(text.indexOf('\n\n'))))
  } catch (error) {
    const isEnded = error instanceof GitError && error.exitCode === null
    const isDamage =
      error instanceof GitError || error instanceof SyntaxError || error instanceof z.ZodError
    if (isDamage && !isEnded) return undefined
    throw error
  }
}

/** Remembers conflicts before anybody is told of them, so that a crash makes none of them good. */
export async function keepUnsettled(
  git: Git,
  work: string,
  { owner, head, atMs }: Asked,
  content: string,
  conflicts: readonly OpenConflict[],
  { decided, before }: Pick<Judged, 'decided' | 'before'>,
): Promise<void> {
  const said = { content, conflicts, decided, head, atMs, before }
  const parents = before === null || before === LOST ? [content] : [content, before]
  const args = ['commit-tree', `${content}^{tree}`, ...parents.flatMap((id) => ['-p', id])]
  const stdin = JSON.stringify(said satisfies Unsettled)
  const { text: to } = await git.run([...args, '-F', '-'], { repository: work, stdin })
  const ref = unsettledRef(owner)
  if (before === LOST) await overwriteRef(work, ref, to)
  else await changeRefs(git, work, [{ ref, to }])
}

/** Git would not write over what it cannot read, and without either the loss would be forgotten. */
async function overwriteRef(work: string, ref: string, to: string): Promise<void> {
  const draft = join(work, 'unsettled+new')
  await writeFile(draft, `${to}\n`, { flush: true })
  await mkdir(dirname(join(work, ref)), { recursive: true })
  await rename(draft, join(work, ref))
}

/** Forgets what was unsettled: the story is merged, or begins anew. */
export async function forgetUnsettled(git: Git, work: string, owner: Owner): Promise<void> {
  const ref = unsettledRef(owner)
  await removeNonsense(work, ref)
  if (await hasRef(work, ref)) await changeRefs(git, work, [{ ref, to: null }])
}

/** What has become of a story's conflicts in what was handed in. */
export interface Judged {
  readonly left: readonly Left[]
  /** Left as git had them, by a coder who had been asked about it. */
  readonly decided: readonly BytePath[]
  /** The record that it was held against. */
  readonly before: string | null
}

interface Left {
  readonly conflict: OpenConflict
  readonly message: string
}

/**
 * Looks whether each conflict was settled. Marks of a merge never are, in whatever file and whether
 * or not a record tells of it. A file that is as git had left it is asked about once; handed in like
 * that again, it is what the coder decided. So is everything where the record was lost.
 */
export async function judge(git: Git, work: string, onto: string, asked: Asked): Promise<Judged> {
  const { head } = asked
  const [{ record: before, said }, marked] = await Promise.all([
    readUnsettled(git, work, asked),
    findMarked(git, work, onto, head),
  ])
  if (before === LOST) {
    const changed = await readChangedFiles(git, work, { onto, head })
    const left = changed.map(({ path }) => leftAt(path, marked.has(path) ? MARKED : UNKNOWN))
    return { left, decided: [], before }
  }
  const conflicts = said?.conflicts ?? []
  const known = new Set(conflicts.map(({ path }) => path))
  const elsewhere = [...marked].filter((path) => !known.has(path))
  const left = elsewhere.map((path) => leftAt(path, MARKED))
  if (said === undefined) return { left, decided: [], before }
  const [given, handedIn] = await Promise.all([
    readEntries(git, work, said.content),
    readEntries(git, work, head),
  ])
  const decided = new Set(said.decided)
  const touched: OpenConflict[] = []
  for (const conflict of conflicts) {
    const { path, isTold, together } = conflict
    const files = MADE_NAME.test(path) && given.has(path) ? [path] : [path, ...together]
    const isUntouched = files.every((one) => isSameAt(one, given, handedIn))
    if (marked.has(path)) left.push({ conflict, message: MARKED })
    else if (!isUntouched) touched.push(conflict)
    else if (isTold) decided.add(path)
    else left.push({ conflict, message: untouched(conflict, handedIn) })
  }
  left.push(...(await findHalfSettled(git, work, touched, given, handedIn)))
  return { left, decided: [...decided], before }
}

/** A name that git gave to one of two things that cannot both have theirs: nobody wants it. */
const MADE_NAME = /~[0-9a-f]{40}(?:_\d+)?$/

/** Files in which a line between two sides may have been left. */
async function findHalfSettled(
  git: Git,
  work: string,
  touched: readonly OpenConflict[],
  given: ReadonlyMap<BytePath, Entry>,
  handedIn: ReadonlyMap<BytePath, Entry>,
): Promise<readonly Left[]> {
  const settled = touched.flatMap((conflict) => {
    const blob = blobOf(handedIn.get(conflict.path))
    const sides = conflict.stages.flatMap(([stage, entry]) =>
      stage === 1 ? [] : (blobOf(entry) ?? []),
    )
    const origin = sides.length > 0 ? sides : [blobOf(given.get(conflict.path)) ?? []].flat()
    return blob === undefined ? [] : [{ conflict, blob, sides: origin }]
  })
  const separated = await findSeparated(git, work, settled)
  return settled
    .filter((one) => separated.has(one))
    .map(({ conflict }) => ({ conflict, message: SEPARATED }))
}

function leftAt(path: BytePath, message: string): Left {
  return { conflict: { path, isTold: false, stages: [], together: [path] }, message }
}

const MARKED = 'It was handed in with the marks of the conflict in it.'
const SEPARATED =
  'It was handed in with a line that may have stood between the two sides of the conflict. If that is meant to be there, hand it in once more.'
const UNKNOWN =
  'What was in conflict is not known any more, since the record of it is damaged, and this file is among those that were handed in. See that nothing of either side is lost in it, and hand it in once more.'

function untouched({ path, stages }: OpenConflict, handedIn: ReadonlyMap<BytePath, Entry>): string {
  const sides = new Map(stages)
  // Of a file that git has under one stage alone, it put both sides into one, or only moved it.
  const isSide = (stage: number) => stages.length > 1 && sides.get(stage) === handedIn.get(path)
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
export function openConflictOf({ path, stages, together }: Found): OpenConflict {
  return { path, isTold: false, stages: [...stages], together }
}

/** A conflict that was not settled, as it is told. */
export function foundOf({ conflict, message }: Left): Found {
  const { path, stages, together } = conflict
  return { path, kind: 'CONFLICT (unsettled)', message, stages: new Map(stages), together }
}
