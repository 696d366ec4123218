import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = 'node_modules/.cache/slipway-bench'

/**
 * Bundles a file with what it imports of the product, the way the product itself is built, and
 * gives the path of the result. tsx renames every closure when it is made, which a user's
 * process does not do.
 */
export function bundle(entry: URL): string {
  const path = fileURLToPath(entry)
  const file = join(FOLDER, `${path.replace(/^.*\//, '').replace(/\.ts$/, '')}.mjs`)
  mkdirSync(FOLDER, { recursive: true })
  execFileSync('node_modules/.bin/rolldown', [
    path,
    '--platform=node',
    '--external=@photostructure/sqlite',
    `--file=${file}`,
  ])
  cpSync('src/journal/sqlite/migrations', join(FOLDER, 'migrations'), { recursive: true })
  return file
}
