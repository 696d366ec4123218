import type { RunId } from '../agents/values.ts'
import { openSqliteJournalReader } from '../journal/sqlite/sqlite-journal.ts'
import type { JournalReader } from '../runtime/journal.ts'
import type { AgentRecord, StoredRow } from '../runtime/records.ts'
import { replay as foldJournal, type Replay, type ReplayOptions } from '../runtime/replay.ts'
import { layOut } from './columns.ts'
import { EXIT_CODE } from './exit-code.ts'
import { printable } from './printable.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { styleFor } from './style.ts'
import { UsageError } from './usage-error.ts'
import { findRun } from './view/open-source.ts'
import { journalSource } from './view/run-source.ts'

const PAGE_ROWS = 1_000

export interface ReplayCommandOptions extends StateOptions {
  readonly at?: string
  readonly json?: true
}

/** `slipway replay [run]`: folds the journal, prints the timeline and the verdict. */
export async function replay(
  name: string | undefined,
  options: ReplayCommandOptions,
): Promise<number> {
  const atSeq = readPlace(options.at)
  const journal = await openSqliteJournalReader(findPlace(options).stateFolder)
  try {
    const run = await findRun(journalSource(journal), name)
    if (atSeq !== undefined) return printAgents(await fold(journal, run, { atSeq }), atSeq, options)
    return await printTimeline(journal, run, options)
  } finally {
    await journal.close()
  }
}

function fold(journal: JournalReader, run: string, options: ReplayOptions): Promise<Replay> {
  return foldJournal(journal, run as RunId, options)
}

function readPlace(at: string | undefined): number | undefined {
  if (at === undefined) return undefined
  if (/^\d+$/.test(at)) return Number(at)
  throw new UsageError(`--at takes the number of a row, not ${JSON.stringify(at)}.`)
}

/** Prints rows as they are read, in pages, so that a long journal needs no more memory than a short one. */
async function printTimeline(
  journal: JournalReader,
  run: string,
  { json }: ReplayCommandOptions,
): Promise<number> {
  const style = styleFor(process.stdout)
  const page: StoredRow[] = []
  const printPage = () => {
    const lines = page.splice(0).map(describeRow)
    if (lines.length > 0) write(layOut(lines, Infinity, [style.dim, style.dim, style.bold]))
  }
  let separator = '{ "rows": ['
  const { rows, agents, differences } = await fold(journal, run, {
    onRow: (row) => {
      if (json) {
        write(separator + JSON.stringify(row))
        separator = ','
      } else if (page.push(row) === PAGE_ROWS) printPage()
    },
  })
  const sound = differences.length === 0
  if (json) {
    const start = rows === 0 ? separator : ''
    write(`${start}], "sound": ${sound}, "differences": ${JSON.stringify(differences)},`)
    write(`"agents": ${JSON.stringify(agents)} }`)
  } else {
    printPage()
    for (const difference of differences) write(style.warn(difference))
    write(
      sound
        ? style.good(`Sound: ${rows} rows fold to the snapshots of ${agents.length} agents.`)
        : style.warn(`Damaged: ${differences.length} differences between rows and snapshots.`),
    )
  }
  return sound ? EXIT_CODE.done : EXIT_CODE.failed
}

function describeRow(row: StoredRow): string[] {
  return [
    String(row.seq),
    new Date(row.atMs).toISOString(),
    printable(row.agentId),
    row.kind === 'moved' ? `${row.from} → ${row.to}` : `${row.kind} in ${row.to}`,
    printable(row.move ?? row.eventType),
    printable(row.body.reason ?? row.body.error ?? ''),
  ]
}

function printAgents(
  { agents, differences }: Replay,
  atSeq: number,
  { json }: ReplayCommandOptions,
): number {
  const style = styleFor(process.stdout)
  const lines = agents.map((agent) => [
    printable(agent.id),
    agent.machine,
    stateOf(agent),
    `generation ${agent.generation}`,
    printable(JSON.stringify(agent.data)),
  ])
  if (json) write(JSON.stringify({ at: atSeq, differences, agents }, null, 2))
  else {
    write(style.bold(`Every agent at row ${atSeq}:`))
    if (lines.length > 0) write(layOut(lines, Infinity, [style.bold]))
  }
  return differences.length === 0 ? EXIT_CODE.done : EXIT_CODE.failed
}

function stateOf(agent: AgentRecord): string {
  if (agent.generation === 0) return 'not born'
  return (agent.state ?? 'null') + (agent.halted ? ', halted' : '')
}

function write(text: string): void {
  // Styles are ours; what comes from the journal has been made printable already.
  process.stdout.write(`${text}\n`)
}
