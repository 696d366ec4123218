import { openSqliteJournalReader } from '../../journal/sqlite/sqlite-journal.ts'
import { type Control, connectControl } from '../engine/control.ts'
import { EngineGoneError } from '../engine/engine-error.ts'
import { findPlace, type StateOptions } from '../state-folder.ts'
import { UsageError } from '../usage-error.ts'
import { journalSource, type RunSource } from './run-source.ts'
import { findTask } from './task-status.ts'

/** A run that somebody asked about, and where to look at it. */
export interface ChosenRun {
  readonly source: RunSource
  readonly run: string
  close(): Promise<void>
}

/** Opens what a command looks at: the engine where one runs, else the journal as it is. */
export async function openSource(
  options: StateOptions,
): Promise<{ readonly source: RunSource; close(): Promise<void> }> {
  const { stateFolder } = findPlace(options)
  const control = await connectControl(stateFolder)
  if (control !== undefined) {
    return { source: outliving(control, stateFolder), close: async () => {} }
  }
  const journal = await openSqliteJournalReader(stateFolder)
  return { source: journalSource(journal), close: () => journal.close() }
}

/** Looks at the engine, and at the journal itself from when it ends: it may do so at any time. */
function outliving(control: Control, stateFolder: string): RunSource {
  async function look<T>(at: (source: RunSource) => Promise<T>): Promise<T> {
    try {
      return await at(control)
    } catch (error) {
      if (!(error instanceof EngineGoneError)) throw error
      const journal = await openSqliteJournalReader(stateFolder)
      return at(journalSource(journal)).finally(() => journal.close())
    }
  }
  return {
    runs: () => look((source) => source.runs()),
    agents: (run) => look((source) => source.agents(run)),
    effects: (run) => look((source) => source.effects(run)),
    lastMs: (run) => look((source) => source.lastMs(run)),
    rows: (run, afterSeq, limit) => look((source) => source.rows(run, afterSeq, limit)),
  }
}

/** The run of that name; without a name the newest. */
export async function chooseRun(
  name: string | undefined,
  options: StateOptions,
): Promise<ChosenRun> {
  const { source, close } = await openSource(options)
  try {
    return { source, run: await findRun(source, name), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The name of a run that there is; without a name the newest's. */
export async function findRun(source: RunSource, name: string | undefined): Promise<string> {
  const runs = await source.runs()
  const found = name === undefined ? runs.at(-1) : runs.find(({ id }) => id === name)
  if (found !== undefined) return found.id
  const known = runs.length === 0 ? 'none' : runs.map(({ id }) => id).join(', ')
  throw new UsageError(
    name === undefined
      ? 'There is no run yet. slipway run <spec> starts one.'
      : `There is no run ${JSON.stringify(name)}. There are: ${known}.`,
  )
}

/** The task of that name; without a name the newest. */
export async function chooseTask(
  name: string | undefined,
  options: StateOptions,
): Promise<ChosenRun> {
  if (name !== undefined) return chooseRun(name, options)
  const { source, close } = await openSource(options)
  for (const { id } of (await source.runs()).toReversed()) {
    if (findTask(await source.agents(id)) !== undefined) return { source, run: id, close }
  }
  await close()
  throw new UsageError('There is no task yet. slipway task "…" starts one.')
}
