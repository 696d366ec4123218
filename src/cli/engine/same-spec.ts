import type { PmWork } from '../../agents/team/pm-case.ts'
import { UsageError } from '../usage-error.ts'
import { readView } from '../view/read-view.ts'
import { isRunOver } from '../view/run-end.ts'
import type { RunSource } from '../view/run-source.ts'
import type { NewRun } from './configured-team.ts'
import { wordsOf } from './task.ts'

/**
 * Refuses a spec that a run is at already, for the same branch. One that is stopped is nobody's
 * work, and two who ask for an interview may want different things.
 */
export async function refuseSameSpec(
  source: RunSource,
  { id, document, target, isWish }: NewRun,
): Promise<void> {
  if (isWish) return
  const others = (await source.runs()).filter((run) => run.id !== id && run.status !== 'stopped')
  for (const other of others) {
    const pms = (await source.agents(other.id)).filter(({ role }) => role === 'pm')
    const isSame = pms.some(({ data }) => {
      const { brought } = data as unknown as Partial<PmWork>
      if (brought === undefined || brought.isWish || brought.settings.target !== target)
        return false
      return wordsOf(brought.document) === wordsOf(document)
    })
    if (!isSame || isRunOver(await readView(source, other.id))) continue
    const how = other.status === 'paused' ? 'resume' : 'watch'
    const what = how === 'resume' ? 'goes on with it' : 'shows it'
    throw new UsageError(
      `This spec is under way as ${other.id}. slipway ${how} ${other.id} ${what}, slipway stop ${other.id} ends it.`,
    )
  }
}
