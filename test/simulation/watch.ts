import type { EffectId } from '../../src/agents/values.ts'
import { findMachine } from '../../src/machines/catalog.ts'
import { step } from '../../src/machines/step.ts'
import { SUSPEND } from '../../src/machines/suspend.ts'
import type { AgentRecord } from '../../src/runtime/records.ts'
import type { World } from './world.ts'

/** A clock that is set forward is noticed within ten minutes; nothing else makes a timer late. */
const LATE_MS_MAX = 11 * 60_000

/** How long a time that a service named may take until it is stored, a busy disk included. */
const STORED_AFTER_MS_MAX = 1_000

/** A time that a service named, and when it did. */
interface Named {
  readonly untilMs: number
  readonly elapsedMs: number
}

/** Looks at the disk while a simulation goes on: what must hold at every moment, and at its end. */
export class Watch {
  readonly #world: World
  /** When each armed timer was first seen to be due, by its key and its setting. */
  readonly #dueSinceMs = new Map<string, number>()
  #named: Named[] = []

  constructor(world: World) {
    this.#world = world
  }

  /** After a commit: what is stored fits together. */
  committed(): void {
    this.#world.violations.push(...this.#strayTimers(), ...this.#unsuspended())
  }

  /** A service asked to be left alone. */
  named(untilMs: number): void {
    this.#named.push({ untilMs, elapsedMs: this.#world.clock.elapsedMs })
  }

  /** After a crash: what was named just before it may not be known any more. */
  crashed(): void {
    const { elapsedMs } = this.#world.clock
    this.#named = this.#named.filter((n) => elapsedMs - n.elapsedMs > STORED_AFTER_MS_MAX)
  }

  /** Before a service is asked. */
  asked(id: EffectId): void {
    const { clock, violations } = this.#world
    const isEarly = this.#named.some(({ untilMs }) => clock.nowMs() < untilMs)
    if (isEarly) violations.push(`${id} was tried before the time that its service named`)
  }

  /** After time has passed. */
  passed(): void {
    const { disk, clock, violations } = this.#world
    for (const { agentId, name, epoch, dueMs } of disk.contents.timers.values()) {
      const key = `${agentId} ${name} ${epoch} ${dueMs}`
      // A clock that is set back makes it a thing of the future again.
      const isDue = dueMs <= clock.nowMs()
      const sinceMs = (isDue ? this.#dueSinceMs.get(key) : undefined) ?? clock.elapsedMs
      this.#dueSinceMs.set(key, sinceMs)
      if (clock.elapsedMs - sinceMs > LATE_MS_MAX) violations.push(`timer ${key} is late`)
    }
  }

  /** A timer that waits to be due is one that its agent has set. */
  #strayTimers(): string[] {
    const { timers } = this.#world.disk.contents
    return [...timers.values()].flatMap(({ agentId, name, epoch }) =>
      this.#agent(agentId)?.timers[name]?.epoch === epoch
        ? []
        : [`timer ${name} waits to be due, and ${agentId} has not set it`],
    )
  }

  /** Who waits for a service is suspended, about to be, or where its table does not allow it. */
  #unsuspended(): string[] {
    const { effects, inbox } = this.#world.disk.contents
    const told = new Set(
      [...inbox.values()].filter((e) => e.type === 'service_unavailable').map((e) => e.agent),
    )
    return [...effects.values()].flatMap(({ id, agentId, phase }) => {
      const agent = this.#agent(agentId)
      const isWaiting = phase === 'waiting'
      const excused = !isWaiting || told.has(agentId) || agent === undefined || agent.halted
      return excused || !canBeSuspended(agent) ? [] : [`${id} waits, and its agent does not`]
    })
  }

  #agent(id: AgentRecord['id']): AgentRecord | undefined {
    return this.#world.disk.contents.agents.get(id)
  }
}

function canBeSuspended({ machine: name, state }: AgentRecord): boolean {
  const machine = findMachine(name)
  return machine !== undefined && step(machine, state, 'service_unavailable') === SUSPEND
}
