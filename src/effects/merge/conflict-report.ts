import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { inScratch } from '../git/scratch.ts'
import type { BytePath } from '../workspace/byte-path.ts'
import {
  type Conflict,
  type FurtherConflicts,
  type Hunk,
  nameOf,
  openingOf,
  readHunks,
} from './conflict.ts'
import { countMarks } from './marks.ts'
import { blobOf, type Entry, readBlobs, readEntries, readSizes } from './tree-files.ts'

/** A conflict as it was found. */
export interface Found {
  readonly path: BytePath
  /** Git's name for it, as it writes it; undefined where it gave none. */
  readonly kind: string | undefined
  readonly message: string
  /** What the base (1), the target (2) and the story (3) have there. */
  readonly stages: Stages
  /** The files of one conflict, this one included: git has one under its old and its new names. */
  readonly together: readonly BytePath[]
}

export type Stages = ReadonlyMap<number, Entry>

/** What of all conflicts fits an outcome, as JSON; the files in the tree have everything. */
const HUNKS_BYTES_MAX = 30_000
/** Of each side of a hunk that does not fit as a whole. */
const OPENING_CHARS_MAX = 1_500
const MESSAGES_BYTES_MAX = 12_000
const NAMES_BYTES_MAX = 76_000
/** Of a described conflict beside its name, its message and its hunks. */
const ENTRY_BYTES_MAX = 200
const CONFLICTS_MAX = 100
const MESSAGE_CHARS_MAX = 300
/** A larger file has no hunks to be shown; where they are is marked in it. */
const SHOWN_FILE_BYTES_MAX = 10_000_000

/** What an outcome says about conflicts: every file, and as much of both sides as fits. */
export interface ConflictReport {
  readonly conflicts: readonly Conflict[]
  readonly further: FurtherConflicts
}

/** Describes conflicts of a merged tree. `clean` takes out what must not be shown. */
export async function reportConflicts(
  git: Git,
  repositories: Repositories,
  tree: string,
  found: readonly Found[],
  clean: (text: string) => string,
): Promise<ConflictReport> {
  const names = found.map(({ path }) => clean(nameOf(path)))
  const count = fit(names.slice(0, CONFLICTS_MAX), NAMES_BYTES_MAX, ENTRY_BYTES_MAX).length
  const parts = { git, repositories, tree, clean }
  const described = await describe(parts, found.slice(0, count))
  const conflicts = described.map(withinRoom(MESSAGES_BYTES_MAX))
  const entries = conflicts.map((conflict) => ({ ...conflict, message: '', hunks: [] }))
  const paths = fit(names.slice(count), NAMES_BYTES_MAX - bytesOf(entries))
  const left = found.slice(count)
  const hunks = (await countIn(parts, left)).reduce((sum, one) => sum + one, 0)
  return { conflicts, further: { paths, count: left.length, hunks } }
}

interface ReportParts {
  readonly git: Git
  readonly repositories: Repositories
  /** The merged tree, in which both sides are marked. */
  readonly tree: string
  clean(text: string): string
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** Leaves the messages out once they have become much: a path and a kind say the most. */
function withinRoom(bytesMax: number): (conflict: Conflict) => Conflict {
  let left = bytesMax
  return (conflict) => {
    left -= bytesOf(conflict.message)
    return left < 0 ? { ...conflict, message: '' } : conflict
  }
}

/** As many names as there is room for, each with something beside it. */
export function fit(names: readonly string[], room: number, besideBytes = 1): readonly string[] {
  let left = room
  const end = names.findIndex((name) => {
    left -= bytesOf(name) + besideBytes
    return left < 0
  })
  return end < 0 ? names : names.slice(0, end)
}

/** How many places of each file are marked. */
async function countIn(
  { git, repositories: { work }, tree }: ReportParts,
  found: readonly Found[],
): Promise<readonly number[]> {
  if (found.length === 0) return []
  const entries = await readEntries(git, work, tree)
  const blobs = found.map(({ path }) => blobOf(entries.get(path)) ?? '')
  const counts = await countMarks(
    git,
    work,
    blobs.filter((blob) => blob !== ''),
  )
  return blobs.map((blob) => counts.get(blob) ?? 0)
}

async function describe(parts: ReportParts, found: readonly Found[]): Promise<readonly Conflict[]> {
  const { git, repositories, clean } = parts
  const blobs = found.flatMap(({ stages }) => blobsOf(stages))
  const sizes = await readSizes(git, repositories.work, blobs)
  const isLarge = ({ stages }: Found) =>
    blobsOf(stages).some((blob) => (sizes.get(blob) ?? 0) > SHOWN_FILE_BYTES_MAX)
  let room = HUNKS_BYTES_MAX
  const conflicts: Conflict[] = []
  for (const one of found) {
    const { path, kind, message, stages } = one
    const places = isLarge(one) ? await countPlaces(parts, one) : await readPlaces(parts, stages)
    const fitting: Hunk[] = []
    for (const { line, target, base, story } of places.hunks) {
      const hunk = { line, target: clean(target), base: clean(base), story: clean(story) }
      // One that is larger than all the room is still to be recognised by both of its sides.
      const shown = bytesOf(hunk) <= room ? hunk : openingOf(hunk, OPENING_CHARS_MAX)
      if (bytesOf(shown) > room) break
      room -= bytesOf(shown)
      fitting.push(shown)
    }
    conflicts.push({
      path: clean(nameOf(path)),
      kind: kindOf(kind, places.isText, stages.size === 0 || stages.has(1)),
      message: clean(message).slice(0, MESSAGE_CHARS_MAX),
      onTarget: stages.has(2),
      inStory: stages.has(3),
      hunks: fitting,
      hunksLeftOut: places.count - fitting.length,
    })
  }
  return conflicts
}

function blobsOf(stages: Stages): readonly string[] {
  return [...stages.values()].flatMap((entry) => blobOf(entry) ?? [])
}

function kindOf(kind: string | undefined, isText: boolean, hasBase: boolean): string {
  const name = /^CONFLICT ?\((.*)\)$/.exec(kind ?? '')?.[1] ?? 'contents'
  if (name !== 'contents') return name
  if (!isText) return 'binary'
  return hasBase ? name : 'add/add'
}

/** Where a file conflicts. */
interface Places {
  readonly isText: boolean
  readonly hunks: readonly Hunk[]
  readonly count: number
}

/** Of a large file it is known how many places there are; git puts no marks into what is no text. */
async function countPlaces(parts: ReportParts, found: Found): Promise<Places> {
  const [count = 0] = await countIn(parts, [found])
  return { isText: count > 0, hunks: [], count }
}

/** Merged once more, with markers that no file can hold by chance. */
async function readPlaces({ git, repositories }: ReportParts, stages: Stages): Promise<Places> {
  const hasOthers = [...stages.values()].some((entry) => blobOf(entry) === undefined)
  if (!stages.has(2) || !stages.has(3) || hasOthers) return { isText: true, hunks: [], count: 0 }
  return inScratch(repositories, async (scratch) => {
    const contents = await readBlobs(git, repositories.work, blobsOf(stages))
    const contentOf = (stage: number) =>
      contents.get(blobOf(stages.get(stage)) ?? '') ?? Buffer.alloc(0)
    const files = [2, 1, 3].map((stage) => join(scratch, String(stage)))
    for (const stage of [1, 2, 3]) await writeFile(join(scratch, String(stage)), contentOf(stage))
    const markerChars = 60 + (randomBytes(1)[0] as number)
    const flags = ['merge-file', '-p', '--diff3', `--marker-size=${markerChars}`]
    // Its exit code is the number of conflicts, up to 127; 255 says that this is no text.
    const accept = Array.from({ length: 128 }, (_, i) => i).concat(255)
    const { exitCode, stdout } = await git.run([...flags, ...files], { accept })
    if (exitCode === 255) return { isText: false, hunks: [], count: 0 }
    const isOpen = (stage: number) => contentOf(stage).at(-1) !== LINE_END
    const ends = { target: isOpen(2), base: isOpen(1), story: isOpen(3) }
    const hunks = readHunks(stdout.toString('latin1'), markerChars, ends)
    return { isText: true, hunks, count: hunks.length }
  })
}

const LINE_END = 0x0a
