import type { Git } from '../git/git.ts'
import type { BytePath } from '../workspace/byte-path.ts'

/** What a tree has at a path: mode and id, as git writes them. */
export type Entry = string

/** A submodule's commit, which is no blob: it is named, and has no lines. */
const GITLINK_MODE = '160000'

export function entryOf(mode: string, id: string): Entry {
  return `${mode} ${id}`
}

/** The blob of an entry; undefined where it is none. */
export function blobOf(entry: Entry | undefined): string | undefined {
  const [mode, id] = entry?.split(' ') ?? []
  return mode === GITLINK_MODE ? undefined : id
}

/** Everything that a tree has, by path. */
export async function readEntries(
  git: Git,
  repository: string,
  tree: string,
): Promise<ReadonlyMap<BytePath, Entry>> {
  const { stdout } = await git.run(['ls-tree', '-r', '-z', tree], { repository })
  const entries = new Map<BytePath, Entry>()
  for (const line of stdout.toString('latin1').split('\0')) {
    const [, mode, id, path] = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
    if (mode && id && path !== undefined) entries.set(path, entryOf(mode, id))
  }
  return entries
}

/** A file that differs between two commits, as each of them has it. */
export interface ChangedFile {
  readonly path: BytePath
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

const NO_MODE = '000000'

/**
 * What a head changed since it parted from a target. A file that got another name is held against
 * what it was under the old one.
 */
export async function readChangedFiles(
  git: Git,
  repository: string,
  { onto, head }: { readonly onto: string; readonly head: string },
  config: readonly string[] = [],
  filters: readonly string[] = [],
): Promise<readonly ChangedFile[]> {
  const diff = (...base: string[]) => {
    const args = ['diff-tree', '-r', '-z', '--raw', '-M', ...filters, ...base, onto, head]
    return git.run([...config, ...args], { repository, accept: [0, 128] })
  }
  let answer = await diff('--merge-base')
  // They may have more than one base; what else the target has is then among the changes.
  if (answer.exitCode !== 0) answer = await diff()
  const fields = answer.stdout.toString('latin1').split('\0')
  const files: ChangedFile[] = []
  for (let i = 0; i + 1 < fields.length; ) {
    const [before = '', after = '', from = '', to = '', kind = ''] = (fields[i] as string).split(
      ' ',
    )
    const names = kind.startsWith('R') ? 2 : 1
    files.push({
      path: fields[i + names] as string,
      before: before === `:${NO_MODE}` ? undefined : entryOf(before.slice(1), from),
      after: after === NO_MODE ? undefined : entryOf(after, to),
    })
    i += names + 1
  }
  return files
}

/** A line of a blob, each character for one byte. */
interface GrepLine {
  readonly blob: string
  readonly line: number
  readonly text: string
  /** It matches, and is not only near one that does. */
  readonly isMatch: boolean
}

/** Names of blobs that fit one command line many times over. */
const GREP_BLOBS_MAX = 2_000
const GREP_LINES_MAX = 10_000

/** Lines of blobs that match, as many as a bound of each. Git looks, so that any size will do. */
export async function grepBlobs(
  git: Git,
  repository: string,
  blobs: readonly string[],
  pattern: string,
  flags: readonly string[],
): Promise<readonly GrepLine[]> {
  const names = [...new Set(blobs)]
  const found: GrepLine[] = []
  for (let i = 0; i < names.length; i += GREP_BLOBS_MAX) {
    const bounds = ['-a', '-n', `--max-count=${GREP_LINES_MAX}`, ...flags, '-E', '-e', pattern]
    const args = ['grep', ...bounds, ...names.slice(i, i + GREP_BLOBS_MAX), '--']
    const { stdout } = await git.run(args, { repository, accept: [0, 1] })
    for (const row of stdout.toString('latin1').split('\n')) {
      const [, blob, sign, line, text] = /^([0-9a-f]{40})([:-])(\d+)[:-](.*)$/s.exec(row) ?? []
      if (blob === undefined || text === undefined) continue
      found.push({ blob, line: Number(line), text, isMatch: sign === ':' })
    }
  }
  return found
}

/** How many bytes each blob has. */
export async function readSizes(
  git: Git,
  repository: string,
  blobs: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (blobs.length === 0) return new Map()
  const args = ['cat-file', '--batch-check=%(objectname) %(objectsize)']
  const { text } = await git.run(args, { repository, stdin: blobs.join('\n') })
  return new Map(
    text.split('\n').map((line) => {
      const [blob = '', bytes] = line.split(' ')
      return [blob, Number(bytes)]
    }),
  )
}

/** Reads blobs at once, which have to fit the memory together. */
export async function readBlobs(
  git: Git,
  repository: string,
  blobs: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const args = ['cat-file', '--batch']
  const { stdout } = await git.run(args, { repository, stdin: blobs.join('\n') })
  const contents = new Map<string, Buffer>()
  for (let at = 0; at < stdout.length; ) {
    const start = stdout.indexOf('\n', at) + 1
    const [blob = '', , bytes] = stdout.toString('latin1', at, start - 1).split(' ')
    if (bytes === undefined) throw new Error(`there is no object ${blob}`)
    const end = start + Number(bytes)
    contents.set(blob, stdout.subarray(start, end))
    at = end + 1
  }
  return contents
}
