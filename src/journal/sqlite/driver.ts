/** The part of `node:sqlite` that we use; both drivers have it. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint }
  get(...values: SqlValue[]): Record<string, SqlValue> | undefined
  all(...values: SqlValue[]): Record<string, SqlValue>[]
}

export type SqlValue = null | number | bigint | string | Uint8Array

interface Driver {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => Database
}

/** Opens a database with Node's own SQLite, or on a Node without it with a prebuilt one. */
export async function openDatabase(path: string, readOnly = false): Promise<Database> {
  const { DatabaseSync } = builtInDriver() ?? (await packagedDriver())
  return new DatabaseSync(path, { readOnly })
}

function builtInDriver(): Driver | undefined {
  const { emitWarning } = process
  // Loading it warns that it is experimental; what we use of it has not changed since Node 22.5.
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:sqlite') as unknown as Driver | undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

async function packagedDriver(): Promise<Driver> {
  return (await import('@photostructure/sqlite')) as unknown as Driver
}
