import type { Role } from '../agents/role.ts'
import type { AgentId, EffectId, EventId, Json, JsonObject, RunId } from '../agents/values.ts'
import type { BlobStore } from './blobs.ts'
import type { Clock } from './clock.ts'
import { RESERVED_TYPES, requireJson, requireStorable } from './decision.ts'
import type { EffectHandler, Service } from './effect-handler.ts'
import { type Ending, Executor } from './executor.ts'
import {
  DEFAULT_LIMITS,
  type Limits,
  REVIVED,
  SERVICE_RESTORED,
  SERVICE_UNAVAILABLE,
} from './handle.ts'
import type { Journal } from './journal.ts'
import { Memory } from './memory.ts'
import type { StartedEffect } from './open-effects.ts'
import { PatientJournal } from './patient-journal.ts'
import type { Closure, EffectRecord, RunRecord, RunStatus } from './records.ts'
import type { Resident } from './residents.ts'
import type { Delivery, Health, NewAgent, Runtime } from './runtime.ts'
import {
  DEFAULT_SUSPENSION,
  ServiceWatch,
  type SuspensionPolicy,
  suspensionDeadlineMs,
} from './suspension.ts'
import type { Turn } from './turn.ts'
import { TurnLoop } from './turn-loop.ts'

export interface RuntimeParts {
  readonly journal: Journal
  readonly blobs: BlobStore
  readonly roles: readonly Role[]
  readonly handlers: Readonly<Record<string, EffectHandler>>
  /** Kinds of effects whose outcome comes through `answer`. */
  readonly answeredKinds?: readonly string[]
  readonly services?: Readonly<Record<string, Service>>
  readonly clock: Clock
  /** Unique over all processes that ever wrote this journal. */
  readonly newId: () => string
  readonly random: () => number
  readonly limits?: Partial<Limits>
  readonly suspension?: Partial<SuspensionPolicy>
}

/** Opens the runtime of one process on a journal, and goes on with what the journal holds. */
export async function openEmbeddedRuntime(parts: RuntimeParts): Promise<Runtime> {
  for (const service of Object.keys(parts.services ?? {})) requireStorable(service, 'the service')
  const journal = new PatientJournal(parts.journal, parts.clock)
  const memory = await Memory.recover(journal, parts.roles)
  const runtime = new EmbeddedRuntime(parts, journal, memory)
  runtime.begin()
  return runtime
}

class EmbeddedRuntime implements Runtime {
  readonly #parts: RuntimeParts
  readonly #journal: PatientJournal
  readonly #memory: Memory
  readonly #executor: Executor
  readonly #limits: Limits
  readonly #suspension: SuspensionPolicy
  readonly #loop: TurnLoop
  readonly #watch: ServiceWatch
  /** The work on effects until it has ended, also on effects that are no longer open. */
  readonly #works = new Map<AbortController, Promise<void>>()

  constructor(parts: RuntimeParts, journal: PatientJournal, memory: Memory) {
    this.#parts = parts
    this.#journal = journal
    this.#memory = memory
    this.#limits = { ...DEFAULT_LIMITS, ...parts.limits }
    const runningMax = this.#limits.effectsRunningMax
    const onClosed = (closure: Closure) => this.#remember(closure)
    const onHeld = (id: EffectId, isHeld: boolean) => this.#hold(id, isHeld)
    this.#executor = new Executor({ services: {}, ...parts, runningMax, onClosed, onHeld })
    for (const closure of memory.closures) this.#executor.close(closure)
    this.#suspension = { ...DEFAULT_SUSPENSION, ...parts.suspension }
    this.#loop = new TurnLoop({
      journal,
      clock: parts.clock,
      newId: parts.newId,
      memory,
      limits: this.#limits,
      publish: (turn) => this.#publish(turn),
    })
    this.#loop.signal.addEventListener('abort', () => {
      for (const work of this.#works.keys()) work.abort()
    })
    this.#watch = new ServiceWatch({
      clock: parts.clock,
      executor: this.#executor,
      effects: memory.effects,
      policy: this.#suspension,
      signal: this.#loop.signal,
      restore: (agents) => this.#restore(agents),
    })
  }

  /** Goes on with the open work. */
  begin(): void {
    this.#probeBeforeTimeouts()
    for (const run of this.#memory.runs.keys()) this.#startEffectsOf(run)
    this.#watch.check()
    this.#loop.begin()
  }

  async createRun(id: RunId, config: JsonObject, agents: readonly NewAgent[] = []): Promise<void> {
    const [taken] = await this.#journal.loadAgents(agents.map((agent) => agent.id))
    await this.#loop.submit(undefined, (turn) => {
      if (this.#memory.runs.has(id)) return
      if (taken !== undefined) throw new Error(`${taken.record.id} is of another run`)
      requireStorable(id, 'the run')
      // Nothing is written before all of it is known to be in order.
      for (const agent of agents) this.#requireInOrder(agent)
      const key = this.#memory.nextRunKey
      this.#memory.nextRunKey += 1
      const run: RunRecord = { key, id, status: 'running', createdMs: turn.nowMs, config }
      turn.putRun(run)
      for (const agent of agents) turn.createAgent(agent.id, run, this.#requireRole(agent.role))
      for (const { id: agent, told } of agents) if (told) this.#take(turn, { ...told, agent })
    })
  }

  createAgent(agent: NewAgent & { readonly run: RunId }): Promise<'created' | 'exists'> {
    const { id, role, told } = agent
    const admit = (turn: Turn): 'created' | 'exists' => {
      if (this.#memory.residents.get(id) !== undefined) return 'exists'
      const run = this.#memory.runs.get(agent.run)
      if (run === undefined) throw new Error(`no run ${agent.run}`)
      this.#requireInOrder(agent)
      turn.createAgent(id, run, this.#requireRole(role))
      if (told !== undefined) this.#take(turn, { ...told, agent: id })
      return 'created'
    }
    return this.#loop.submit(id, admit)
  }

  deliver(delivery: Delivery) {
    return this.#loop.submit(delivery.agent, this.#admitDelivery, delivery)
  }

  answer(id: EffectId, value: Json) {
    const open = this.#memory.effects.get(id)
    const admit = (turn: Turn): 'accepted' | 'not_open' => {
      const effect = this.#memory.effects.get(id)
      const resident = effect && this.#memory.residents.get(effect.agentId)
      if (effect === undefined || resident === undefined || !this.#isAnswered(effect)) {
        return 'not_open'
      }
      this.#requireFit(value)
      turn.finishEffect(effect, { ok: true, value }, resident)
      return 'accepted'
    }
    return this.#loop.submit(open?.agentId, admit)
  }

  pause(run: RunId): Promise<void> {
    return this.#setStatus(run, 'paused')
  }

  async stop(run: RunId): Promise<void> {
    await this.#setStatus(run, 'stopped')
    for (const effect of this.#memory.effects.ofRun(run)) this.#memory.effects.abort(effect.id)
  }

  async resume(run: RunId): Promise<void> {
    this.#probeBeforeTimeouts()
    await this.#setStatus(run, 'running')
    const { agentsWithMail } = await this.#journal.recover()
    for (const agent of agentsWithMail) this.#memory.residents.markReady(agent)
    this.#startEffectsOf(run)
    this.#watch.check()
    this.#loop.wake()
  }

  revive(agent: AgentId): Promise<void> {
    return this.#loop.submit(agent, (turn) => {
      const resident = this.#memory.residents.get(agent)
      if (resident === undefined) throw new Error(`no agent ${agent}`)
      if (resident.record.halted) turn.mail(resident, this.#urgent(REVIVED, null))
    })
  }

  health(): Health {
    const { health } = this.#loop
    const { shortage } = this.#executor
    if (health.state !== 'well' || shortage === undefined) return health
    return { state: 'waiting_for_room', error: shortage }
  }

  idle(): Promise<void> {
    return this.#loop.idle()
  }

  async close(): Promise<void> {
    await this.#loop.end()
    await Promise.all(this.#works.values())
  }

  /** One function for all deliveries: one made for each took 2% of all processor time. */
  readonly #admitDelivery = (turn: Turn, delivery: Delivery) => {
    const { id, agent } = delivery
    const resident = this.#memory.residents.get(agent)
    if (resident === undefined) return 'no_agent'
    if (turn.knows(id)) return 'duplicate'
    this.#requireTellable(delivery)
    this.#take(turn, delivery)
    return 'accepted'
  }

  /** Takes in an event that is in order, for an agent that is in memory. */
  #take(turn: Turn, { id, agent, type, payload }: Delivery): void {
    const resident = this.#memory.residents.get(agent) as Resident
    turn.accept(id)
    const urgent = this.#memory.roleOf(resident.record)?.urgent?.includes(type) ?? false
    turn.mail(resident, { id, type, payload, urgent })
  }

  #requireTellable({ id, type, payload }: Omit<Delivery, 'agent'>): void {
    requireStorable(id, 'the event')
    requireStorable(type, 'the event type')
    this.#requireFit(payload)
    if (RESERVED_TYPES.has(type)) throw new TypeError(`the event type ${type} is the runtime's`)
  }

  #requireInOrder({ id, role, told }: NewAgent): void {
    requireStorable(id, 'the agent')
    this.#requireRole(role)
    if (told !== undefined) this.#requireTellable(told)
  }

  #requireRole(name: string): Role {
    const role = this.#memory.roleNamed(name)
    if (role === undefined) throw new Error(`no role ${name}`)
    return role
  }

  /** The services may have come back meanwhile: nobody's suspension times out before they are asked. */
  #probeBeforeTimeouts(): void {
    const { probeIntervalMs } = this.#suspension
    this.#memory.suspensionGraceUntilMs = this.#parts.clock.nowMs() + probeIntervalMs
    void this.#watch.probeNow()
  }

  /** What is stored is JSON, and small, so that a journal of years stays fast. */
  #requireFit(payload: Json): void {
    if (payload === null) return
    requireJson(payload, 'the payload')
    const bytes = Buffer.byteLength(JSON.stringify(payload))
    const { payloadBytesMax } = this.#limits
    if (bytes <= payloadBytesMax) return
    throw new RangeError(
      `the payload has ${bytes} bytes, and at most ${payloadBytesMax} fit a row: put it into a blob`,
    )
  }

  #setStatus(id: RunId, status: RunStatus): Promise<void> {
    return this.#loop.submit(undefined, (turn) => {
      const run = this.#memory.runs.get(id)
      if (run === undefined) throw new Error(`no run ${id}`)
      turn.putRun({ ...run, status })
    })
  }

  /** What a turn asked for is durable: now it may be done. */
  #publish(turn: Turn): void {
    for (const work of turn.ended) work.abort()
    for (const id of turn.started) this.#startEffect(id)
    this.#watch.check()
  }

  #startEffectsOf(run: RunId): void {
    for (const { id } of this.#memory.effects.ofRun(run)) this.#startEffect(id)
  }

  #startEffect(id: EffectId): void {
    const effect = this.#memory.effects.get(id)
    if (effect === undefined || !this.#memory.isRunning(effect.run)) return
    if (this.#isAnswered(effect) || this.#loop.signal.aborted) return
    const started = this.#memory.effects.start(id)
    if (started === undefined) return
    this.#works.set(started.work, this.#workOn(effect, started))
  }

  async #workOn(record: EffectRecord, started: StartedEffect): Promise<void> {
    const { id, agentId: agent, kind, input } = record
    const { work, repeated, isHeld, inherited } = started
    const effect = { id, agent, kind, input, ...(inherited && { inherited }) }
    const ending = await this.#executor.execute(effect, work.signal, repeated, isHeld)
    this.#works.delete(work)
    if (!this.#memory.effects.finish(id, work)) return
    if (ending.kind !== 'aborted') return this.#endEffect(record, ending)
    // Its run was stopped, and may have been resumed while the work came to its end.
    this.#startEffect(id)
    this.#loop.wake()
  }

  #endEffect(effect: EffectRecord, ending: Exclude<Ending, { kind: 'aborted' }>): void {
    if (this.#loop.signal.aborted) return
    const admit = (turn: Turn) => {
      const resident = this.#memory.residents.get(effect.agentId)
      if (this.#memory.effects.get(effect.id) === undefined || resident === undefined) return
      if (ending.kind === 'finished') return turn.finishEffect(effect, ending.result, resident)
      const { reason, tries, untilMs, error } = ending
      if (error !== undefined && this.#isItsOwnFault(effect, turn.nowMs)) {
        return turn.finishEffect(effect, { ok: false, error }, resident)
      }
      turn.setPhase(effect, 'waiting')
      const freshMs = suspensionDeadlineMs(this.#suspension, turn.nowMs, untilMs)
      const isLater = untilMs !== undefined || error !== undefined
      const deadlineMs = this.#memory.effects.extendDeadline(effect.id, freshMs, isLater)
      const named = untilMs === undefined ? {} : { untilMs }
      const payload = { effect: effect.id, reason, tries, deadlineMs, ...named }
      turn.mail(resident, this.#urgent(SERVICE_UNAVAILABLE, payload))
    }
    this.#loop.submit(effect.agentId, admit).catch(() => {})
  }

  /**
   * Whether what an effect fails with is no matter of the service that it names: that has answered,
   * the effect was tried again, and it has been open for as long as anybody waits. Its phase and its
   * age are stored, so that a restart changes nothing about it.
   */
  #isItsOwnFault({ phase, askedMs }: EffectRecord, nowMs: number): boolean {
    return phase === 'held' && nowMs - askedMs >= this.#suspension.timeoutMs
  }

  /** In the turn that marks what waits as waiting, or before: the next process holds to it too. */
  #remember(closure: Closure): void {
    this.#loop.submit(undefined, (turn) => turn.batch.putClosure(closure)).catch(() => {})
  }

  /** Whether an effect is held until it is its turn; one that is over meanwhile is not. */
  #hold(id: EffectId, isHeld: boolean): Promise<void> {
    return this.#loop.submit(undefined, (turn) => {
      const effect = this.#memory.effects.get(id)
      if (effect !== undefined) turn.setPhase(effect, isHeld ? 'held' : 'working')
    })
  }

  #isAnswered(effect: EffectRecord): boolean {
    return this.#parts.answeredKinds?.includes(effect.kind) ?? false
  }

  /** Every service answers again: so does everybody who waited for one. */
  #restore(agents: Iterable<AgentId>): void {
    for (const agent of agents) {
      const admit = (turn: Turn) => {
        const resident = this.#memory.residents.get(agent)
        if (resident === undefined || !this.#mayBeRestored(resident)) return
        turn.mail(resident, this.#urgent(SERVICE_RESTORED, null))
      }
      this.#loop.submit(agent, admit).catch(() => {})
    }
  }

  /** Not while its run rests, not when it is halted, and not twice: it would only pile up. */
  #mayBeRestored({ record, urgent }: Resident): boolean {
    if (record.halted || !this.#memory.isRunning(record.run)) return false
    return !urgent.some((event) => event.type === SERVICE_RESTORED)
  }

  #urgent(type: string, payload: Json) {
    return { id: this.#parts.newId() as EventId, type, payload, urgent: true }
  }
}
