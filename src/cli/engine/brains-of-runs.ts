import type { Mind } from '../../agents/thinking/assignment.ts'
import type { RunRecord } from '../../runtime/records.ts'
import { UsageError } from '../usage-error.ts'
import { readView } from '../view/read-view.ts'
import { isRunOver } from '../view/run-end.ts'
import type { RunSource } from '../view/run-source.ts'

/**
 * Refuses to go on with a run that thinks with brains which are not there: each of its turns would
 * fail, and its stories would lose their attempts. Without a name it is about those that go on by
 * themselves.
 */
export async function requireBrainsOfRuns(
  source: RunSource,
  brains: readonly string[],
  name?: string,
): Promise<void> {
  const isMeant = ({ id, status }: RunRecord) =>
    name === undefined ? status === 'running' : id === name
  for (const run of (await source.runs()).filter(isMeant)) {
    const missing = brainsOf(run).filter((name) => !brains.includes(name))
    if (missing.length === 0 || isRunOver(await readView(source, run.id))) continue
    throw new UsageError(
      `The run ${run.id} is not over, and thinks with what is not there: ${missing.join(', ')}. For another run, name another state folder with --state.`,
    )
  }
}

function brainsOf({ config }: RunRecord): readonly string[] {
  const settings = config.settings as { minds?: Readonly<Record<string, Mind>> } | undefined
  return [...new Set(Object.values(settings?.minds ?? {}).map(({ brain }) => brain))]
}
