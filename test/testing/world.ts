import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AgentId, BlobRef, EffectId, Json } from '../../src/agents/values.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import {
  type RunTestsInput,
  type RunTestsValue,
  runTestsHandler,
} from '../../src/effects/testing/run-tests-handler.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'

/** Repositories in a folder of their own, and the handler of `run_tests` with real processes. */
export async function openWorld(level: 'none' | 'bubblewrap') {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-testing-'))
  const stateFolder = join(folder, 'state')
  const processes = openProcesses(stateFolder)
  const blobs = openBlobFiles(join(stateFolder, 'blobs'))
  const open = level === 'none' ? openUnconfined : openBubblewrap
  const isolation = await open(processes, { stateFolder })
  const openSandbox = (workspace: string) => isolation.open({ workspace, access: 'write' })
  let repositories = 0

  return {
    /** A new folder with these files; those with a shebang may be executed. */
    repository(files: Readonly<Record<string, string>>): string {
      repositories += 1
      const workspace = join(folder, `repository-${repositories}`)
      mkdirSync(workspace)
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(workspace, name)), { recursive: true })
        writeFileSync(join(workspace, name), text)
        if (text.startsWith('#!')) chmodSync(join(workspace, name), 0o755)
      }
      return workspace
    },

    /** The outcome of the effect; an error is thrown. */
    async runTests(
      input: RunTestsInput,
      { signal = new AbortController().signal, outputBytesMax = 1_000_000 } = {},
    ): Promise<RunTestsValue> {
      const parts = { openSandbox, timeoutMs: 60_000, outputBytesMax, secrets: [] }
      const effect = { id: 'a:1.0' as EffectId, agent: 'a' as AgentId, kind: 'run_tests' }
      const attempt = await runTestsHandler(parts).run(
        { ...effect, input: input as unknown as Json },
        { signal, blobs },
      )
      if (attempt.ok) return attempt.value as unknown as RunTestsValue
      throw new Error(`${attempt.error.code}: ${attempt.error.message}`)
    },

    /** The text of a blob. */
    async read(ref: BlobRef | null | undefined): Promise<string> {
      return ref ? Buffer.from(await blobs.get(ref)).toString() : ''
    },

    async close(): Promise<void> {
      await processes.close()
      rmSync(folder, { recursive: true })
    },
  }
}
