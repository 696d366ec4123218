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
  const file = join(FOLDER, 'chunks', `${path.replace(/^.*\//, '').replace(/\.ts$/, '')}.mjs`)
  mkdirSync(FOLDER, { recursive: true })
  execFileSync('node_modules/.bin/rolldown', [
    path,
    '--platform=node',
    '--external=@photostructure/sqlite',
    '--no-codeSplitting',
    `--file=${file}`,
  ])
  // The files that are read at run time lie where the product has them.
  cpSync('src/journal/sqlite/migrations', join(FOLDER, 'chunks/migrations'), { recursive: true })
  cpSync('src/effects/prompts', join(FOLDER, 'prompts'), {
    recursive: true,
    filter: (path) => !path.endsWith('.ts'),
  })
  return file
}
