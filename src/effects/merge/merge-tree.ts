import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { inScratch } from '../git/scratch.ts'
import {
  type Conflict,
  type FurtherConflicts,
  type Hunk,
  openingOf,
  readHunks,
} from './conflict.ts'
import { countMarked } from './marked-files.ts'

/** What two commits come to together. In a conflict the tree has both sides, marked, in its files. */
export interface MergedTree {
  readonly tree: string
  readonly conflicts: readonly Conflict[]
  readonly further: FurtherConflicts
}

/** What of all conflicts fits an outcome, as JSON; the files in the tree have everything. */
const HUNKS_BYTES_MAX = 30_000
/** Of each side of a hunk that does not fit as a whole. */
const OPENING_CHARS_MAX = 1_500
const MESSAGES_BYTES_MAX = 12_000
const NAMES_BYTES_MAX = 76_000
const CONFLICTS_MAX = 100
const MESSAGE_CHARS_MAX = 300

const NONE: FurtherConflicts = { paths: [], count: 0, hunks: 0 }

/**
 * Merges in memory: no file is touched, no driver runs, no attribute decides anything. What both
 * sides changed is a conflict and is never settled here.
 */
export async function mergeTrees(
  git: Git,
  repositories: Repositories,
  target: string,
  story: string,
): Promise<MergedTree> {
  const config = ['-c', 'merge.conflictStyle=diff3', '-c', 'merge.directoryRenames=conflict']
  const flags = ['merge-tree', '--write-tree', '--messages', '-z', target, story]
  const options = { repository: repositories.work, accept: [0, 1] }
  const answer = await git.run([...config, ...flags], options)
  const fields = answer.stdout.toString().split('\0')
  const tree = fields[0] as string
  if (answer.exitCode === 0) return { tree, conflicts: [], further: NONE }
  const end = fields.indexOf('', 1)
  const stages = readStages(fields.slice(1, end))
  const messages = readMessages(fields.slice(end + 1))
  const others = describeOthers(stages, messages)
  const shown = [...stages].slice(0, CONFLICTS_MAX)
  const conflicts = [
    ...(await describe(git, repositories, shown, messages)),
    ...others.slice(0, CONFLICTS_MAX),
  ].map(withinRoom(MESSAGES_BYTES_MAX))
  // What git could not merge is never taken for merged, whatever it says about it.
  if (conflicts.length === 0) throw new Error('git found a conflict and named none')
  const left = [...stages.keys()].slice(CONFLICTS_MAX)
  const named = [...left, ...others.slice(CONFLICTS_MAX).map(({ path }) => path)]
  const hunks = await countMarked(git, repositories.work, { tree, target }, left)
  const entries = conflicts.map((conflict) => ({ ...conflict, message: '', hunks: [] }))
  const room = NAMES_BYTES_MAX - bytesOf(entries)
  return { tree, conflicts, further: { paths: fit(named, room), count: named.length, hunks } }
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

/** Conflicts that are about no version of a file, such as a folder that went two ways. */
function describeOthers(stages: Stages, messages: readonly Message[]): readonly Conflict[] {
  return messages
    .filter(({ kind, paths }) => isConflict(kind) && !paths.some((path) => stages.has(path)))
    .map(({ kind, paths, text }) => ({
      path: paths[0] ?? '',
      kind: kindOf(kind, [], true),
      message: text.slice(0, MESSAGE_CHARS_MAX),
      onTarget: false,
      inStory: false,
      hunks: [],
      hunksLeftOut: 0,
    }))
}

function isConflict(kind: string): boolean {
  return kind.startsWith('CONFLICT')
}

/** The blobs of a path: of the base (1), of the target (2) and of the story (3). */
type Stages = ReadonlyMap<string, ReadonlyMap<number, string>>

/** A submodule's commit, which is no blob: it is named, and has no lines. */
const GITLINK_MODE = '160000'

function readStages(lines: readonly string[]): Stages {
  const stages = new Map<string, Map<number, string>>()
  for (const line of lines) {
    const match = /^(\d{6}) ([0-9a-f]+) ([123])\t(.*)$/s.exec(line)
    if (match === null) continue
    const [, mode, blob, stage, path] = match as unknown as [string, string, string, string, string]
    const known = stages.get(path) ?? new Map<number, string>()
    stages.set(path, known.set(Number(stage), mode === GITLINK_MODE ? '' : blob))
  }
  return stages
}

interface Message {
  readonly paths: readonly string[]
  readonly kind: string
  readonly text: string
}

function readMessages(fields: readonly string[]): readonly Message[] {
  const messages: Message[] = []
  for (let i = 0; i < fields.length && fields[i] !== ''; ) {
    const count = Number(fields[i])
    const paths = fields.slice(i + 1, i + 1 + count)
    const kind = fields[i + 1 + count] ?? ''
    messages.push({ paths, kind, text: (fields[i + 2 + count] ?? '').trim() })
    i += count + 3
  }
  return messages
}

async function describe(
  git: Git,
  repositories: Repositories,
  stages: readonly (readonly [string, ReadonlyMap<number, string>])[],
  messages: readonly Message[],
): Promise<readonly Conflict[]> {
  let room = HUNKS_BYTES_MAX
  const conflicts: Conflict[] = []
  for (const [path, blobs] of stages) {
    const about = messages.find(
      (message) => message.paths.includes(path) && isConflict(message.kind),
    )
    const hunks = await hunksOf(git, repositories, blobs)
    const fitting: Hunk[] = []
    for (const hunk of hunks ?? []) {
      // One that is larger than all the room is still to be recognised by both of its sides.
      const shown = bytesOf(hunk) <= room ? hunk : openingOf(hunk, OPENING_CHARS_MAX)
      if (bytesOf(shown) > room) break
      room -= bytesOf(shown)
      fitting.push(shown)
    }
    conflicts.push({
      path,
      kind: kindOf(about?.kind, hunks, blobs.has(1)),
      message: (about?.text ?? '').slice(0, MESSAGE_CHARS_MAX),
      onTarget: blobs.has(2),
      inStory: blobs.has(3),
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
  blobs: ReadonlyMap<number, string>,
): Promise<readonly Hunk[] | undefined> {
  if (!blobs.has(2) || !blobs.has(3) || [...blobs.values()].includes('')) return []
  return inScratch(repositories, async (scratch) => {
    for (const stage of [1, 2, 3]) {
      const blob = blobs.get(stage)
      const content =
        blob === undefined
          ? Buffer.alloc(0)
          : (await git.run(['cat-file', 'blob', blob], { repository: repositories.work })).stdout
      await writeFile(join(scratch, String(stage)), content)
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
