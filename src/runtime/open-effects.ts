import type { AgentId, EffectId, RunId } from '../agents/values.ts'
import type { EffectPhase, EffectRecord } from './records.ts'

const NONE: readonly EffectRecord[] = []

interface OpenEffect {
  record: EffectRecord
  /** Present while somebody works on it. */
  running?: AbortController
  /** Asked for by an earlier process, or tried before. */
  repeated: boolean
  /** For what an earlier process asked for: how it left it. */
  inherited?: EffectPhase
  /** Until when it may wait for its service, counted from the first time that it was out. */
  deadlineMs?: number
}

/** The work on an effect that begins. */
export interface StartedEffect {
  readonly work: AbortController
  /** Whether it may have been carried out before. */
  readonly repeated: boolean
  readonly isHeld: boolean
  readonly inherited?: EffectPhase
}

/** The effects whose outcome is not recorded: running, waiting for a service, or for somebody outside. */
export class OpenEffects {
  readonly #effects = new Map<EffectId, OpenEffect>()
  readonly #byAgent = new Map<AgentId, Set<EffectId>>()
  #running = 0
  #waiting = 0

  get runningCount(): number {
    return this.#running
  }

  get waitingCount(): number {
    return this.#waiting
  }

  add(record: EffectRecord, repeated: boolean): void {
    this.#effects.set(record.id, { record, repeated, ...(repeated && { inherited: record.phase }) })
    const siblings = this.#byAgent.get(record.agentId) ?? new Set()
    this.#byAgent.set(record.agentId, siblings.add(record.id))
    if (record.phase === 'waiting') this.#waiting += 1
  }

  get(id: EffectId): EffectRecord | undefined {
    return this.#effects.get(id)?.record
  }

  /** Forgets an effect. Work on it goes on until somebody aborts what is given back. */
  remove(id: EffectId): AbortController | undefined {
    const open = this.#effects.get(id)
    if (open === undefined) return undefined
    if (open.record.phase === 'waiting') this.#waiting -= 1
    if (open.running !== undefined) this.#running -= 1
    this.#effects.delete(id)
    const siblings = this.#byAgent.get(open.record.agentId)
    siblings?.delete(id)
    if (siblings?.size === 0) this.#byAgent.delete(open.record.agentId)
    return open.running
  }

  setPhase(id: EffectId, phase: EffectPhase): void {
    const open = this.#effects.get(id)
    if (open === undefined) return
    if (open.record.phase === 'waiting') this.#waiting -= 1
    if (phase === 'waiting') this.#waiting += 1
    open.record = { ...open.record, phase }
  }

  /**
   * The deadline of an effect whose service is out again: the first one, or a later one, where its
   * service named a time, or where what bounds the effect is something else.
   */
  extendDeadline(id: EffectId, deadlineMs: number, isLater: boolean): number {
    const open = this.#effects.get(id)
    if (open === undefined) return deadlineMs
    open.deadlineMs = isLater ? deadlineMs : (open.deadlineMs ?? deadlineMs)
    return open.deadlineMs
  }

  ofAgent(agent: AgentId): readonly EffectRecord[] {
    const ids = this.#byAgent.get(agent)
    return ids === undefined ? NONE : [...ids].flatMap((id) => this.get(id) ?? [])
  }

  ofRun(run: RunId): EffectRecord[] {
    return [...this.#effects.values()].map((open) => open.record).filter((r) => r.run === run)
  }

  /** The agents that wait for services. */
  agentsWaiting(): Set<AgentId> {
    const waiting = [...this.#effects.values()].filter((open) => open.record.phase === 'waiting')
    return new Set(waiting.map((open) => open.record.agentId))
  }

  /** Marks an effect as running, unless it is already or waits. */
  start(id: EffectId): StartedEffect | undefined {
    const open = this.#effects.get(id)
    if (open === undefined || open.running !== undefined) return undefined
    if (open.record.phase === 'waiting') return undefined
    open.running = new AbortController()
    this.#running += 1
    const { repeated, inherited, record } = open
    open.repeated = true
    const isHeld = record.phase === 'held'
    return { work: open.running, repeated, isHeld, ...(inherited && { inherited }) }
  }

  /** The work has ended. False when the effect is no longer open. */
  finish(id: EffectId, work: AbortController): boolean {
    const open = this.#effects.get(id)
    if (open?.running !== work) return false
    delete open.running
    this.#running -= 1
    return true
  }

  /** Has the work on an effect end. It stays open, and running until the work has ended. */
  abort(id: EffectId): void {
    this.#effects.get(id)?.running?.abort()
  }
}
