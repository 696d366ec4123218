import type { PmWork } from '../../agents/team/pm-case.ts'
import { UsageError } from '../usage-error.ts'
import { readView } from '../view/read-view.ts'
import { isRunOver } from '../view/run-end.ts'
import type { RunSource } from '../view/run-source.ts'
import type { NewRun } from './configured-team.ts'
import { wordsOf } from './task.ts'

/**
 * Refuses a spec that a run is at already, for the same branch. One that is stopped is nobody's
 * work, and two who ask for an interview may want different things. Documents are stored without
 * secrets, so this one is to be without them too.
 */
export async function refuseSameSpec(
  source: RunSource,
  { id, document, target, isWish }: NewRun,
): Promise<void> {
  if (isWish) return
  const others = (await source.runs()).filter((run) => run.id !== id && run.status !== 'stopped')
  for (const other of others) {
    const works = await sameIn(source, other.id, document)
    const isSame = works.some(({ brought }) => brought.settings.target === target)
    if (!isSame || isRunOver(await readView(source, other.id))) continue
    const how = other.status === 'paused' ? 'resume' : 'watch'
    const what = how === 'resume' ? 'goes on with it' : 'shows it'
    throw new UsageError(
      `This spec is under way as ${other.id}. slipway ${how} ${other.id} ${what}, slipway stop ${other.id} ends it.`,
    )
  }
}

/**
 * Refuses a further spec for a task, which has no team, and for a run that rests, or that is at it
 * already. One that was given up may come again.
 */
export async function refuseSpecOf(
  source: RunSource,
  { id, document, isWish }: Omit<NewRun, 'target'>,
): Promise<void> {
  const view = await readView(source, id)
  const { status, task } = view
  if (task !== null) {
    throw new UsageError(`${id} is a task. slipway task --follow-up ${id} "…" has more done to it.`)
  }
  if (status === 'paused' || status === 'stopped') {
    throw new UsageError(`The run ${id} is ${status}. slipway resume ${id} has it go on first.`)
  }
  if (isWish || isRunOver(view)) return
  const works = await sameIn(source, id, document)
  if (works.every(({ failure }) => failure)) return
  throw new UsageError(`The run ${id} is at this spec already. slipway watch ${id} shows it.`)
}

/** The product managers of a run who were brought that spec. */
async function sameIn(
  source: RunSource,
  run: string,
  document: string,
): Promise<readonly PmWork[]> {
  const pms = (await source.agents(run)).filter(({ role }) => role === 'pm')
  return pms
    .map(({ data }) => data as unknown as PmWork)
    .filter(({ brought }: Partial<PmWork>) => {
      if (brought === undefined || brought.isWish) return false
      return wordsOf(brought.document) === wordsOf(document)
    })
}
