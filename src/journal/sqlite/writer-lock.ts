import { chmodSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { writeOwnFile } from '../file-system.ts'
import { StateFolderInUseError } from '../state-folder-error.ts'
import { type Database, openDatabase } from './driver.ts'

const SQLITE_BUSY = 5

/** The right to write to a state folder. The system takes it back when the process dies, however. */
export interface WriterLock {
  release(): void
}

/**
 * Takes the only writer's lock of a state folder, or fails naming the holder. The lock is SQLite's
 * own file lock on a database of its own, because Node has none and a file with a process id in it
 * outlives its process.
 */
export async function takeWriterLock(folder: string): Promise<WriterLock> {
  const holderFile = join(folder, 'writer.json')
  let database: Database | undefined
  try {
    const lockFile = join(folder, 'writer.lock')
    // Never opened by hand: closing any descriptor of a file gives up all locks of the process on it.
    database = await openDatabase(lockFile)
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
    chmodSync(lockFile, 0o600)
    const holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() }
    writeOwnFile(holderFile, `${JSON.stringify(holder)}\n`)
  } catch (error) {
    database?.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    throw new StateFolderInUseError(
      `${folder} is in use by ${describeHolder(holderFile)}, or use another state folder.`,
    )
  }
  return { release: () => database.close() }
}

/** Who it is, and what to do about it. */
function describeHolder(holderFile: string): string {
  try {
    const { pid, host, since } = JSON.parse(readFileSync(holderFile, 'utf8'))
    // An engine whose socket was removed answers nobody, and ends in peace all the same.
    const how = host === hostname() ? ` (kill ${pid}; nothing of it is lost)` : ''
    return `process ${pid} on ${host} since ${since}. Stop that process${how}`
  } catch {
    return 'another process. Stop that process'
  }
}
