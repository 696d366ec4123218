import type { Git } from '../git/git.ts'
import { type BytePath, readable } from '../workspace/byte-path.ts'
import type { Found, Stages } from './conflict-report.ts'
import { type Entry, entryOf } from './tree-files.ts'

/** What two commits come to together. In a conflict the tree has both sides, marked, in its files. */
export interface MergedTree {
  readonly tree: string
  readonly found: readonly Found[]
}

const CONFIG = [
  'merge.conflictStyle=diff3',
  'merge.directoryRenames=conflict',
  // The base is labelled with its full id, as the sides are: by that a mark is known as ours.
  'core.abbrev=40',
].flatMap((setting) => ['-c', setting])

/**
 * Merges in memory: no file is touched, no driver runs, no attribute decides anything. What both
 * sides changed is a conflict and is never settled here.
 */
export async function mergeTrees(
  git: Git,
  work: string,
  target: string,
  story: string,
): Promise<MergedTree> {
  const flags = ['merge-tree', '--write-tree', '--messages', '-z', target, story]
  const answer = await git.run([...CONFIG, ...flags], { repository: work, accept: [0, 1] })
  // Names need not be text, so that each character is one byte until somebody reads it.
  const fields = answer.stdout.toString('latin1').split('\0')
  const tree = fields[0] as string
  const end = fields.indexOf('', 1)
  const stages = readStages(fields.slice(1, end))
  const messages = readMessages(fields.slice(end + 1))
  const conflicts = [...describeFiles(stages, messages), ...describeOthers(stages, messages)]
  // What git could not merge is never taken for merged, whatever it says about it.
  if (answer.exitCode === 1 && conflicts.length === 0) {
    throw new Error('git found a conflict and named none')
  }
  const known = new Set(conflicts.map(({ path }) => path))
  const merged = messages
    .filter(({ kind }) => kind === 'Auto-merging')
    .flatMap(({ paths }) => paths)
    .filter((path) => !known.has(path))
  const carried = await findCarried(git, work, { target, story, merged, stages })
  return { tree, found: [...conflicts, ...carried] }
}

type StagesByPath = ReadonlyMap<BytePath, Stages>

function readStages(lines: readonly string[]): StagesByPath {
  const stages = new Map<BytePath, Map<number, Entry>>()
  for (const line of lines) {
    const match = /^(\d{6}) ([0-9a-f]+) ([123])\t(.*)$/s.exec(line)
    if (match === null) continue
    const [, mode, id, stage, path] = match as unknown as [string, string, string, string, string]
    const known = stages.get(path) ?? new Map<number, Entry>()
    stages.set(path, known.set(Number(stage), entryOf(mode, id)))
  }
  return stages
}

interface Message {
  readonly paths: readonly BytePath[]
  readonly kind: string
  readonly text: string
}

function readMessages(fields: readonly string[]): readonly Message[] {
  const messages: Message[] = []
  for (let i = 0; i < fields.length && fields[i] !== ''; ) {
    const count = Number(fields[i])
    const paths = fields.slice(i + 1, i + 1 + count)
    const kind = fields[i + 1 + count] ?? ''
    messages.push({ paths, kind, text: readable((fields[i + 2 + count] ?? '').trim()) })
    i += count + 3
  }
  return messages
}

function isConflict({ kind }: Message): boolean {
  return kind.startsWith('CONFLICT')
}

function describeFiles(stages: StagesByPath, messages: readonly Message[]): readonly Found[] {
  return [...stages].map(([path, found]) => {
    const about = messages.find((message) => message.paths.includes(path) && isConflict(message))
    const together = about?.paths.filter((one) => stages.has(one)) ?? [path]
    return { path, kind: about?.kind, message: about?.text ?? '', stages: found, together }
  })
}

/** Conflicts that are about no version of a file, such as a folder that went two ways. */
function describeOthers(stages: StagesByPath, messages: readonly Message[]): readonly Found[] {
  return messages
    .filter((message) => isConflict(message) && !message.paths.some((path) => stages.has(path)))
    .map(({ kind, paths, text }) => ({
      path: paths[0] ?? '',
      kind,
      message: text,
      stages: new Map(),
      together: paths.slice(0, 1),
    }))
}

interface Merge {
  readonly target: string
  readonly story: string
  /** What git merged line by line. */
  readonly merged: readonly BytePath[]
  readonly stages: StagesByPath
}

/**
 * Where git put a change into another file, because one side deleted the file and has a new one
 * that is alike. That these are the same file is a guess, unless they are the same byte by byte.
 */
async function findCarried(git: Git, work: string, merge: Merge): Promise<readonly Found[]> {
  const { target, story, stages } = merge
  const guessed = await findNotOnBoth(git, work, merge)
  if (guessed.length === 0) return []
  const [onTarget, inStory] = await Promise.all([
    readChanges(git, work, story, target),
    readChanges(git, work, target, story),
  ])
  const isNew = (path: BytePath) => onTarget?.get(path) === 'A' || inStory?.get(path) === 'A'
  const places = guessed.filter((path) => isNew(path) || onTarget === undefined)
  const sources = [...(onTarget?.keys() ?? [])].filter((path) => {
    const kinds = `${onTarget?.get(path)}${inStory?.get(path)}`
    return (kinds === 'DM' || kinds === 'MD') && !stages.has(path)
  })
  if (sources.length === 0 && onTarget !== undefined) return []
  const names = sources.map(readable).join(', ')
  const message = `${names || 'Another file'}: one side deleted it and the other changed it. Git put the change in here, because this is alike; nobody said that it is the same file.`
  const paths = places.length > 0 ? places : sources
  const kind = 'CONFLICT (likeness)'
  return paths.map((path) => ({ path, kind, message, stages: new Map(), together: [path] }))
}

/** A file that was merged and has its name on one side only has come there by a rename. */
async function findNotOnBoth(
  git: Git,
  work: string,
  { target, story, merged }: Merge,
): Promise<readonly BytePath[]> {
  const isLine = (path: BytePath) => !path.includes('\n')
  const lines = merged.filter(isLine)
  const names = lines.flatMap((path) => [target, story].map((side) => `${side}:${readable(path)}`))
  const found = await git.find(work, names)
  return merged.filter((path) => {
    const i = lines.indexOf(path)
    return i < 0 || found[2 * i] === undefined || found[2 * i + 1] === undefined
  })
}

/**
 * What one side did to each path; a file that only has another name counts as renamed. Undefined
 * where the two have more than one base.
 */
async function readChanges(
  git: Git,
  work: string,
  other: string,
  side: string,
): Promise<ReadonlyMap<BytePath, string> | undefined> {
  const flags = ['-r', '-z', '--name-status', '-M100%', '--merge-base']
  const args = ['diff-tree', ...flags, other, side]
  const { stdout, exitCode } = await git.run(args, { repository: work, accept: [0, 128] })
  if (exitCode !== 0) return undefined
  const fields = stdout.toString('latin1').split('\0')
  const changes = new Map<BytePath, string>()
  for (let i = 0; i + 1 < fields.length; ) {
    const kind = (fields[i] as string).charAt(0)
    changes.set(fields[i + 1] as string, kind)
    if (kind === 'R') changes.set(fields[i + 2] as string, kind)
    i += kind === 'R' ? 3 : 2
  }
  return changes
}
