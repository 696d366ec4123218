import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { describeHere } from './here.ts'

describeHere('none', openUnconfined)

/** Closes a folder, as Go does with its modules, and makes one that no path is long enough for. */
const LEAVE_BEHIND = `
mkdir -p "$TMPDIR/closed" && touch "$TMPDIR/closed/file" && chmod 555 "$TMPDIR/closed"
cd "$TMPDIR" && name=$(printf %0200d 0)
for _ in $(seq 30); do mkdir "$name" && cd -P "$name"; done
`

test('nothing that a command leaves in its home stays after it, and closing does not fail', async () => {
  const stateFolder = mkdtempSync(join(tmpdir(), 'slipway-unconfined-'))
  const workspace = join(stateFolder, 'workspace')
  mkdirSync(workspace)
  const processes = openProcesses(stateFolder)
  const isolation = await openUnconfined(processes, { stateFolder })
  const sandbox = await isolation.open({ workspace, access: 'write' })
  const argv = ['bash', '-c', LEAVE_BEHIND] as const
  const ended = await sandbox.run({ argv, timeoutMs: 20_000, outputBytesMax: 10_000 })
  expect(ended).toMatchObject({ how: 'exited', exitCode: 0 })
  await sandbox.close()
  expect(readdirSync(join(stateFolder, 'sandbox'))).toEqual([])
  await processes.close()
  rmSync(stateFolder, { recursive: true })
})
