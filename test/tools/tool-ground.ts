import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { openOutputFiles } from '../../src/effects/tools/output-files.ts'
import type { ToolContext } from '../../src/effects/tools/tool.ts'

/** Where tools work in a test. */
export interface ToolGround {
  /** What lies around the workspace. */
  readonly scratch: string
  readonly workspace: string
  readonly context: ToolContext
  close(): Promise<void>
}

/** An empty workspace without a sandbox, and a place for long output. */
export async function openToolGround(access: 'read' | 'write'): Promise<ToolGround> {
  const scratch = mkdtempSync(join(tmpdir(), 'slipway-tools-'))
  const workspace = join(scratch, 'workspace')
  mkdirSync(workspace)
  const processes = openProcesses(scratch)
  const isolation = await openUnconfined(processes, { stateFolder: join(scratch, 'state') })
  const sandbox = await isolation.open({ workspace, access })
  const outputs = openOutputFiles(join(scratch, 'outputs'))
  return {
    scratch,
    workspace,
    context: { workspace, sandbox, outputs, signal: new AbortController().signal },
    async close() {
      await processes.close()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}
