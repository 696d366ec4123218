import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openProcesses, type Processes } from '../../src/effects/process/processes.ts'
import { chooseIsolation } from '../../src/effects/sandbox/choose-isolation.ts'

let stateFolder: string
let processes: Processes

beforeEach(() => {
  stateFolder = mkdtempSync(join(tmpdir(), 'slipway-choice-'))
  processes = openProcesses(stateFolder)
})

afterEach(async () => {
  await processes.close()
  rmSync(stateFolder, { recursive: true })
})

test('what fails for a moment is tried again, and nothing weaker is chosen', async () => {
  const [bin, failed] = [join(stateFolder, 'bin'), join(stateFolder, 'failed')]
  for (const folder of [bin, failed]) mkdirSync(folder)
  const script = `#!/bin/sh
if [ "$1" != --help ] && [ $(ls ${failed} | wc -l) -lt 3 ]; then touch ${failed}/$$; exit 1; fi
PATH=\${PATH#*:} exec bwrap "$@"
`
  writeFileSync(join(bin, 'bwrap'), script, { mode: 0o755 })
  const run: Processes['run'] = (command, by) =>
    processes.run({ ...command, env: { ...command.env, PATH: `${bin}:${command.env.PATH}` } }, by)
  const chosen = await chooseIsolation({ ...processes, run }, { stateFolder })
  expect(chosen).toMatchObject({ level: 'bubblewrap', passedOver: [] })
  expect(readdirSync(failed)).toHaveLength(3)
})
