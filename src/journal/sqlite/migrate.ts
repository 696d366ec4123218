import { readdirSync, readFileSync } from 'node:fs'
import { StateFolderError } from '../state-folder-error.ts'
import type { Database } from './driver.ts'

const FOLDER = new URL('./migrations/', import.meta.url)

interface Migration {
  readonly number: number
  readonly file: string
}

/** Brings a database to this version's schema, and refuses one from a newer version. */
export function migrate(database: Database, path: string): void {
  const migrations = listMigrations()
  const current = refuseNewer(database, path, migrations)
  for (const { number, file } of migrations.filter((migration) => migration.number > current)) {
    const sql = readFileSync(new URL(file, FOLDER), 'utf8')
    database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${number}; COMMIT`)
  }
}

/** Refuses a database that is not of this version's schema, for a reader that cannot change it. */
export function requireSchema(database: Database, path: string): void {
  const migrations = listMigrations()
  if (refuseNewer(database, path, migrations) !== migrations.at(-1)?.number) throw outOfDate(path)
}

/** What is said of a database that only a writer can bring up to date. */
export function outOfDate(path: string): StateFolderError {
  return new StateFolderError(
    `${path} is empty or was written by an older version of slipway. Start a run in it once, which brings it up to date.`,
  )
}

function refuseNewer(database: Database, path: string, migrations: readonly Migration[]): number {
  const newest = migrations.at(-1)?.number ?? 0
  const current = schemaVersion(database)
  if (current <= newest) return current
  throw new StateFolderError(
    `${path} was written by a newer version of slipway (schema ${current}, this one knows ${newest}). Update slipway; nothing was changed.`,
  )
}

/** The schema of a database; 0 for an empty one. */
function schemaVersion(database: Database): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0)
}

function listMigrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => ({ number: Number.parseInt(file, 10), file }))
    .sort((a, b) => a.number - b.number)
}
