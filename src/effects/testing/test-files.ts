import { readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, normalize } from 'node:path'
import { isWithin } from '../sandbox/workspace-path.ts'

/** The names by which runners find files with tests without being told of them. */
const TEST_FILE =
  /(?:^|\/)(?:test|test-[^/]*|[^/]*[._-](?:test|spec))\.[cm]?[jt]sx?$|(?:^|\/)(?:tests?|__tests__|specs?)\/.*\.[cm]?[jt]sx?$/

const ENTRIES_MAX = 20_000
const SKIPPED = ['node_modules', '.git']
const LISTING = { withFileTypes: true } as const

/**
 * Says which names of tests are those of files that a runner may have run. What has the name of a
 * file in the command's own folder is one, whatever its name: whether a test was called like it by
 * chance, nobody can tell. Elsewhere it is one if it also looks like a file with tests, since a
 * command may go to any folder. Never throws.
 */
export async function findTestFiles(
  workspace: string,
  cwd: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set()
  const real = await realpath(workspace).catch(() => workspace)
  const isOurs = (path: string) => [workspace, real].some((folder) => isWithin(folder, path))
  const isFile = async (name: string) => {
    const path = isAbsolute(name) ? normalize(name) : join(workspace, cwd, name)
    if (!isOurs(path) || path.includes('\0')) return false
    return stat(path).then(
      (status) => status.isFile(),
      () => false,
    )
  }
  const here = await Promise.all(names.map(isFile))
  const found = new Set(names.filter((_, at) => here[at]))
  const others = names.filter((name) => !found.has(name) && TEST_FILE.test(name))
  // Node 20 gives whole paths, also of what was built somewhere and is gone.
  for (const name of others) if (isAbsolute(name)) found.add(name)
  const elsewhere = others.filter((name) => !isAbsolute(name))
  for (const name of await findBelow(workspace, elsewhere)) found.add(name)
  return found
}

/** Which of the names lead to a file from any folder; all of them where there are too many to see. */
async function findBelow(root: string, names: readonly string[]): Promise<Iterable<string>> {
  const wanted = new Set(names)
  if (wanted.size === 0) return []
  const found = new Set<string>()
  const waiting = ['']
  let entries = 0
  for (const folder of waiting) {
    for (const entry of await readdir(join(root, folder), LISTING).catch(() => [])) {
      entries += 1
      if (entries > ENTRIES_MAX) return names
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory() && !SKIPPED.includes(entry.name)) waiting.push(path)
      if (!entry.isFile()) continue
      for (let at = 0; at >= 0; at = path.indexOf('/', at + 1)) {
        if (wanted.has(path.slice(at + 1))) found.add(path.slice(at + 1))
      }
    }
  }
  return found
}
