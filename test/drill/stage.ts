import type { Role } from '../../src/agents/role.ts'
import type { AgentId, EventId, Json, RunId } from '../../src/agents/values.ts'
import type { EffectHandler } from '../../src/runtime/effect-handler.ts'
import { openEmbeddedRuntime, type RuntimeParts } from '../../src/runtime/embedded-runtime.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { MemoryDisk, openMemoryJournal } from '../simulation/memory-journal.ts'
import { SimClock } from '../simulation/sim-clock.ts'

export const RUN = 'run-1' as RunId
export const AGENT = 'agent-1' as AgentId

/** One agent on a simulated clock and disk, so that a test of an hour takes no time. */
export class Stage {
  readonly clock = new SimClock()
  readonly disk = new MemoryDisk()
  /** Whether the service answers. */
  serviceUp = true
  readonly #role: Role
  readonly #parts: Partial<RuntimeParts>
  #runtime: Runtime | undefined
  #events = 0
  #ids = 0

  constructor(role: Role, parts: Partial<RuntimeParts> = {}) {
    this.#role = role
    this.#parts = parts
  }

  get runtime(): Runtime {
    if (this.#runtime === undefined) throw new Error('the stage is not open')
    return this.#runtime
  }

  async open(): Promise<void> {
    const journal = openMemoryJournal(this.disk)
    const opening = openEmbeddedRuntime({
      journal,
      blobs: { put: async () => ({ sha256: '', bytes: 0 }), get: async () => new Uint8Array() },
      roles: [this.#role],
      handlers: {},
      services: { model: { probe: async () => this.serviceUp } },
      clock: this.clock,
      newId: () => `id-${this.#ids++}`,
      random: () => 0.5,
      ...this.#parts,
    })
    this.#runtime = await opening
    await this.runtime.createRun(RUN, {})
    await this.runtime.createAgent({ id: AGENT, run: RUN, role: this.#role.name })
  }

  /** Closes the runtime, and lets the time pass that it waits for handlers. */
  async close(): Promise<void> {
    let closed = false
    const closing = this.runtime.close().then(() => {
      closed = true
    })
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      if (closed || !this.clock.advance()) return closing
    }
  }

  deliver(type: string, payload: Json = null, agent = AGENT) {
    this.#events += 1
    return this.runtime.deliver({ id: `e${this.#events}` as EventId, agent, type, payload })
  }

  /** Lets so much time pass, and everything happen that happens meanwhile. */
  async pass(ms: number): Promise<void> {
    let over = false
    this.clock.after(ms, () => {
      over = true
    })
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve))
      this.clock.advance()
    }
    await new Promise((resolve) => setImmediate(resolve))
  }

  agent(id = AGENT) {
    const agent = this.disk.contents.agents.get(id)
    if (agent === undefined) throw new Error(`no agent ${id}`)
    return agent
  }

  /** What the rows of the journal record, in short. */
  rows(): string[] {
    return this.disk.contents.rows.map(({ kind, eventType, from, to }) =>
      kind === 'moved' ? `${from} → ${to}` : `${kind} ${eventType}`,
    )
  }

  lastRow() {
    return this.disk.contents.rows.at(-1)
  }
}

/** A handler that needs the stage's service and fails while it is down. */
export function needingService(stage: () => Stage, carriedOut: string[] = []): EffectHandler {
  return {
    policy: { attemptsMax: 2, retryDelayMs: 100 },
    serviceOf: () => 'model',
    async run(effect) {
      if (stage().serviceUp) {
        carriedOut.push(effect.id)
        return { ok: true, value: null }
      }
      return { ok: false, error: { code: 'overloaded', message: '529', retry: 'later' } }
    },
  }
}
