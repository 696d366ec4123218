import { IsolationError, WAYS_OUT } from '../../effects/sandbox/choose-isolation.ts'
import type { Isolation } from '../../effects/sandbox/sandbox.ts'
import type { RunRecord } from '../../runtime/records.ts'
import { readView } from '../view/read-view.ts'
import { isRunOver } from '../view/run-end.ts'
import type { RunSource } from '../view/run-source.ts'

/** What is known of how an engine keeps commands apart. */
type Known = Pick<Isolation, 'level' | 'shortfall'>

/** Says in one line that nothing is confined, and why; null where commands are confined. */
export function unconfinedNote({ level, shortfall }: Known): string | null {
  if (level !== 'none') return null
  const why = shortfall ?? 'isolation.level is none'
  return `Nothing is confined (${why.replace(/\s+/g, ' ')}): commands that a model wrote run as you.`
}

/**
 * Refuses to go on unconfined with a run that began confined, unless the user says so: a restart
 * must not open what its start closed. Without a name it is about those that go on by themselves.
 */
export async function requireIsolationOfRuns(
  source: RunSource,
  { shortfall }: Known,
  name?: string,
): Promise<void> {
  if (shortfall === undefined) return
  const isMeant = ({ id, status }: RunRecord) =>
    name === undefined ? status === 'running' : id === name
  for (const { id, config } of (await source.runs()).filter(isMeant)) {
    const before = config.isolation ?? 'none'
    if (before === 'none') continue
    // One that is over and is named is taken up again.
    if (name === undefined && isRunOver(await readView(source, id))) continue
    throw new IsolationError(
      `${id} began with its commands confined (${before}), and here nothing would confine them (${shortfall})`,
      WAYS_OUT,
    )
  }
}
