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
import { blobOf, type Entry, readBlobs, readEntries } from './tree-files.ts'

/** A conflict as it was found. */
export interface Found {
  readonly path: BytePath
  /** Git's name for it, as it writes it; undefined where it gave none. */
  readonly kind: string | undefined
  readonly message: string
  /** What the base (1), the target (2) and the story (3) have there. */
  readonly stages: Stages
}

export type Stages = ReadonlyMap<number, Entry>

/** What of all conflicts fits an outcome, as JSON; the files in the tree have everything. */
const HUNKS_BYTES_MAX = 30_000
/** Of each side of a hunk that does not fit as a whole. */
const OPENING_CHARS_MAX = 1_500
const MESSAGES_BYTES_MAX = 12_000
const NAMES_BYTES_MAX = 76_000
const CONFLICTS_MAX = 100
const MESSAGE_CHARS_MAX = 300

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
  const shown = found.slice(0, CONFLICTS_MAX)
  const left = found.slice(CONFLICTS_MAX)
  const conflicts = (await describe(git, repositories, shown, clean)).map(
    withinRoom(MESSAGES_BYTES_MAX),
  )
  const entries = conflicts.map((conflict) => ({ ...conflict, message: '', hunks: [] }))
  const room = NAMES_BYTES_MAX - bytesOf(entries)
  const names = left.map(({ path }) => clean(nameOf(path)))
  const hunks = await countMarked(git, repositories.work, tree, left)
  return { conflicts, further: { paths: fit(names, room), count: left.length, hunks } }
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

/** As many names as there is room for. */
function fit(names: readonly string[], room: number): readonly string[] {
  let left = room
  const end = names.findIndex((name) => {
    left -= bytesOf(name) + 1
    return left < 0
  })
  return end < 0 ? names : names.slice(0, end)
}

async function countMarked(
  git: Git,
  repository: string,
  tree: string,
  found: readonly Found[],
): Promise<number> {
  if (found.length === 0) return 0
  const entries = await readEntries(git, repository, tree)
  const blobs = found.flatMap(({ path }) => blobOf(entries.get(path)) ?? [])
  let count = 0
  await readBlobs(git, repository, blobs, (_, content) => {
    count += countMarks(content)
  })
  return count
}

async function describe(
  git: Git,
  repositories: Repositories,
  found: readonly Found[],
  clean: (text: string) => string,
): Promise<readonly Conflict[]> {
  let room = HUNKS_BYTES_MAX
  const conflicts: Conflict[] = []
  for (const { path, kind, message, stages } of found) {
    const hunks = await hunksOf(git, repositories, stages)
    const fitting: Hunk[] = []
    for (const { line, target, base, story } of hunks ?? []) {
      const hunk = { line, target: clean(target), base: clean(base), story: clean(story) }
      // One that is larger than all the room is still to be recognised by both of its sides.
      const shown = bytesOf(hunk) <= room ? hunk : openingOf(hunk, OPENING_CHARS_MAX)
      if (bytesOf(shown) > room) break
      room -= bytesOf(shown)
      fitting.push(shown)
    }
    conflicts.push({
      path: clean(nameOf(path)),
      kind: kindOf(kind, hunks, stages.size === 0 || stages.has(1)),
      message: clean(message).slice(0, MESSAGE_CHARS_MAX),
      onTarget: stages.has(2),
      inStory: stages.has(3),
      hunks: fitting,
      hunksLeftOut: (hunks?.length ?? 0) - fitting.length,
    })
  }
  return conflicts
}

function kindOf(
  kind: string | undefined,
  hunks: readonly Hunk[] | undefined,
  hasBase: boolean,
): string {
  const name = /^CONFLICT ?\((.*)\)$/.exec(kind ?? '')?.[1] ?? 'contents'
  if (name !== 'contents') return name
  if (hunks === undefined) return 'binary'
  return hasBase ? name : 'add/add'
}

/** Merged once more, with markers that no file can hold by chance; undefined for no text. */
async function hunksOf(
  git: Git,
  repositories: Repositories,
  stages: Stages,
): Promise<readonly Hunk[] | undefined> {
  const hasOthers = [...stages.values()].some((entry) => blobOf(entry) === undefined)
  if (!stages.has(2) || !stages.has(3) || hasOthers) return []
  return inScratch(repositories, async (scratch) => {
    const contents = new Map<string, string>()
    const blobs = [...stages.values()].flatMap((entry) => blobOf(entry) ?? [])
    await readBlobs(git, repositories.work, blobs, (blob, text) => contents.set(blob, text))
    for (const stage of [1, 2, 3]) {
      const content = contents.get(blobOf(stages.get(stage)) ?? '') ?? ''
      await writeFile(join(scratch, String(stage)), content, 'latin1')
    }
    const markerChars = 60 + (randomBytes(1)[0] as number)
    const [base, target, story] = [1, 2, 3].map((stage) => join(scratch, String(stage)))
    const flags = ['merge-file', '-p', '--diff3', `--marker-size=${markerChars}`]
    // Its exit code is the number of conflicts, up to 127; 255 says that this is no text.
    const accept = Array.from({ length: 128 }, (_, i) => i).concat(255)
    const args = [...flags, target, base, story] as string[]
    const { exitCode, stdout } = await git.run(args, { accept })
    return exitCode === 255 ? undefined : readHunks(stdout.toString(), markerChars)
  })
}
