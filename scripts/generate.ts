/** Writes the generated documents, and records the hash of tables that are not published yet. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { MACHINES } from '../src/machines/catalog.ts'
import { generatedFiles, MACHINE_DOCUMENTS } from './generated-files.ts'
import { fingerprint, PUBLISHED_FILE, readPublished } from './published-tables.ts'

rmSync(MACHINE_DOCUMENTS, { recursive: true, force: true })
mkdirSync(MACHINE_DOCUMENTS, { recursive: true })
for (const [path, content] of generatedFiles()) writeFileSync(path, content)

const published = readPublished()
for (const machine of MACHINES) published[machine.name] ??= fingerprint(machine)
writeFileSync(PUBLISHED_FILE, `${JSON.stringify(published, null, 2)}\n`)
