import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { StateFolderError } from '../state-folder-error.ts'

const SQLITE_READONLY = 8
const SQLITE_CANTOPEN = 14

/**
 * Whether a database could not be opened because nothing can be written beside it: SQLite keeps the
 * index of its log there, also to read, and does without only where a writer has made it.
 */
export function needsCopy(error: unknown, path: string): boolean {
  const { errcode = 0 } = error as { errcode?: number }
  if (![SQLITE_READONLY, SQLITE_CANTOPEN].includes(errcode & 0xff)) return false
  return isAllowed(path, constants.R_OK) && !isAllowed(dirname(path), constants.W_OK)
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Has a copy of a database opened. Its files lose their names then, and go when it is closed. */
export async function openCopy<T>(path: string, open: (copy: string) => Promise<T>): Promise<T> {
  const copy = makeCopy(path)
  try {
    return await open(copy)
  } finally {
    rmSync(dirname(copy), { recursive: true })
  }
}

function makeCopy(path: string): string {
  let folder: string | undefined
  try {
    folder = mkdtempSync(join(tmpdir(), 'slipway-journal-'))
    const copy = join(folder, basename(path))
    copyFileSync(path, copy)
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`)
    return copy
  } catch (error) {
    if (folder !== undefined) rmSync(folder, { recursive: true })
    const { code } = error as NodeJS.ErrnoException
    throw new StateFolderError(
      `${dirname(path)} is read-only, and its journal cannot be copied to ${tmpdir()} (${code}), to be read there. Name a folder with room for it in TMPDIR.`,
      { cause: error },
    )
  }
}
