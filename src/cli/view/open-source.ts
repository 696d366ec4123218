import { openSqliteJournalReader } from '../../journal/sqlite/sqlite-journal.ts'
import { NoJournalError } from '../../journal/state-folder-error.ts'
import { type Control, connectControl } from '../engine/control.ts'
import { EngineGoneError } from '../engine/engine-error.ts'
import { findPlace, type StateOptions } from '../state-folder.ts'
import { UsageError } from '../usage-error.ts'
import { journalSource, type RunSource } from './run-source.ts'
import { findTask } from './task-status.ts'

/** A run that somebody asked about, and where to look at it. */
export interface ChosenRun extends OpenSource {
  readonly run: string
}

interface OpenSource {
  readonly source: RunSource
  /** Whether an engine is there; without one nothing goes on. */
  readonly hasEngine: boolean
  close(): Promise<void>
}

const NO_RUN =
  'There is no run and no task yet. slipway run <spec> starts a run, slipway task <text> a task.'

/** Opens what a command looks at: the engine where one runs, else the journal as it is. */
export async function openSource(options: StateOptions): Promise<OpenSource> {
  const { stateFolder } = findPlace(options)
  const control = await connectControl(stateFolder)
  if (control !== undefined) {
    return { source: outliving(control, stateFolder), hasEngine: true, close: async () => {} }
  }
  const journal = await openSqliteJournalReader(stateFolder).catch((error) => {
    // A folder that was named may be the wrong one; the error says so.
    const isFirst = error instanceof NoJournalError && options.state === undefined
    throw isFirst ? new UsageError(NO_RUN) : error
  })
  return { source: journalSource(journal), hasEngine: false, close: () => journal.close() }
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
  const opened = await openSource(options)
  try {
    return { ...opened, run: await findRun(opened.source, name) }
  } catch (error) {
    await opened.close()
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
    name === undefined ? NO_RUN : `There is no run ${JSON.stringify(name)}. There are: ${known}.`,
  )
}

/** The task of that name; without a name the newest. */
export async function chooseTask(
  name: string | undefined,
  options: StateOptions,
): Promise<ChosenRun> {
  if (name !== undefined) return chooseRun(name, options)
  const opened = await openSource(options)
  const { source } = opened
  for (const { id } of (await source.runs()).toReversed()) {
    if (findTask(await source.agents(id)) !== undefined) return { ...opened, run: id }
  }
  await opened.close()
  throw new UsageError('There is no task yet. slipway task "…" starts one.')
}
