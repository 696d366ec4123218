import { openSqliteJournalReader } from '../../journal/sqlite/sqlite-journal.ts'
import { NoJournalError } from '../../journal/state-folder-error.ts'
import { type Condition, type Control, connectControl } from '../engine/control.ts'
import { EngineGoneError, EngineSilentError } from '../engine/engine-error.ts'
import { findPlace, type StateOptions } from '../state-folder.ts'
import { proseFor } from '../terminal-text.ts'
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
  /** Whether it gives no sign of life, and somebody was told so. */
  readonly isSilent: boolean
  /** How it is doing; null where there is none, or it does not say. */
  readCondition(): Promise<Condition | null>
  close(): Promise<void>
}

/** Whether a command only looks, or has an engine do something. */
type Wanted = 'look' | 'engine'

const NO_RUN =
  'There is no run and no task yet. slipway run <spec> starts a run, slipway task <text> a task.'

/**
 * Opens what a command looks at: the engine where one runs, else the journal as it is. One that
 * gives no sign of life is told of; whoever wants something of it is refused.
 */
export async function openSource(
  options: StateOptions,
  wanted: Wanted = 'look',
): Promise<OpenSource> {
  const { stateFolder } = findPlace(options)
  try {
    const control = await connectControl(stateFolder)
    if (control === undefined) return await openStored(stateFolder, options)
    return {
      source: outliving(control, stateFolder),
      hasEngine: true,
      isSilent: false,
      // One that ends at this moment has nothing more to say, and an older one does not know how.
      readCondition: () => control.condition().catch(() => null),
      close: async () => {},
    }
  } catch (error) {
    if (wanted === 'engine' || !(error instanceof EngineSilentError)) throw error
    tellOfSilence(error)
    const source = lookingAt((look) => readAnew(stateFolder, look))
    return { source, hasEngine: true, isSilent: true, ...WITHOUT_WORDS, close: async () => {} }
  }
}

const WITHOUT_WORDS = { readCondition: async () => null }

/** The journal as it is now. */
async function openStored(stateFolder: string, options: StateOptions): Promise<OpenSource> {
  const journal = await openSqliteJournalReader(stateFolder).catch((error) => {
    // A folder that was named may be the wrong one; the error says so.
    const isFirst = error instanceof NoJournalError && options.state === undefined
    throw isFirst ? new UsageError(NO_RUN) : error
  })
  return {
    source: journalSource(journal),
    hasEngine: false,
    isSilent: false,
    ...WITHOUT_WORDS,
    close: () => journal.close(),
  }
}

function tellOfSilence({ pid }: EngineSilentError): void {
  const line = `The engine (process ${pid}) does not answer; this is what it has stored.`
  process.stderr.write(proseFor(process.stderr, `${line}\n`))
}

/**
 * Looks at the engine, and at the journal itself from when it ends or gives no sign of life: either
 * may be at any time.
 */
function outliving(control: Control, stateFolder: string): RunSource {
  let isSilent = false
  return lookingAt(async (look) => {
    try {
      if (!isSilent) return await look(control)
    } catch (error) {
      const isFirst = error instanceof EngineSilentError && !isSilent
      if (isFirst) tellOfSilence(error)
      isSilent ||= isFirst
      if (!isSilent && !(error instanceof EngineGoneError)) throw error
    }
    return readAnew(stateFolder, look)
  })
}

/** One look at something about runs. */
type Look<T> = (source: RunSource) => Promise<T>

/** Looks at the journal as it is at this moment. */
async function readAnew<T>(stateFolder: string, look: Look<T>): Promise<T> {
  const journal = await openSqliteJournalReader(stateFolder)
  return look(journalSource(journal)).finally(() => journal.close())
}

/** A source every look at which is taken by somebody. */
function lookingAt(take: <T>(look: Look<T>) => Promise<T>): RunSource {
  return {
    runs: () => take((source) => source.runs()),
    agents: (run) => take((source) => source.agents(run)),
    effects: (run) => take((source) => source.effects(run)),
    lastMs: (run) => take((source) => source.lastMs(run)),
    rows: (run, afterSeq, limit) => take((source) => source.rows(run, afterSeq, limit)),
  }
}
/** The run of that name; without a name the newest. */
export async function chooseRun(
  name: string | undefined,
  options: StateOptions,
  wanted: Wanted = 'look',
): Promise<ChosenRun> {
  const opened = await openSource(options, wanted)
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
  wanted: Wanted = 'look',
): Promise<ChosenRun> {
  if (name !== undefined) return chooseRun(name, options, wanted)
  const opened = await openSource(options, wanted)
  const { source } = opened
  for (const { id } of (await source.runs()).toReversed()) {
    if (findTask(await source.agents(id)) !== undefined) return { ...opened, run: id }
  }
  await opened.close()
  throw new UsageError('There is no task yet. slipway task "…" starts one.')
}
