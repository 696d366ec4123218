import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '../durable-file.ts'
import type { PullRequest, PullRequestDraft, Review } from './forge.ts'
import type { RecordCopies } from './record-copies.ts'

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

/**
 * Opens the records of a folder, for one process alone. A damaged one is put away beside the others
 * and made again from its copy, as is one that is gone; `report` is told of each.
 */
export async function openPullRequestRecords(
  folder: string,
  copies: RecordCopies,
  report: (line: string) => void,
): Promise<PullRequestRecords> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const records = new Map<number, PullRequestRecord>()
  const putAway = new Map<string, string>()
  const all = await readdir(folder)
  // What a killed write has left ends otherwise, and is overwritten by the next one.
  for (const name of all.filter((each) => each.endsWith('.json'))) {
    const record = parse(name, await readFile(join(folder, name), 'utf8'))
    if (record !== undefined) records.set(record.number, record)
    else putAway.set(name, await setAside(folder, name))
  }
  const copied = await copies.list()
  const write = async (record: PullRequestRecord) => {
    await writeDurably(join(folder, `${record.number}.json`), textOf(record))
    records.set(record.number, record)
  }
  for (const number of copied.filter((each) => !records.has(each))) {
    const name = `${number}.json`
    const record = parse(name, (await copies.read(number)) ?? '')
    if (record === undefined) continue
    await write(record)
    const old = putAway.get(name)
    putAway.delete(name)
    const what = old === undefined ? 'was gone' : `was damaged and is kept as ${old}`
    report(`the record of pull request ${number} ${what}; it is back from its copy in git`)
  }
  for (const [name, old] of putAway) {
    report(`the pull request in ${name} is damaged, without a copy, and is kept as ${old}`)
  }
  // A number that was ever given stands for something else.
  const numberMin = Math.max(0, ...copied, ...all.map((name) => Number.parseInt(name, 10) || 0))
  return {
    get: (number) => records.get(number),
    find: (matches) => [...records.values()].filter(matches).sort((a, b) => b.number - a.number)[0],
    nextNumber: () => Math.max(numberMin, ...records.keys()) + 1,
    async write(record) {
      await Promise.all([copies.write(record.number, textOf(record)), write(record)])
    },
  }
}

const textOf = (record: PullRequestRecord) => `${JSON.stringify(record, null, 2)}\n`

/** A record as it was written; undefined when it is damaged. */
function parse(name: string, text: string): PullRequestRecord | undefined {
  try {
    const record = JSON.parse(text)
    const texts = [record.branch, record.target, record.head, record.title, record.body]
    const sound =
      `${record.number}.json` === name &&
      texts.every((value) => typeof value === 'string') &&
      ['open', 'merged', 'closed'].includes(record.state) &&
      (record.state === 'merged') === (typeof record.mergeCommit === 'string') &&
      Array.isArray(record.reviews)
    return sound ? record : undefined
  } catch {
    // Not even JSON: damaged like the others.
    return undefined
  }
}

/** Moves a file to a name that nothing else has, and gives its new place. */
async function setAside(folder: string, name: string): Promise<string> {
  for (let i = 1; ; i += 1) {
    const place = join(folder, i === 1 ? `${name}.damaged` : `${name}.damaged-${i}`)
    if (existsSync(place)) continue
    await rename(join(folder, name), place)
    return place
  }
}
