import type { Role } from '../agents/role.ts'
import type { RunId } from '../agents/values.ts'
import { OpenEffects } from './open-effects.ts'
import type { PatientJournal } from './patient-journal.ts'
import type { Closure, RunRecord } from './records.ts'
import { Residents } from './residents.ts'

/** What the runtime knows without asking the journal: open work, never what is finished. */
export class Memory {
  readonly residents: Residents
  readonly effects = new OpenEffects()
  readonly runs = new Map<RunId, RunRecord>()
  /** The times that services named to an earlier process. */
  closures: readonly Closure[] = []
  /** By name, then by machine. */
  readonly #roles = new Map<string, Map<string, Role>>()
  nextAgentKey = 1
  nextRunKey = 1
  nextOrder = 1
  /** When to look for due timers again. */
  nextDueMs: number | null = null
  /** Until then no suspension times out: the services have not been asked yet. */
  suspensionGraceUntilMs = 0

  private constructor(journal: PatientJournal, roles: readonly Role[]) {
    this.residents = new Residents(journal)
    for (const role of roles) {
      const revisions = this.#roles.get(role.name) ?? new Map<string, Role>()
      this.#roles.set(role.name, revisions.set(role.machine.name, role))
    }
  }

  /** Reads the open work, so that it goes on where it was. */
  static async recover(journal: PatientJournal, roles: readonly Role[]): Promise<Memory> {
    const memory = new Memory(journal, roles)
    const recovery = await journal.recover()
    for (const run of recovery.runs) memory.runs.set(run.id, run)
    for (const effect of recovery.effects) memory.effects.add(effect, true)
    for (const agent of recovery.agentsWithMail) memory.residents.markReady(agent)
    memory.closures = recovery.closures
    memory.nextAgentKey = recovery.nextAgentKey
    memory.nextRunKey = recovery.nextRunKey
    memory.nextOrder = recovery.nextOrder
    memory.nextDueMs = recovery.nextDueMs
    return memory
  }

  isRunning(run: RunId): boolean {
    return this.runs.get(run)?.status === 'running'
  }

  /**
   * An agent obeys the revision that it was born under, so roles are found by both names. One
   * whose role is not there is left alone: its mail waits for a version that has it.
   */
  roleOf(agent: { readonly role: string; readonly machine: string }): Role | undefined {
    return this.#roles.get(agent.role)?.get(agent.machine)
  }

  /** The role that new agents of that name get: the last of the name. */
  roleNamed(name: string): Role | undefined {
    return [...(this.#roles.get(name)?.values() ?? [])].at(-1)
  }
}
