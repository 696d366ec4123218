import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** In the names of what this process makes for a while; its number may have been another's before. */
export const PROCESS_NAME = randomBytes(6).toString('hex')

const TEMPORARY = /^(?:home|proxy|trial)-([0-9a-f]{12})-/

/** The sandboxes' own folder in a state folder, without what an earlier process has left in it. */
export async function prepareOwnFolder(stateFolder: string): Promise<string> {
  const folder = join(stateFolder, 'sandbox')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) {
    const owner = TEMPORARY.exec(name)?.[1]
    if (owner === undefined || owner === PROCESS_NAME) continue
    await rm(join(folder, name), { recursive: true, force: true })
  }
  return folder
}

/** A new folder that the next process removes if this one does not. */
export function makeTemporary(folder: string, kind: 'home' | 'proxy' | 'trial'): Promise<string> {
  return mkdtemp(join(folder, `${kind}-${PROCESS_NAME}-`))
}
