import { stat } from 'node:fs/promises'
import { isAbsolute, join, normalize } from 'node:path'
import { openInside } from '../guards/path-guard.ts'
import { doesNothing } from './empty-script.ts'
import { listFiles } from './file-listing.ts'

/** The names by which runners find files with tests without being told of them. */
const TEST_FILE =
  /(?:^|\/)(?:test|test-[^/]*|[^/]*[._-](?:test|spec))\.[cm]?[jt]sx?$|(?:^|\/)(?:tests?|__tests__|specs?)\/.*\.[cm]?[jt]sx?$/

/** A longer one is taken for one that does something. */
const SCRIPT_BYTES_MAX = 262_144

/**
 * Says which names of tests are those of files that do nothing, which a runner may have run all the
 * same. Files are looked for in the command's own folder and, since a command may go to any folder,
 * elsewhere if they have the name of a file with tests; all that have it must do nothing then. Of
 * what cannot be read nothing is said. Never throws.
 */
export async function findEmptyFiles(
  workspace: string,
  cwd: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  if (names.length === 0) return found
  const elsewhere: string[] = []
  for (const name of names) {
    const path = isAbsolute(name) ? normalize(name) : join(workspace, cwd, name)
    const isEmpty = await isEmptyScript(workspace, path)
    if (isEmpty === true) found.add(name)
    const mayBeElsewhere = isEmpty === undefined && !isAbsolute(name)
    if (mayBeElsewhere && TEST_FILE.test(name)) elsewhere.push(name)
  }
  for (const [name, paths] of await findBelow(workspace, elsewhere)) {
    const areEmpty = await Promise.all(paths.map((path) => isEmptyScript(workspace, path)))
    if (areEmpty.every((isEmpty) => isEmpty === true)) found.add(name)
  }
  return found
}

/** Whether a file does nothing; undefined where there is none that lies inside and can be read. */
async function isEmptyScript(workspace: string, path: string): Promise<boolean | undefined> {
  try {
    // Most names are those of tests, and this is the cheapest way to know.
    const { size } = await stat(path)
    const file = await openInside(workspace, path, 'read')
    try {
      return size <= SCRIPT_BYTES_MAX && doesNothing(await file.readFile('utf8'))
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

/** The files that a name leads to from any folder. None where there are too many to see them all. */
async function findBelow(
  root: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const wanted = new Set(names)
  const found = new Map<string, string[]>()
  const files = wanted.size === 0 ? [] : await listFiles(root)
  for (const path of files ?? []) {
    const parts = path.split('/')
    for (const name of parts.map((_, at) => parts.slice(at).join('/'))) {
      if (wanted.has(name)) found.set(name, [...(found.get(name) ?? []), join(root, path)])
    }
  }
  return found
}
