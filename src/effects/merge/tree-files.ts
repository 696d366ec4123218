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

/** Files are read together, but not so many that they would fill the memory. */
const FILES_AT_ONCE = 100

/** Looks at blobs one after the other, each character for one byte. */
export async function readBlobs(
  git: Git,
  repository: string,
  blobs: readonly string[],
  look: (blob: string, content: string) => void,
): Promise<void> {
  for (let i = 0; i < blobs.length; i += FILES_AT_ONCE) {
    const stdin = blobs.slice(i, i + FILES_AT_ONCE).join('\n')
    const { stdout } = await git.run(['cat-file', '--batch'], { repository, stdin })
    const text = stdout.toString('latin1')
    for (let at = 0; at < text.length; ) {
      const start = text.indexOf('\n', at) + 1
      const [blob = '', , bytes] = text.slice(at, start - 1).split(' ')
      const end = start + Number(bytes ?? 0)
      if (bytes !== undefined) look(blob, text.slice(start, end))
      at = bytes === undefined ? start : end + 1
    }
  }
}
