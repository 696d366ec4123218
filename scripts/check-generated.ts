/** Fails when a generated document is stale, or a published table has changed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { MACHINES } from '../src/machines/catalog.ts'
import { generatedFiles, MACHINE_DOCUMENTS } from './generated-files.ts'
import { fingerprint, PUBLISHED_FILE, readPublished } from './published-tables.ts'

const problems: string[] = []

const expected = generatedFiles()
for (const [path, content] of expected) {
  const current = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  if (current !== content) problems.push(`${path} is stale: run \`npm run generate\``)
}
for (const name of readdirSync(MACHINE_DOCUMENTS)) {
  const path = `${MACHINE_DOCUMENTS}/${name}`
  if (!expected.has(path)) problems.push(`${path} is no document of a machine: remove it`)
}

const published = readPublished()
for (const machine of MACHINES) {
  const recorded = published[machine.name]
  if (recorded === undefined) {
    problems.push(`${machine.name} is not in ${PUBLISHED_FILE}: run \`npm run generate\``)
  } else if (recorded !== fingerprint(machine)) {
    problems.push(`${machine.name} is published and its table changed: make a new revision instead`)
  }
}
for (const name of Object.keys(published)) {
  if (!MACHINES.some((machine) => machine.name === name)) {
    problems.push(`${name} is published and gone: agents may still run under it`)
  }
}

for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
