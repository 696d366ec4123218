import type { EffectId, EventId } from '../agents/values.ts'
import type { Batch } from './journal.ts'
import type {
  AgentRecord,
  Closure,
  EffectPhase,
  EffectRecord,
  InboxEvent,
  JournalRow,
  RunRecord,
  TimerRecord,
} from './records.ts'

/** Gathers what one transaction changes; what comes and goes within it is never written. */
export class BatchBuilder {
  readonly #id: string
  readonly #rows: JournalRow[] = []
  readonly #runs = new Map<number, RunRecord>()
  readonly #agents = new Map<number, AgentRecord>()
  /** From this order on, mail is new: what of it is handled at once is never written. */
  readonly #firstOrder: number
  /** By order, from the first on. Nearly all mail comes and goes here, and a map costs more. */
  readonly #newMail: (InboxEvent | undefined)[] = []
  #newMailCount = 0
  readonly #inboxReplaced = new Map<number, InboxEvent>()
  readonly #inboxRemoved: number[] = []
  readonly #effectsAdded = new Map<EffectId, EffectRecord>()
  readonly #effectsRemoved: EffectId[] = []
  readonly #effectPhases = new Map<EffectId, EffectPhase>()
  readonly #timers = new Map<string, TimerRecord | { agent: number; name: string }>()
  readonly #closures = new Map<string, Closure>()
  readonly #accepted: EventId[] = []

  constructor(id: string, firstOrder: number) {
    this.#id = id
    this.#firstOrder = firstOrder
  }

  get isEmpty(): boolean {
    return (
      this.#rows.length === 0 &&
      this.#runs.size === 0 &&
      this.#newMailCount === 0 &&
      this.#inboxRemoved.length === 0 &&
      this.#effectsRemoved.length === 0 &&
      this.#effectPhases.size === 0 &&
      this.#timers.size === 0 &&
      this.#closures.size === 0
    )
  }

  get rowCount(): number {
    return this.#rows.length
  }

  putRun(run: RunRecord): void {
    this.#runs.set(run.key, run)
  }

  addRow(row: JournalRow): void {
    this.#rows.push(row)
  }

  putAgent(agent: AgentRecord): void {
    this.#agents.set(agent.key, agent)
  }

  accept(id: EventId): void {
    this.#accepted.push(id)
  }

  addMail(event: InboxEvent): void {
    this.#newMail[event.order - this.#firstOrder] = event
    this.#newMailCount += 1
  }

  removeMail({ order }: InboxEvent): void {
    if (order >= this.#firstOrder) {
      this.#newMail[order - this.#firstOrder] = undefined
      this.#newMailCount -= 1
    } else if (!this.#inboxReplaced.delete(order)) {
      this.#inboxRemoved.push(order)
    }
  }

  /** Stores how often an event was tried. */
  replaceMail(event: InboxEvent): void {
    this.removeMail(event)
    if (event.order >= this.#firstOrder) this.addMail(event)
    else this.#inboxReplaced.set(event.order, event)
  }

  addEffect(effect: EffectRecord): void {
    this.#effectsAdded.set(effect.id, effect)
  }

  removeEffect(id: EffectId): void {
    this.#effectPhases.delete(id)
    if (!this.#effectsAdded.delete(id)) this.#effectsRemoved.push(id)
  }

  setPhase(id: EffectId, phase: EffectPhase): void {
    this.#effectPhases.set(id, phase)
  }

  setTimer(timer: TimerRecord): void {
    this.#timers.set(`${timer.agent} ${timer.name}`, timer)
  }

  removeTimer(agent: number, name: string): void {
    this.#timers.set(`${agent} ${name}`, { agent, name })
  }

  putClosure(closure: Closure): void {
    this.#closures.set(closure.service, closure)
  }

  build(): Batch {
    const timers = [...this.#timers.values()]
    return {
      id: this.#id,
      rows: this.#rows,
      runs: [...this.#runs.values()],
      agents: [...this.#agents.values()],
      inboxAdded: this.#mailLeft(),
      inboxRemoved: this.#inboxRemoved,
      effectsAdded: [...this.#effectsAdded.values()],
      effectsRemoved: this.#effectsRemoved,
      effectPhases: [...this.#effectPhases].map(([id, phase]) => ({ id, phase })),
      timersSet: timers.filter((timer) => 'dueMs' in timer),
      timersRemoved: timers.filter((timer) => !('dueMs' in timer)),
      closures: [...this.#closures.values()],
      accepted: this.#accepted,
    }
  }

  /** Mail that was not handled in this turn. */
  #mailLeft(): InboxEvent[] {
    const replaced = [...this.#inboxReplaced.values()]
    if (this.#newMailCount === 0) return replaced
    return [...replaced, ...this.#newMail.filter((event) => event !== undefined)]
  }
}
