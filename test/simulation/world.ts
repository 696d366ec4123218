import { createHash } from 'node:crypto'
import type { AgentId, EffectId, EventId, RunId } from '../../src/agents/values.ts'
import { MACHINES } from '../../src/machines/catalog.ts'
import type {
  Attempt,
  Effect,
  EffectContext,
  EffectHandler,
} from '../../src/runtime/effect-handler.ts'
import { openEmbeddedRuntime, type RuntimeParts } from '../../src/runtime/embedded-runtime.ts'
import { type Batch, type Journal, JournalError } from '../../src/runtime/journal.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { DRILL_ONCE, drillRole } from '../drill/drill-role.ts'
import { Random } from '../drill/random.ts'
import { FaultPlan } from './faults.ts'
import { MemoryDisk, openMemoryJournal } from './memory-journal.ts'
import { SimClock } from './sim-clock.ts'
import { Watch } from './watch.ts'

export const RUN = 'run-1' as RunId
const HOUR_MS = 3_600_000
const OUTAGE_MS_MAX = 30 * 60_000
/** How long the runtime waits for a handler that it aborted. */
const ABORT_GRACE_MS = 5_000
const EFFECTS_RUNNING_MAX = 3

/** Small, so that agents are halted often; somebody revives them. */
export const RESTARTS = { restartsMax: 1, restartWindowMs: 600_000 }

/** A deliberate bug, to see whether the simulation would notice. */
export interface Mutation {
  journal?(journal: Journal, world: World): Journal
  parts?(parts: RuntimeParts, world: World): RuntimeParts
}

/** What happened to one event from outside. */
export interface Sent {
  readonly id: EventId
  readonly agent: AgentId
  readonly type: string
  readonly acknowledged: boolean
}

/** A process: what a crash takes with it. */
interface Process {
  alive: boolean
  runtime?: Runtime
  /** The effects that it works on. */
  readonly working: Set<EffectId>
}

/** What was done outside, which no crash undoes. */
interface CarriedOut {
  readonly kind: string
  readonly count: number
}

/** Whether a handler still acts when it was told to end, or its process was killed. */
type Acts = 'even after its end' | 'until its end'

/** The production runtime on a simulated clock and disk, among simulated services. */
export class World {
  readonly random: Random
  readonly faults: FaultPlan
  readonly clock = new SimClock()
  readonly disk = new MemoryDisk()
  readonly trace: string[] = []
  readonly carriedOut = new Map<EffectId, CarriedOut>()
  readonly violations: string[] = []
  readonly watch = new Watch(this)
  readonly sent = new Map<EventId, Sent>()
  readonly agents: readonly AgentId[]
  crashes = 0
  /** Told of every agent that is halted. */
  onHalted: (agent: AgentId) => void = () => {}
  #process: Process = { alive: false, working: new Set() }
  #idCount = 0
  #outageUntilMs = 0
  readonly #mutation: Mutation

  constructor(seed: number, mutation: Mutation = {}) {
    this.random = new Random(seed)
    this.faults = new FaultPlan(new Random(seed ^ 0x5eed))
    this.#mutation = mutation
    this.agents = MACHINES.map((machine) => `agent-${machine.name}` as AgentId)
  }

  log(line: string): void {
    this.trace.push(`${String(this.clock.elapsedMs).padStart(9)} ${line}`)
  }

  get traceHash(): string {
    return createHash('sha256').update(this.trace.join('\n')).digest('hex').slice(0, 16)
  }

  get runtime(): Runtime | undefined {
    return this.#process.runtime
  }

  get isOut(): boolean {
    return this.clock.elapsedMs < this.#outageUntilMs
  }

  /** Starts a process on what the disk holds, and makes sure that its run and agents exist. */
  async boot(): Promise<void> {
    const process: Process = { alive: true, working: new Set() }
    this.#process = process
    this.log('boot')
    const journal = this.#faultyJournal(process)
    const parts = this.#parts(process, journal)
    const runtime = await openEmbeddedRuntime(this.#mutation.parts?.(parts, this) ?? parts)
    if (!process.alive) return
    process.runtime = runtime
    this.#populate(process).catch((error) => {
      if (process.alive) this.violations.push(`agents could not be created: ${error}`)
    })
  }

  /** The process is gone, and with it everything that was not on the disk. */
  crash(where: string): void {
    if (!this.#process.alive) return
    this.log(`CRASH ${where}`)
    this.crashes += 1
    this.#process.alive = false
    this.disk.crash()
    this.watch.crashed()
    this.clock.after(this.random.below(2_000), () => void this.boot())
  }

  beginOutage(): void {
    this.log('outage')
    this.#outageUntilMs = this.clock.elapsedMs + this.random.below(OUTAGE_MS_MAX)
  }

  async #populate(process: Process): Promise<void> {
    const { runtime } = process
    if (runtime === undefined) return
    await runtime.createRun(RUN, {})
    for (const [i, machine] of MACHINES.entries()) {
      const id = this.agents[i] as AgentId
      await runtime.createAgent({ id, run: RUN, role: `drill-${machine.name}` })
    }
  }

  #parts(process: Process, journal: Journal): RuntimeParts {
    return {
      journal,
      blobs: {
        put: async () => ({ sha256: '', bytes: 0 }),
        get: async () => new Uint8Array(),
      },
      roles: MACHINES.map((machine) => drillRole(machine, machine.id !== 'architect')),
      handlers: {
        drill: this.#drill(process),
        [DRILL_ONCE]: this.#drillOnce(process),
        clean_up: this.#cleanUp(process),
      },
      services: { model: { concurrencyMax: 4, probe: async () => !this.isOut } },
      clock: this.#clockOf(process),
      newId: () => `id-${this.#idCount++}`,
      random: () => this.random.next(),
      // Small bounds are reached often.
      limits: {
        ...RESTARTS,
        rowsPerTurnMax: 3,
        residentsMax: 2,
        effectsRunningMax: EFFECTS_RUNNING_MAX,
      },
    }
  }

  #drill(process: Process): EffectHandler {
    return {
      policy: { timeoutMs: 60_000, attemptsMax: 3 },
      serviceOf: () => 'model',
      recall: () => undefined,
      run: (effect, context) => {
        if (process.alive) this.watch.asked(effect.id)
        return this.#work(process, effect, context, 'even after its end')
      },
    }
  }

  /** Knows what it did, and does nothing after it was told to end. */
  #drillOnce(process: Process): EffectHandler {
    const recognising = new Set<EffectId>()
    return {
      ...this.#drill(process),
      recognise: async ({ id }) => {
        if (process.alive) this.watch.asked(id)
        recognising.add(id)
        await this.clock.delay(this.random.below(100))
        if (this.faults.strikes('recognition_failed')) return failLater('network')
        return this.carriedOut.has(id) ? { ok: true, value: null } : undefined
      },
      run: (effect, context) => {
        // One try asks twice; another may be told to wait in between.
        if (!recognising.delete(effect.id) && process.alive) this.watch.asked(effect.id)
        return this.#work(process, effect, context, 'until its end')
      },
    }
  }

  /** Fails as others do, but never for good: that would halt the agent for another reason. */
  #cleanUp(process: Process): EffectHandler {
    return {
      policy: { timeoutMs: 60_000, attemptsMax: Infinity },
      run: async (effect, context) => {
        const work = this.#work(process, effect, context, 'even after its end')
        const attempt = await work.catch(() => undefined)
        return attempt?.ok ? attempt : failLater('busy')
      },
    }
  }

  /** A dead process is never woken. */
  #clockOf(process: Process) {
    return {
      nowMs: () => this.clock.nowMs(),
      wakeAt: (timeMs: number, wake: () => void) =>
        this.clock.wakeAt(timeMs, () => {
          if (process.alive) wake()
        }),
    }
  }

  /** One try of an effect, watched: asked for, alone on its effect, and no more than may be at once. */
  async #work(
    process: Process,
    effect: Effect,
    { signal }: EffectContext,
    acts: Acts,
  ): Promise<Attempt> {
    const { id } = effect
    if (!this.#isAskedFor(id)) {
      this.violations.push(`${id} was started before the row that asks for it was durable`)
    }
    if (process.alive && this.#isPutOff(effect)) {
      this.violations.push(`${id} was started while the journal says that it has not begun`)
    }
    if (process.working.has(id)) this.violations.push(`${id} is worked on twice at once`)
    process.working.add(id)
    if (process.working.size > EFFECTS_RUNNING_MAX) this.violations.push('too many effects at once')
    const leave = () => process.working.delete(id)
    // Who is deaf to its abort is left behind.
    signal.addEventListener('abort', () => this.clock.after(ABORT_GRACE_MS, leave))
    return this.#carryOut(process, effect, signal, acts).finally(leave)
  }

  /** Whatever can go wrong with an effect. */
  async #carryOut(
    process: Process,
    { id, kind }: Effect,
    signal: AbortSignal,
    acts: Acts,
  ): Promise<Attempt> {
    if (this.faults.strikes('effect_rejected')) throw new Error('the handler rejected')
    const late = this.faults.strikes('outcome_delayed')
    await this.clock.delay(this.random.below(late ? 30_000 : 300))
    const failure = this.#failure()
    if (failure === 'hang') return untilAborted(signal)
    if (failure === 'deaf') return new Promise(() => {})
    if (failure !== undefined) {
      const isHeard = process.alive && !signal.aborted && kind !== 'clean_up'
      const waitMs = failure.ok ? undefined : failure.error.retryAfterMs
      if (isHeard && waitMs !== undefined) this.watch.named(this.clock.nowMs() + waitMs)
      return failure
    }
    if (acts === 'until its end' && (signal.aborted || !process.alive)) return failLater('ended')
    this.carriedOut.set(id, { kind, count: (this.carriedOut.get(id)?.count ?? 0) + 1 })
    this.log(`carried out ${id}`)
    if (process.alive && this.faults.strikes('crash_after_effect')) this.crash('after the effect')
    if (this.faults.strikes('outcome_lost')) return failLater('network')
    await this.clock.delay(this.random.below(20))
    if (process.alive && this.faults.strikes('crash_before_outcome_recorded')) {
      this.crash('before the outcome is recorded')
    }
    return process.alive ? { ok: true, value: null } : new Promise(() => {})
  }

  #failure(): Attempt | 'hang' | 'deaf' | undefined {
    if (this.isOut) return failLater('overloaded')
    if (this.faults.strikes('effect_rate_limited')) return failLater('rate_limited', 2_000)
    if (this.faults.strikes('effect_rate_limited_for_hours')) {
      return failLater('rate_limited', 2 * HOUR_MS)
    }
    if (this.faults.strikes('effect_server_error')) return failLater('overloaded')
    if (this.faults.strikes('effect_timed_out')) return 'hang'
    if (this.faults.strikes('effect_deaf')) return 'deaf'
    if (this.faults.strikes('effect_stream_cut')) return failLater('network')
    if (this.faults.strikes('effect_garbage')) {
      return { ok: false, error: { code: 'invalid_output', message: '{', retry: 'never' } }
    }
    return undefined
  }

  #isAskedFor(id: EffectId): boolean {
    return this.disk.isDurable((batch) =>
      batch.rows.some((row) => row.body.effects?.some((effect) => effect.id === id)),
    )
  }

  /** Whether the next process would take an effect for one that has not begun. */
  #isPutOff({ id, kind }: Effect): boolean {
    const { phase = 'working' } = this.disk.contents.effects.get(id) ?? {}
    return kind !== 'clean_up' && phase !== 'working'
  }

  /** The journal with whatever can go wrong with it. What a dead process asks is never answered. */
  #faultyJournal(process: Process): Journal {
    const plain = openMemoryJournal(this.disk)
    const journal = this.#mutation.journal?.(plain, this) ?? plain
    const never = new Promise<never>(() => {})
    const guarded = async <T>(ask: () => Promise<T>): Promise<T> => {
      if (!process.alive) return never
      const answer = await ask()
      return process.alive ? answer : never
    }
    const read = <T>(ask: () => Promise<T>): Promise<T> =>
      guarded(() => {
        const busy = this.faults.strikes('journal_read_busy')
        return busy ? Promise.reject(new JournalError('busy', 'database is locked')) : ask()
      })
    return {
      ...journal,
      recover: () =>
        read(async () => {
          const recovery = await journal.recover()
          if (this.faults.strikes('crash_in_recovery')) this.crash('in recovery')
          return recovery
        }),
      loadAgents: (ids) => read(() => journal.loadAgents(ids)),
      seen: (ids) => read(() => journal.seen(ids)),
      dueTimers: (nowMs, limit) => read(() => journal.dueTimers(nowMs, limit)),
      nextDueMs: () => read(() => journal.nextDueMs()),
      commit: (batch) => guarded(() => this.#commit(process, journal, batch)),
    }
  }

  async #commit(process: Process, journal: Journal, batch: Batch): Promise<void> {
    await this.clock.delay(this.random.below(5))
    if (!process.alive) return
    if (this.faults.strikes('crash_before_commit')) return this.crash('before the commit')
    if (this.faults.strikes('journal_busy')) throw new JournalError('busy', 'database is locked')
    if (this.faults.strikes('journal_full')) throw new JournalError('full', 'disk is full')
    await journal.commit(batch)
    this.watch.committed()
    for (const row of batch.rows) {
      this.log(
        `${row.agentId} ${row.agentSeq} ${row.kind} ${row.eventType} ${row.from} → ${row.to}`,
      )
      if (row.kind === 'halted') this.onHalted(row.agentId)
    }
    if (this.faults.strikes('commit_in_doubt')) throw new JournalError('busy', 'no answer')
    if (this.faults.strikes('crash_after_commit')) this.crash('after the commit')
  }
}

function failLater(code: string, retryAfterMs?: number): Attempt {
  const error = { code, message: code, retry: 'later' as const }
  return { ok: false, error: { ...error, ...(retryAfterMs && { retryAfterMs }) } }
}

function untilAborted(signal: AbortSignal): Promise<Attempt> {
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(failLater('aborted'))),
  )
}
