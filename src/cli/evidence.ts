import { EXIT_CODE } from './exit-code.ts'
import type { StateOptions } from './state-folder.ts'
import { UsageError } from './usage-error.ts'
import { gatherEvidence } from './view/evidence.ts'
import { evidenceFor } from './view/evidence-output.ts'
import { chooseRun } from './view/open-source.ts'
import { findTask } from './view/task-status.ts'

export interface EvidenceOptions extends StateOptions {
  readonly json?: true
  readonly html?: true
}

/** `slipway evidence [run]`: criterion by criterion, what shows that it holds. */
export async function evidence(
  name: string | undefined,
  options: EvidenceOptions,
): Promise<number> {
  const { source, run, close } = await chooseRun(name, options)
  try {
    if (findTask(await source.agents(run)) !== undefined) {
      throw new UsageError(`${run} is a task: slipway task report ${run} says how it was done.`)
    }
    const form = options.json ? 'json' : options.html ? 'html' : 'markdown'
    process.stdout.write(await evidenceFor(source, run, form))
    const { isComplete } = await gatherEvidence(source, run)
    return isComplete ? EXIT_CODE.done : EXIT_CODE.failed
  } finally {
    await close()
  }
}
