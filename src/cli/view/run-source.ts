import type { RunId } from '../../agents/values.ts'
import type { JournalReader } from '../../runtime/journal.ts'
import type { AgentRecord, EffectRecord, RunRecord, StoredRow } from '../../runtime/records.ts'

/** Where a run is looked at: the journal of this process, of a file, or of the engine. */
export interface RunSource {
  runs(): Promise<readonly RunRecord[]>
  agents(run: string): Promise<readonly AgentRecord[]>
  /** Effects without an outcome, questions to people among them. */
  effects(run: string): Promise<readonly EffectRecord[]>
  /** When something last happened. */
  lastMs(run: string): Promise<number | null>
  rows(run: string, afterSeq: number, limit: number): Promise<readonly StoredRow[]>
}

export function journalSource(journal: JournalReader): RunSource {
  return {
    runs: () => journal.readRuns(),
    agents: (run) => journal.readAgents(run as RunId),
    effects: (run) => journal.readEffects(run as RunId),
    lastMs: (run) => journal.readLastMs(run as RunId),
    rows: (run, afterSeq, limit) => journal.readRows(run as RunId, afterSeq, limit),
  }
}
