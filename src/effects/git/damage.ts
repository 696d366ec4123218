import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createInflate } from 'node:zlib'
import type { Git } from './git.ts'
import type { Repositories } from './repositories.ts'
import { inScratch } from './scratch.ts'

/**
 * Whether a commit, and its history since another one, can be read to the last byte. A pack is made
 * of them, since nothing quicker opens every object.
 */
export function isWhole(
  git: Git,
  repositories: Repositories,
  commit: string,
  since: string,
): Promise<boolean> {
  return inScratch(repositories, async (scratch) => {
    const config = ['-c', 'core.fsync=none', '-c', 'pack.compression=1']
    const args = ['pack-objects', '--revs', '--window=0', '--quiet', join(scratch, 'pack')]
    const options = { repository: repositories.work, stdin: `${commit}\n^${since}\n` }
    const { exitCode } = await git.run([...config, ...args], { ...options, accept: [0, 128] })
    return exitCode === 0
  })
}

/**
 * Moves objects of the work that cannot be read to where git does not look: it would not write an
 * object again that it believes to have. What can be read of a pack is taken out of it.
 */
export function putDamagedAway(git: Git, { work, turns }: Repositories): Promise<void> {
  return turns.take(['files'], async () => {
    const objects = join(work, 'objects')
    for (const folder of await readdir(objects)) {
      if (!/^[0-9a-f]{2}$/.test(folder)) continue
      for (const name of await readdir(join(objects, folder))) {
        const path = join(objects, folder, name)
        if (/^[0-9a-f]{38}$/.test(name) && !(await isReadable(path, folder + name))) {
          await putAway(work, path, folder + name)
        }
      }
    }
    for (const name of await readdir(join(objects, 'pack')).catch(() => [])) {
      if (name.endsWith('.pack')) await mendPack(git, work, name.slice(0, -'.pack'.length))
    }
  })
}

async function isReadable(path: string, id: string): Promise<boolean> {
  const hash = createHash('sha1')
  try {
    await pipeline(createReadStream(path), createInflate(), hash)
    return hash.digest('hex') === id
  } catch {
    return false
  }
}

async function putAway(work: string, path: string, name: string): Promise<string> {
  const place = join(work, 'damaged', name)
  await mkdir(join(work, 'damaged'), { recursive: true, mode: 0o700 })
  await rename(path, place)
  return place
}

async function mendPack(git: Git, repository: string, name: string): Promise<void> {
  const path = join(repository, 'objects', 'pack', name)
  const { exitCode } = await git.run(['verify-pack', `${path}.idx`], {
    repository,
    accept: [0, 1, 128],
  })
  if (exitCode === 0) return
  const pack = await readFile(`${path}.pack`)
  // Every file of it but the pack first: git finds a pack by its index.
  for (const end of ['idx', 'rev', 'bitmap', 'pack']) {
    if (existsSync(`${path}.${end}`)) await putAway(repository, `${path}.${end}`, `${name}.${end}`)
  }
  const args = ['unpack-objects', '-r', '-q']
  await git.run(args, { repository, stdin: pack, accept: [0, 1, 128] })
}

/** Whether a repository says anything about a ref, be it nonsense. */
export async function hasRef(repository: string, ref: string): Promise<boolean> {
  if (existsSync(join(repository, ref))) return true
  const packed = await readFile(join(repository, 'packed-refs'), 'utf8').catch(() => '')
  return packed.includes(` ${ref}\n`)
}

/** Removes the file of a ref that is no commit's name: git would refuse to change it for ever. */
export async function removeNonsense(repository: string, ref: string): Promise<void> {
  const path = join(repository, ref)
  const text = await readFile(path, 'latin1').catch(() => undefined)
  if (text !== undefined && !/^[0-9a-f]{40}\s*$/.test(text)) await rm(path, { force: true })
}

/**
 * Removes what a killed git leaves: its locks, and objects and packs that it had not finished. Only
 * for when no git runs: at the start, behind the writer lock.
 */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.name === 'objects') await removeHalfObjects(path)
    else if (entry.isDirectory()) await removeLeftovers(path)
    else if (entry.name.endsWith('.lock')) await rm(path, { force: true })
  }
}

const HALF = /^(?:tmp_|\.tmp-)/

async function removeHalfObjects(objects: string): Promise<void> {
  for (const name of await readdir(objects)) {
    const path = join(objects, name)
    if (HALF.test(name)) await rm(path, { recursive: true, force: true })
    else if (/^(?:pack|[0-9a-f]{2})$/.test(name)) {
      const half = (await readdir(path)).filter((below) => HALF.test(below))
      for (const below of half) await rm(join(path, below), { recursive: true, force: true })
    }
  }
}
