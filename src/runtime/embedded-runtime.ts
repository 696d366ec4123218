import type { Role } from '../agents/role.ts'
import type { AgentId, EffectId, EventId, Json, JsonObject, RunId } from '../agents/values.ts'
import type { BlobStore } from './blobs.ts'
import type { Clock } from './clock.ts'
import { commitDurably } from './commit.ts'
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
import type { EffectRecord, RunStatus } from './records.ts'
import type { Delivery, Health, Runtime } from './runtime.ts'
import {
  DEFAULT_SUSPENSION,
  ServiceWatch,
  type SuspensionPolicy,
  suspensionDeadlineMs,
} from './suspension.ts'
import { Turn } from './turn.ts'

const TIMERS_PER_TURN_MAX = 1_000

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

/** Something for the next turn to take in. It is settled when that turn's batch is durable. */
interface Arrival {
  /** The agents that must be in memory for it. */
  readonly agents: readonly AgentId[]
  /** An id from outside, to be looked up among those accepted before. */
  readonly eventId?: EventId
  admit(turn: Turn): unknown
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** Opens the runtime of one process on a journal, and goes on with what the journal holds. */
export async function openEmbeddedRuntime(parts: RuntimeParts): Promise<Runtime> {
  const memory = await Memory.recover(parts.journal, parts.roles)
  const runtime = new EmbeddedRuntime(parts, memory)
  await runtime.begin()
  return runtime
}

class EmbeddedRuntime implements Runtime {
  readonly #parts: RuntimeParts
  readonly #memory: Memory
  readonly #executor: Executor
  readonly #limits: Limits
  readonly #suspension: SuspensionPolicy
  readonly #end = new AbortController()
  readonly #arrivals: Arrival[] = []
  readonly #idleWaiters: (() => void)[] = []
  readonly #watch: ServiceWatch
  #loop: Promise<void> = Promise.resolve()
  #wake: () => void = () => {}
  #health: Health = { state: 'well' }

  constructor(parts: RuntimeParts, memory: Memory) {
    this.#parts = parts
    this.#memory = memory
    this.#executor = new Executor({ services: {}, ...parts })
    this.#limits = { ...DEFAULT_LIMITS, ...parts.limits }
    this.#suspension = { ...DEFAULT_SUSPENSION, ...parts.suspension }
    this.#watch = new ServiceWatch({
      clock: parts.clock,
      executor: this.#executor,
      effects: memory.effects,
      policy: this.#suspension,
      signal: this.#end.signal,
      restore: (agents) => this.#restore(agents),
    })
  }

  /** Goes on with the open work. A service that came back meanwhile ends no suspension in ERROR. */
  async begin(): Promise<void> {
    await this.#watch.probeNow()
    for (const run of this.#memory.runs.keys()) this.#startEffectsOf(run)
    this.#watch.check()
    this.#loop = this.#run().catch((error) => this.#fail(error))
  }

  createRun(id: RunId, config: JsonObject): Promise<void> {
    return this.#submit([], (turn) => {
      if (this.#memory.runs.has(id)) return
      const key = this.#memory.nextRunKey
      this.#memory.nextRunKey += 1
      turn.putRun({ key, id, status: 'running', createdMs: turn.nowMs, config })
    })
  }

  createAgent({ id, run, role }: { id: AgentId; run: RunId; role: string }): Promise<void> {
    return this.#submit([id], (turn) => {
      if (this.#memory.residents.get(id) !== undefined) return
      const runRecord = this.#memory.runs.get(run)
      const roleRecord = this.#memory.roleNamed(role)
      if (runRecord === undefined || roleRecord === undefined) {
        throw new Error(`no ${runRecord === undefined ? `run ${run}` : `role ${role}`}`)
      }
      turn.createAgent(id, runRecord, roleRecord)
    })
  }

  async deliver({ id, agent, type, payload }: Delivery) {
    this.#requireSmall(payload)
    const admit = (turn: Turn): 'accepted' | 'duplicate' | 'no_agent' => {
      const resident = this.#memory.residents.get(agent)
      if (resident === undefined) return 'no_agent'
      if (turn.seen.has(id)) return 'duplicate'
      turn.seen.add(id)
      turn.batch.accept(id)
      turn.mail(resident, { id, type, payload })
      return 'accepted'
    }
    return this.#submit([agent], admit, id)
  }

  async answer(id: EffectId, value: Json) {
    this.#requireSmall(value)
    const open = this.#memory.effects.get(id)
    const admit = (turn: Turn): 'accepted' | 'not_open' => {
      const effect = this.#memory.effects.get(id)
      const resident = effect && this.#memory.residents.get(effect.agentId)
      if (effect === undefined || resident === undefined || !this.#isAnswered(effect)) {
        return 'not_open'
      }
      turn.finishEffect(effect, { ok: true, value }, resident)
      return 'accepted'
    }
    return this.#submit(open === undefined ? [] : [open.agentId], admit)
  }

  pause(run: RunId): Promise<void> {
    return this.#setStatus(run, 'paused')
  }

  async stop(run: RunId): Promise<void> {
    await this.#setStatus(run, 'stopped')
    for (const effect of this.#memory.effects.ofRun(run)) this.#memory.effects.abort(effect.id)
  }

  async resume(run: RunId): Promise<void> {
    await this.#watch.probeNow()
    await this.#setStatus(run, 'running')
    const { agentsWithMail } = await this.#parts.journal.recover()
    for (const agent of agentsWithMail) this.#memory.residents.markReady(agent)
    this.#startEffectsOf(run)
    this.#watch.check()
    this.#wake()
  }

  revive(agent: AgentId): Promise<void> {
    return this.#submit([agent], (turn) => {
      const resident = this.#memory.residents.get(agent)
      if (resident === undefined) throw new Error(`no agent ${agent}`)
      if (resident.record.halted) turn.mail(resident, this.#urgent(REVIVED, null))
    })
  }

  health(): Health {
    return this.#health
  }

  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve)
      this.#wake()
    })
  }

  async close(): Promise<void> {
    this.#end.abort()
    this.#memory.effects.abortAll()
    this.#wake()
    await this.#loop
  }

  /** Rows stay small, so that a journal of years stays fast. */
  #requireSmall(payload: Json): void {
    const bytes = Buffer.byteLength(JSON.stringify(payload))
    const { payloadBytesMax } = this.#limits
    if (bytes <= payloadBytesMax) return
    throw new RangeError(
      `the payload has ${bytes} bytes, and at most ${payloadBytesMax} fit a row: put it into a blob`,
    )
  }

  #setStatus(id: RunId, status: RunStatus): Promise<void> {
    return this.#submit([], (turn) => {
      const run = this.#memory.runs.get(id)
      if (run === undefined) throw new Error(`no run ${id}`)
      turn.putRun({ ...run, status })
    })
  }

  #submit<T>(agents: readonly AgentId[], admit: (turn: Turn) => T, eventId?: EventId): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#end.signal.aborted) return reject(new Error('the runtime is closed'))
      this.#arrivals.push({ agents, admit, resolve, reject, ...(eventId && { eventId }) })
      this.#wake()
    })
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      if (this.#arrivals.length > 0 || this.#memory.residents.hasReady || this.#isTimerDue()) {
        await this.#takeTurn()
      } else {
        if (this.#memory.effects.runningCount === 0) {
          for (const resolve of this.#idleWaiters.splice(0)) resolve()
        }
        await this.#sleep()
      }
    }
    this.#rejectArrivals(new Error('the runtime is closed'))
  }

  #isTimerDue(): boolean {
    const { nextDueMs } = this.#memory
    return nextDueMs !== null && nextDueMs <= this.#parts.clock.nowMs()
  }

  /** Waits for an arrival or for the next timer. */
  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const { nextDueMs } = this.#memory
      const cancel = nextDueMs === null ? () => {} : this.#parts.clock.wakeAt(nextDueMs, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }

  async #takeTurn(): Promise<void> {
    const arrivals = this.#arrivals.splice(0, this.#limits.rowsPerTurnMax)
    try {
      const turn = await this.#beginTurn(arrivals)
      const settlements = arrivals.map((arrival) => settle(arrival, turn))
      await this.#fireTimers(turn)
      await this.#handleMail(turn)
      await this.#commit(turn)

      for (const settlement of settlements) settlement()
      for (const id of turn.started) this.#startEffect(id)
      this.#watch.check()
      this.#memory.residents.evict(this.#limits.residentsMax)
    } catch (error) {
      for (const arrival of arrivals) arrival.reject(error as Error)
      throw error
    }
  }

  async #beginTurn(arrivals: readonly Arrival[]): Promise<Turn> {
    const ids = arrivals.flatMap(({ eventId }) => eventId ?? [])
    const seen = new Set(ids.length === 0 ? [] : await this.#parts.journal.seen(ids))
    await this.#memory.residents.load(arrivals.flatMap(({ agents }) => agents))
    const { clock, newId } = this.#parts
    return new Turn(newId(), clock.nowMs(), seen, this.#memory, this.#limits)
  }

  async #fireTimers(turn: Turn): Promise<void> {
    if (!this.#isTimerDue()) return
    const { journal } = this.#parts
    const due = await journal.dueTimers(turn.nowMs, TIMERS_PER_TURN_MAX)
    await this.#memory.residents.load(due.map((timer) => timer.agentId))
    for (const timer of due) {
      const resident = this.#memory.residents.get(timer.agentId)
      if (resident !== undefined) turn.fire(timer, resident)
    }
    if (due.length === 0) this.#memory.nextDueMs = await journal.nextDueMs()
  }

  /** Lets agents handle events in turns, until nothing is left or the batch is large enough. */
  async #handleMail(turn: Turn): Promise<void> {
    while (turn.batch.rowCount < this.#limits.rowsPerTurnMax) {
      await this.#memory.residents.loadReady()
      let handled = 0
      for (;;) {
        const resident = this.#memory.residents.takeReady()
        if (resident === undefined) break
        if (turn.handleNext(resident)) handled += 1
        if (turn.batch.rowCount >= this.#limits.rowsPerTurnMax) break
      }
      await this.#deliverUnread(turn)
      if (handled === 0 && !this.#memory.residents.hasReady) return
    }
  }

  /** Messages to agents that were not in memory. One to nobody goes back to its sender. */
  async #deliverUnread(turn: Turn): Promise<void> {
    const unread = turn.takeUnread()
    await this.#memory.residents.load(unread.map(({ to }) => to))
    for (const letter of unread) turn.deliver(letter)
  }

  async #commit(turn: Turn): Promise<void> {
    if (turn.batch.isEmpty) return
    const { journal, clock } = this.#parts
    await commitDurably(journal, turn.batch.build(), clock, this.#end.signal, (error) => {
      this.#health = { state: 'waiting_for_journal', error }
    })
    this.#health = { state: 'well' }
  }

  #startEffectsOf(run: RunId): void {
    for (const { id } of this.#memory.effects.ofRun(run)) this.#startEffect(id)
  }

  #startEffect(id: EffectId): void {
    const effect = this.#memory.effects.get(id)
    if (effect === undefined || !this.#memory.isRunning(effect.run)) return
    if (this.#isAnswered(effect)) return
    const work = this.#memory.effects.start(id)
    if (work === undefined) return
    const { agentId: agent, kind, input } = effect
    void this.#executor
      .execute({ id, agent, kind, input }, work.signal, work.repeated)
      .then((ending) => {
        if (this.#memory.effects.finish(id, work.signal)) this.#endEffect(effect, ending)
      })
  }

  #endEffect(effect: EffectRecord, ending: Ending): void {
    if (ending.kind === 'aborted' || this.#end.signal.aborted) return
    const admit = (turn: Turn) => {
      const resident = this.#memory.residents.get(effect.agentId)
      if (this.#memory.effects.get(effect.id) === undefined || resident === undefined) return
      if (ending.kind === 'finished') return turn.finishEffect(effect, ending.result, resident)
      turn.setWaiting(effect, true)
      const { reason, untilMs } = ending
      const deadlineMs = suspensionDeadlineMs(this.#suspension, turn.nowMs, untilMs)
      const payload = { effect: effect.id, reason, deadlineMs }
      turn.mail(resident, this.#urgent(SERVICE_UNAVAILABLE, payload))
    }
    this.#submit([effect.agentId], admit).catch(() => {})
  }

  #isAnswered(effect: EffectRecord): boolean {
    return this.#parts.answeredKinds?.includes(effect.kind) ?? false
  }

  /** Every service answers again: so does everybody who waited for one. */
  #restore(agents: Iterable<AgentId>): void {
    for (const agent of agents) {
      const admit = (turn: Turn) => {
        const resident = this.#memory.residents.get(agent)
        if (resident !== undefined) turn.mail(resident, this.#urgent(SERVICE_RESTORED, null))
      }
      this.#submit([agent], admit).catch(() => {})
    }
  }

  #urgent(type: string, payload: Json) {
    return { id: this.#parts.newId() as EventId, type, payload, urgent: true }
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#health = { state: 'failed', error: message }
    this.#end.abort()
    this.#memory.effects.abortAll()
    this.#rejectArrivals(error instanceof Error ? error : new Error(message))
    for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }

  #rejectArrivals(error: Error): void {
    for (const arrival of this.#arrivals.splice(0)) arrival.reject(error)
  }
}

/** Takes an arrival in; the result settles it once the batch is durable. */
function settle(arrival: Arrival, turn: Turn): () => void {
  try {
    const result = arrival.admit(turn)
    return () => arrival.resolve(result as never)
  } catch (error) {
    return () => arrival.reject(error as Error)
  }
}
