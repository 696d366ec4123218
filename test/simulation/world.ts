import { createHash } from 'node:crypto'
import type { AgentId, EffectId, EventId, RunId } from '../../src/agents/values.ts'
import { MACHINES } from '../../src/machines/catalog.ts'
import type { Attempt, Effect, EffectHandler } from '../../src/runtime/effect-handler.ts'
import { openEmbeddedRuntime, type RuntimeParts } from '../../src/runtime/embedded-runtime.ts'
import { type Batch, type Journal, JournalError } from '../../src/runtime/journal.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { drillRole } from '../drill/drill-role.ts'
import { Random } from '../drill/random.ts'
import { FaultPlan } from './faults.ts'
import { MemoryDisk, openMemoryJournal } from './memory-journal.ts'
import { SimClock } from './sim-clock.ts'

export const RUN = 'run-1' as RunId
const HOUR_MS = 3_600_000
const OUTAGE_MS_MAX = 30 * 60_000

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
}

/** The production runtime on a simulated clock and disk, among simulated services. */
export class World {
  readonly random: Random
  readonly faults: FaultPlan
  readonly clock = new SimClock()
  readonly disk = new MemoryDisk()
  readonly trace: string[] = []
  /** Effects that were carried out, with how often. */
  readonly carriedOut = new Map<EffectId, number>()
  readonly violations: string[] = []
  readonly sent = new Map<EventId, Sent>()
  readonly agents: readonly AgentId[]
  crashes = 0
  #process: Process = { alive: false }
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
    const process: Process = { alive: true }
    this.#process = process
    this.log('boot')
    const journal = this.#faultyJournal(process)
    const parts = this.#parts(process, journal)
    const runtime = await openEmbeddedRuntime(this.#mutation.parts?.(parts, this) ?? parts)
    if (!process.alive) return
    process.runtime = runtime
    void this.#populate(process)
  }

  /** The process is gone, and with it everything that was not on the disk. */
  crash(where: string): void {
    if (!this.#process.alive) return
    this.log(`CRASH ${where}`)
    this.crashes += 1
    this.#process.alive = false
    this.disk.crash()
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
    const drill: EffectHandler = {
      policy: { timeoutMs: 60_000, attemptsMax: 3 },
      serviceOf: () => 'model',
      run: (effect) => this.#carryOut(process, effect),
    }
    return {
      journal,
      blobs: {
        put: async () => ({ sha256: '', bytes: 0 }),
        get: async () => new Uint8Array(),
      },
      roles: MACHINES.map((machine) => drillRole(machine, machine.id !== 'architect')),
      handlers: { drill, clean_up: this.#cleanUp(process) },
      services: { model: { concurrencyMax: 4, probe: async () => !this.isOut } },
      clock: this.#clockOf(process),
      newId: () => `id-${this.#idCount++}`,
      random: () => this.random.next(),
      // Others wait for a halted agent's answer; halting is tested where nobody does.
      // Small bounds are reached often.
      limits: { restartsMax: Infinity, rowsPerTurnMax: 3, residentsMax: 2 },
    }
  }

  /** Fails as others do, but never for good, so that nobody is halted. */
  #cleanUp(process: Process): EffectHandler {
    return {
      policy: { timeoutMs: 60_000, attemptsMax: Infinity },
      run: async (effect) => {
        const attempt = await this.#carryOut(process, effect).catch(() => undefined)
        if (attempt?.ok) return attempt
        return { ok: false, error: { code: 'busy', message: 'busy', retry: 'later' } }
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

  /** One try of an effect, with whatever can go wrong with it. */
  async #carryOut(process: Process, effect: Effect): Promise<Attempt> {
    if (!this.#isAskedFor(effect.id)) {
      this.violations.push(`${effect.id} was started before the row that asks for it was durable`)
    }
    if (this.faults.strikes('effect_rejected')) throw new Error('the handler rejected')
    const late = this.faults.strikes('outcome_delayed')
    await this.clock.delay(this.random.below(late ? 30_000 : 300))
    const failure = this.#failure()
    if (failure !== undefined) {
      if (failure === 'hang') return new Promise(() => {})
      return failure
    }
    this.carriedOut.set(effect.id, (this.carriedOut.get(effect.id) ?? 0) + 1)
    this.log(`carried out ${effect.id}`)
    if (process.alive && this.faults.strikes('crash_after_effect')) this.crash('after the effect')
    await this.clock.delay(this.random.below(20))
    if (process.alive && this.faults.strikes('crash_before_outcome_recorded')) {
      this.crash('before the outcome is recorded')
    }
    return process.alive ? { ok: true, value: null } : new Promise(() => {})
  }

  #failure(): Attempt | 'hang' | undefined {
    const later = (code: string, retryAfterMs?: number): Attempt => {
      const error = { code, message: code, retry: 'later' as const }
      return { ok: false, error: { ...error, ...(retryAfterMs && { retryAfterMs }) } }
    }
    if (this.isOut) return later('overloaded')
    if (this.faults.strikes('effect_rate_limited')) return later('rate_limited', 2_000)
    if (this.faults.strikes('effect_rate_limited_for_hours')) {
      return later('rate_limited', 2 * HOUR_MS)
    }
    if (this.faults.strikes('effect_server_error')) return later('overloaded')
    if (this.faults.strikes('effect_timed_out')) return 'hang'
    if (this.faults.strikes('effect_stream_cut')) return later('network')
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
    return {
      ...journal,
      recover: () =>
        guarded(async () => {
          const recovery = await journal.recover()
          if (this.faults.strikes('crash_in_recovery')) this.crash('in recovery')
          return recovery
        }),
      loadAgents: (ids) => guarded(() => journal.loadAgents(ids)),
      seen: (ids) => guarded(() => journal.seen(ids)),
      dueTimers: (nowMs, limit) => guarded(() => journal.dueTimers(nowMs, limit)),
      nextDueMs: () => guarded(() => journal.nextDueMs()),
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
    for (const row of batch.rows) {
      this.log(
        `${row.agentId} ${row.agentSeq} ${row.kind} ${row.eventType} ${row.from} → ${row.to}`,
      )
    }
    if (this.faults.strikes('commit_in_doubt')) throw new JournalError('busy', 'no answer')
    if (this.faults.strikes('crash_after_commit')) this.crash('after the commit')
  }
}
