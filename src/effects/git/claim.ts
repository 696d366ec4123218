import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/**
 * Says again what git does in a repository of ours, whatever the disk says: a state folder may have
 * come with a repository, or a model without a sandbox may have been there. What is known to be the
 * same in each comes back, and the answer says what of it was damaged.
 */
export async function claim(
  repository: string,
  fresh: string,
  alternates: string | undefined,
): Promise<readonly string[]> {
  for (const name of ['hooks', 'info', 'commondir', 'config.worktree', 'shallow']) {
    await rm(join(repository, name), { recursive: true, force: true })
  }
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']) {
    await mkdir(join(repository, name), { recursive: true, mode: 0o700 })
  }
  await cp(join(fresh, 'info'), join(repository, 'info'), { recursive: true })
  await copyFile(join(fresh, 'config'), join(repository, 'config'))
  const head = await readFile(join(fresh, 'HEAD'), 'latin1')
  const damaged = [
    ...(await restore(repository, 'HEAD', head)),
    ...(await restore(repository, 'objects/info/alternates', alternates)),
  ]
  const name = basename(repository)
  return [
    ...damaged.map((file) => `${file} of ${name} was damaged, and is as it was`),
    ...(await mendPackedRefs(repository)),
  ]
}

/** Has a small file be as it must be; its name, when it was not. */
async function restore(
  repository: string,
  name: string,
  content: string | undefined,
): Promise<readonly string[]> {
  const path = join(repository, name)
  const before = await readFile(path, 'latin1').catch(() => undefined)
  if (before === content) return []
  await rm(path, { recursive: true, force: true })
  if (content !== undefined) {
    await writeFile(`${path}.new`, content, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }
  return [name]
}

// The characters are bytes: what JavaScript takes for a blank is half a letter in many languages.
// biome-ignore lint/suspicious/noControlCharactersInRegex: git takes none of them in a name.
const REF = /^([0-9a-f]{40}) (refs\/[^\x00-\x20\x7f~^:?*[\\]+)$/

/** Where the refs were when they were last packed; see `packing.ts`. */
export const PACKED_REFS_COPY = 'packed-refs.copy'

/**
 * Drops lines of packed refs that are none: for one of them, git reads no ref at all. What they said
 * comes back from the copy, which may name refs that are gone since; whoever finds them puts them
 * away once more.
 */
async function mendPackedRefs(repository: string): Promise<readonly string[]> {
  const path = join(repository, 'packed-refs')
  const text = await readFile(path, 'latin1').catch(() => undefined)
  const copy = await readFile(join(repository, PACKED_REFS_COPY), 'latin1').catch(() => undefined)
  if (text === undefined && copy === undefined) return []
  const { refs, isSound } = parseRefs(text ?? '')
  if (text !== undefined && isSound) return []
  const all = new Map([...parseRefs(copy ?? '').refs, ...refs])
  const place = await keepDamaged(repository, path)
  const lines = [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([ref, id]) => `${id} ${ref}\n`)
  await writeFile(`${path}.new`, `# pack-refs with: sorted \n${lines.join('')}`, 'latin1')
  await rename(`${path}.new`, path)
  const source = copy === undefined ? 'there was no copy of it, and refs may be missing' : 'mended'
  const kept = place === undefined ? 'was gone' : `was damaged and is kept as ${place}`
  return [`packed-refs of ${basename(repository)} ${kept}; ${source}`]
}

function parseRefs(text: string): { refs: ReadonlyMap<string, string>; isSound: boolean } {
  const refs = new Map<string, string>()
  const lines = text.split('\n')
  // What no line end ends was cut off, however whole it looks.
  let isSound = lines.pop() === '' && text !== ''
  for (const line of lines) {
    const [, id, ref] = REF.exec(line) ?? []
    if (id !== undefined && ref !== undefined && isName(ref)) refs.set(ref, id)
    else if (!/^(?:#.*|\^[0-9a-f]{40})$/.test(line)) isSound = false
  }
  return { refs, isSound }
}

const isName = (ref: string) => !/\.\.|\/\/|@\{|\.lock(?:\/|$)|\/\.|[/.]$/.test(ref)

/**
 * Copies a damaged file to a name of its own; undefined when there is none. It stays where it is
 * until another takes its place, since without it nobody would look for what it said.
 */
async function keepDamaged(repository: string, path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined
  await mkdir(join(repository, 'damaged'), { recursive: true, mode: 0o700 })
  for (let i = 1; ; i += 1) {
    const place = join(repository, 'damaged', `${basename(path)}-${i}`)
    if (existsSync(place)) continue
    await copyFile(path, place)
    return place
  }
}
