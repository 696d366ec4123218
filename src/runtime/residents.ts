import type { AgentId } from '../agents/values.ts'
import { SUSPEND } from '../machines/suspend.ts'
import { REVIVED } from './handle.ts'
import type { LoadedAgent } from './journal.ts'
import type { PatientJournal } from './patient-journal.ts'
import type { AgentRecord, InboxEvent } from './records.ts'

/** An agent in memory, with the mail that waits for it in order, urgent mail apart. */
export interface Resident {
  record: AgentRecord
  readonly urgent: InboxEvent[]
  readonly mail: InboxEvent[]
}

/** The agents that are in memory because they have something to do, or had a moment ago. */
export class Residents {
  readonly #journal: PatientJournal
  readonly #residents = new Map<AgentId, Resident>()
  /** Those that have mail, in memory or in the journal, in the order of their turns. */
  readonly #ready = new Set<AgentId>()

  constructor(journal: PatientJournal) {
    this.#journal = journal
  }

  get hasReady(): boolean {
    return this.#ready.size > 0
  }

  markReady(id: AgentId): void {
    this.#ready.add(id)
  }

  put(record: AgentRecord): Resident {
    const resident = { record, urgent: [], mail: [] }
    this.#residents.set(record.id, resident)
    return resident
  }

  get(id: AgentId): Resident | undefined {
    return this.#residents.get(id)
  }

  /** Brings agents into memory. Those that do not exist stay absent. */
  async load(ids: ReadonlySet<AgentId>): Promise<void> {
    const absent: AgentId[] = []
    for (const id of ids) if (!this.#residents.has(id)) absent.push(id)
    if (absent.length === 0) return
    for (const loaded of await this.#journal.loadAgents(absent)) this.#admit(loaded)
  }

  /** Brings those that have mail into memory. */
  loadReady(): Promise<void> {
    return this.load(this.#ready)
  }

  /** The next agent in turn; it comes again only when it is marked again. */
  takeReady(): Resident | undefined {
    for (const id of this.#ready) {
      this.#ready.delete(id)
      const resident = this.#residents.get(id)
      if (resident === undefined) continue
      // Last used, last evicted.
      this.#residents.delete(id)
      this.#residents.set(id, resident)
      return resident
    }
    return undefined
  }

  /** Lets go of the agents that were idle longest. */
  evict(residentsMax: number): void {
    let excess = this.#residents.size - residentsMax
    if (excess <= 0) return
    for (const [id, resident] of this.#residents) {
      if (excess <= 0) return
      if (hasMail(resident)) continue
      this.#residents.delete(id)
      excess -= 1
    }
  }

  #admit({ record, inbox }: LoadedAgent): void {
    const urgent = inbox.filter((event) => event.urgent)
    this.#residents.set(record.id, { record, urgent, mail: inbox.filter((e) => !e.urgent) })
  }
}

/** Puts an event behind those that wait already. */
export function putMail(resident: Resident, event: InboxEvent): void {
  ;(event.urgent ? resident.urgent : resident.mail).push(event)
}

/** Puts an event back to where it was taken from. */
export function putBackMail(resident: Resident, event: InboxEvent): void {
  ;(event.urgent ? resident.urgent : resident.mail).unshift(event)
}

export function hasMail({ urgent, mail }: Resident): boolean {
  return urgent.length > 0 || mail.length > 0
}

/** Takes the event that the agent is to handle next, if there is one that it may handle now. */
export function takeMail({ record, urgent, mail }: Resident): InboxEvent | undefined {
  if (record.halted) {
    const index = urgent.findIndex((event) => event.type === REVIVED)
    return index < 0 ? undefined : urgent.splice(index, 1)[0]
  }
  if (urgent.length > 0) return urgent.shift()
  return record.state === SUSPEND ? undefined : mail.shift()
}
