import { createRequire } from 'node:module'
import { show } from '../../scripts/shell.ts'

const require = createRequire(import.meta.url)

/**
 * Compiles better-sqlite3 unless its binary is there: it ships none, and the peers are installed
 * without running their scripts. This script alone is let run, only for the benchmark that needs
 * it, and nothing of the product does.
 */
export async function buildBetterSqlite3(): Promise<void> {
  if (isBuilt()) return
  process.stderr.write('compiling better-sqlite3, which takes some minutes once\n')
  const build = ['rebuild', 'better-sqlite3', '--ignore-scripts=false', '--prefix', 'bench']
  const exitCode = await show('npm', build, 'stderr')
  if (exitCode === 0 && isBuilt()) return
  throw new Error(
    'better-sqlite3, which the LangGraph checkpointer needs, could not be compiled. It takes Python 3, make and a C++ compiler; see the output of npm rebuild above.',
  )
}

function isBuilt(): boolean {
  try {
    const Database = require('better-sqlite3')
    new Database(':memory:').close()
    return true
  } catch {
    return false
  }
}
