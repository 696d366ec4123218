import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { inScratch } from '../git/scratch.ts'
import { type BytePath, bytesOf } from './byte-path.ts'
import { openInPlace, writeCopy } from './in-place.ts'
import type { Place } from './place.ts'

const READ_AT_ONCE = 16
/** A file up to this size is read whole, which is quicker. */
const SMALL_BYTES_MAX = 256 * 1024

interface Entry {
  readonly mode: string
  readonly id: string
  readonly path: BytePath
}

/**
 * Git follows a link that takes the place of a folder at the right moment, and so reads files that
 * are not the workspace's. Whatever is new in a tree is therefore read once more where it is, and
 * what differs is put right. Gives the tree that holds.
 */
export async function holdToPlace(
  git: Git,
  repositories: Repositories,
  { folder, index }: Place,
  { before, tree }: { readonly before: string; readonly tree: string },
): Promise<string> {
  const repository = repositories.work
  const root = await realpath(folder)
  const wrong: Entry[] = []
  const entries = await findNew(git, repository, before, tree)
  for (let i = 0; i < entries.length; i += READ_AT_ONCE) {
    const some = entries.slice(i, i + READ_AT_ONCE)
    const ids = await Promise.all(some.map(({ path }) => idInPlace(root, path)))
    wrong.push(...some.filter(({ id }, at) => id !== ids[at]))
  }
  if (wrong.length === 0) return tree
  const lines = await inScratch(repositories, async (scratch) => {
    const corrected: string[] = []
    for (const [i, { mode, path }] of wrong.entries()) {
      const copy = join(scratch, String(i))
      const isThere = await writeCopy(bytesOf(root, path), copy).catch(() => false)
      const args = ['hash-object', '-w', '--no-filters', '--', copy]
      const { text } = isThere ? await git.run(args, { repository }) : { text: '0'.repeat(40) }
      corrected.push(`${isThere ? mode : '0'} ${text}\t${path}\0`)
    }
    return corrected
  })
  const stdin = Buffer.from(lines.join(''), 'latin1')
  await git.run(['update-index', '-z', '--index-info'], { repository, index, stdin })
  return (await git.run(['write-tree'], { repository, index })).text
}

/** The files that a tree has and another one has not, or has with other content. */
async function findNew(
  git: Git,
  repository: string,
  before: string,
  tree: string,
): Promise<readonly Entry[]> {
  const args = ['diff-tree', '-r', '--raw', '--no-renames', '--no-abbrev', '-z', before, tree]
  const { stdout } = await git.run(args, { repository })
  const fields = stdout.toString('latin1').split('\0')
  return fields.flatMap((field, i) => {
    const [, mode = '', id = ''] = /^:\d{6} (100\d{3}) [0-9a-f]+ ([0-9a-f]+) /.exec(field) ?? []
    return mode === '' ? [] : { mode, id, path: fields[i + 1] ?? '' }
  })
}

/** What git calls the content of a file; undefined where there is none, or it is still written. */
async function idInPlace(root: string, path: BytePath): Promise<string | undefined> {
  const file = await openInPlace(bytesOf(root, path)).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { size } = await file.stat()
    const hash = createHash('sha1').update(`blob ${size}\0`)
    if (size <= SMALL_BYTES_MAX) return hash.update(await file.readFile()).digest('hex')
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk)
    return hash.digest('hex')
  } finally {
    await file.close()
  }
}
