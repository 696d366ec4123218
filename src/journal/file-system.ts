import { mkdirSync, statfsSync } from 'node:fs'
import { StateFolderError } from './state-folder-error.ts'

/** File systems that Linux reaches over a network, by the magic number that statfs gives. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9P',
  12805120: 'Ceph',
  1397703499: 'OCFS2',
  1397113167: 'AFS',
  198183888: 'Lustre',
  1196443219: 'GPFS',
}

/** Makes the state folder, for its owner alone. */
export function makeStateFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StateFolderError(
      `${folder} cannot be made (${code}). Choose a folder that you can write to with --state.`,
      { cause: error },
    )
  }
}

/** Refuses a folder on a network file system, where SQLite's locks and syncs cannot be relied on. */
export function refuseNetworkFileSystem(folder: string, statfs = statfsSync): void {
  if (process.platform !== 'linux') return
  const name = NETWORK_FILE_SYSTEMS[statfs(folder).type >>> 0]
  if (name === undefined) return
  throw new StateFolderError(
    `${folder} is on a network file system (${name}), where a crash can damage the journal. Choose a local folder with --state.`,
  )
}
