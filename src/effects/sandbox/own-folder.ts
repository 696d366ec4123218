import { createHash, randomBytes } from 'node:crypto'
import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realFolder } from '../process/real-folder.ts'
import { removeFolder } from '../workspace/removal.ts'

/** In the names of what this process makes for a while; its number may have been another's before. */
export const PROCESS_NAME = randomBytes(6).toString('hex')

const TEMPORARY = /^(?:home|proxy|trial)-([0-9a-f]{12})-/

/** The sandboxes' own folder in a state folder, without what an earlier process has left in it. */
export async function prepareOwnFolder(stateFolder: string): Promise<string> {
  const folder = join(realFolder(stateFolder), 'sandbox')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await removeLeft(folder, TEMPORARY)
  await removeLeft(tmpdir(), new RegExp(`^${shortPrefix(folder)}([0-9a-f]{12})-`))
  return folder
}

/** Removes what other processes have left: only one works with a state folder at a time. */
async function removeLeft(folder: string, pattern: RegExp): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = pattern.exec(name)?.[1]
    if (owner === undefined || owner === PROCESS_NAME) continue
    const path = join(folder, name)
    if (await isOwnFolder(path)) await removeTemporary(path)
  }
}

/**
 * Whether this user made a folder. Where everybody may put something, a link or a folder of another
 * user's may have such a name, and what it leads to would be removed.
 */
async function isOwnFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found?.isDirectory() === true && found.uid === process.getuid?.()
}

/** In the machine's folder for temporary files, what belongs to a state folder is known by this. */
function shortPrefix(folder: string): string {
  return `slipway-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}-`
}

/** A new folder that the next process removes if this one does not. */
export function makeTemporary(folder: string, kind: 'home' | 'proxy' | 'trial'): Promise<string> {
  return mkdtemp(join(folder, `${kind}-${PROCESS_NAME}-`))
}

/** The same where the path of the folder is too long for what is to be in it. */
export function makeTemporaryElsewhere(folder: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `${shortPrefix(folder)}${PROCESS_NAME}-`))
}

/** Removes such a folder, whatever a command has put into it. What cannot be removed stays. */
export async function removeTemporary(folder: string): Promise<void> {
  // Hardly ever is anything closed in it, and to look for that takes longer.
  await rm(folder, { recursive: true, force: true }).catch(() =>
    removeFolder(folder).catch(() => {}),
  )
}
