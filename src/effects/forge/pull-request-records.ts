import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { PullRequest, PullRequestDraft, Review } from './forge.ts'
import { ForgeFailure } from './forge-failure.ts'

/** A pull request as it is kept on this machine. */
export interface PullRequestRecord extends PullRequestDraft {
  readonly number: number
  readonly state: PullRequest['state']
  readonly mergeCommit: string | null
  readonly reviews: readonly Omit<Review, 'number'>[]
}

/** The pull requests of a folder, one JSON file each. What was written survives a power cut. */
export interface PullRequestRecords {
  get(number: number): PullRequestRecord | undefined
  /** The newest that matches. */
  find(matches: (record: PullRequestRecord) => boolean): PullRequestRecord | undefined
  /** The number that the next one gets. */
  nextNumber(): number
  write(record: PullRequestRecord): Promise<void>
}

/** Opens the records of a folder, for one process alone. */
export async function openPullRequestRecords(folder: string): Promise<PullRequestRecords> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const records = new Map<number, PullRequestRecord>()
  // What a killed write has left ends in .new, and is overwritten by the next one.
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  for (const name of names) {
    const record = parse(name, await readFile(join(folder, name), 'utf8'))
    records.set(record.number, record)
  }

  return {
    get: (number) => records.get(number),
    find: (matches) => [...records.values()].filter(matches).sort((a, b) => b.number - a.number)[0],
    nextNumber: () => Math.max(0, ...records.keys()) + 1,
    async write(record) {
      await writeDurably(folder, `${record.number}.json`, `${JSON.stringify(record, null, 2)}\n`)
      records.set(record.number, record)
    },
  }
}

/** A record as it was written. A damaged one is never passed over: its pull request may be merged. */
function parse(name: string, text: string): PullRequestRecord {
  try {
    const record = JSON.parse(text)
    const texts = [record.branch, record.target, record.head, record.title, record.body]
    const sound =
      `${record.number}.json` === name &&
      texts.every((value) => typeof value === 'string') &&
      ['open', 'merged', 'closed'].includes(record.state) &&
      (record.state === 'merged') === (typeof record.mergeCommit === 'string') &&
      Array.isArray(record.reviews)
    if (sound) return record
  } catch {
    // Not even JSON: damaged like the others.
  }
  throw new ForgeFailure('storage', `the pull request in ${name} is damaged`)
}

/** A file is whole when it has its name, and the name is durable when its folder is. */
async function writeDurably(folder: string, name: string, text: string): Promise<void> {
  const draft = join(folder, `${name}.new`)
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, join(folder, name))
  const parent = await open(folder, 'r')
  try {
    await parent.sync()
  } finally {
    await parent.close()
  }
}
