import { mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BytePath, readable } from './byte-path.ts'
import type { Owner, Place } from './place.ts'

/** A workspace that was put away instead of being removed, since a part of it is stored nowhere. */
export interface Kept {
  readonly folder: string
  /** What is stored nowhere else, as far as it fits; a file beside the folder names all. */
  readonly unstored: readonly string[]
  readonly count: number
}

const NAMED_MAX = 20
const NAME_CHARS_MAX = 300

/** Moves a workspace as it is to where nobody touches it, with a list of what made it stay. */
export async function keepFolder(
  stateFolder: string,
  { run, story }: Owner,
  { folder }: Place,
  unstored: readonly BytePath[],
): Promise<Kept> {
  const top = join(stateFolder, 'kept')
  await mkdir(top, { recursive: true, mode: 0o700 })
  const place = await mkdtemp(join(top, `${run}+${story}+`))
  const list = Buffer.from(unstored.map((path) => `${path}\n`).join(''), 'latin1')
  await writeFile(join(place, 'unstored.txt'), list, { mode: 0o600 })
  const kept = join(place, 'workspace')
  await rename(folder, kept)
  const names = unstored.slice(0, NAMED_MAX).map((path) => readable(path).slice(0, NAME_CHARS_MAX))
  return { folder: kept, unstored: names, count: unstored.length }
}
