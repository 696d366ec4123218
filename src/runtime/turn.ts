import { EFFECT_FINISHED, type Role, TIMER_FIRED } from '../agents/role.ts'
import type { AgentId, EffectId, EffectResult, EventId, Json } from '../agents/values.ts'
import { BatchBuilder } from './batch-builder.ts'
import { unborn } from './fold.ts'
import { type Asked, giveBirth, handleEvent, type Limits, SUSPENSION_TIMER } from './handle.ts'
import type { Memory } from './memory.ts'
import type {
  AgentRecord,
  EffectPhase,
  EffectRecord,
  InboxEvent,
  RunRecord,
  TimerRecord,
} from './records.ts'
import { hasMail, putBackMail, putMail, type Resident, takeMail } from './residents.ts'

/** An event on its way into a mailbox. */
export interface Mail {
  readonly id: EventId
  readonly type: string
  readonly payload: Json
  readonly urgent?: boolean
}

/** A message to an agent that is perhaps not in memory. */
interface Letter {
  readonly sender: AgentId
  readonly to: AgentId
  readonly mail: Mail
}

const SUSPENSION_RECHECK_MS = 30_000

/** The event type under which a message to nobody comes back. */
const UNDELIVERABLE = 'undeliverable'

/** One turn of the runtime: what it takes in and what agents do about it, up to the commit. */
export class Turn {
  readonly batch: BatchBuilder
  readonly nowMs: number
  /** Effects that may run once the turn is durable, and work that is then to be ended. */
  readonly started: EffectId[] = []
  readonly ended: AbortController[] = []
  readonly #memory: Memory
  readonly #limits: Limits
  readonly #seen: Set<EventId>
  readonly #unread: Letter[] = []

  constructor(id: string, nowMs: number, seen: Set<EventId>, memory: Memory, limits: Limits) {
    this.batch = new BatchBuilder(id, memory.nextOrder)
    this.nowMs = nowMs
    this.#seen = seen
    this.#memory = memory
    this.#limits = limits
  }

  putRun(run: RunRecord): void {
    this.#memory.runs.set(run.id, run)
    this.batch.putRun(run)
  }

  /** Whether an id from outside was accepted before, in an earlier turn or in this one. */
  knows(id: EventId): boolean {
    return this.#seen.has(id)
  }

  /** Remembers an id from outside for good. */
  accept(id: EventId): void {
    this.#seen.add(id)
    this.batch.accept(id)
  }

  createAgent(id: AgentId, run: RunRecord, role: Role): void {
    const identity = {
      key: this.#memory.nextAgentKey,
      id,
      run: run.id,
      runKey: run.key,
      role: role.name,
      machine: role.machine.name,
    }
    this.#memory.nextAgentKey += 1
    const { agent, row, asked } = giveBirth(role, unborn(identity), this.nowMs)
    this.#memory.residents.put(agent)
    if (row !== null) this.batch.addRow(row)
    this.batch.putAgent(agent)
    if (asked !== null) this.#carryOut(agent, asked)
  }

  /** Puts an event into a resident's mailbox, and into the journal unless it is handled in this turn. */
  mail(resident: Resident, mail: Mail): void {
    const event: InboxEvent = {
      id: mail.id,
      agent: resident.record.id,
      agentKey: resident.record.key,
      type: mail.type,
      payload: mail.payload,
      atMs: this.nowMs,
      urgent: mail.urgent ?? false,
      tries: 0,
      order: this.#memory.nextOrder,
    }
    this.#memory.nextOrder += 1
    putMail(resident, event)
    this.batch.addMail(event)
    this.#memory.residents.markReady(event.agent)
  }

  /** The effect is over: its outcome becomes one event with the effect's id. */
  finishEffect(effect: EffectRecord, result: EffectResult, resident: Resident): void {
    this.#close(effect.id)
    const { id, kind } = effect
    const payload = { effect: id, kind, result: result as unknown as Json }
    this.mail(resident, { id: id as string as EventId, type: EFFECT_FINISHED, payload })
  }

  setPhase({ id }: EffectRecord, phase: EffectPhase): void {
    this.#memory.effects.setPhase(id, phase)
    this.batch.setPhase(id, phase)
  }

  /** Makes a due timer an event; a suspension does not time out while nobody can end it. */
  fire(timer: TimerRecord, resident: Resident): void {
    const { agent, name, epoch } = timer
    const waits =
      !this.#memory.isRunning(resident.record.run) ||
      this.nowMs < this.#memory.suspensionGraceUntilMs
    if (name === SUSPENSION_TIMER && waits) {
      this.batch.setTimer({ ...timer, dueMs: this.nowMs + SUSPENSION_RECHECK_MS })
      return
    }
    this.batch.removeTimer(agent, name)
    this.mail(resident, {
      id: `${resident.record.id}:timer:${name}:${epoch}` as EventId,
      type: TIMER_FIRED,
      payload: { name, epoch },
      urgent: name === SUSPENSION_TIMER,
    })
  }

  /** Lets an agent handle what waits for it, up to so many events. Gives how many it handled. */
  handleMail(resident: Resident, eventsMax: number): number {
    const role = this.#memory.roleOf(resident.record)
    if (role === undefined || !this.#memory.isRunning(resident.record.run)) return 0
    for (let handled = 0; handled < eventsMax; handled += 1) {
      const event = takeMail(resident)
      if (event === undefined) return handled
      this.#handle(role, resident, event)
    }
    if (hasMail(resident)) this.#memory.residents.markReady(resident.record.id)
    return eventsMax
  }

  /** The messages whose addressees have to be brought into memory first. */
  takeUnread(): readonly Letter[] {
    return this.#unread.splice(0)
  }

  deliver({ sender, to, mail }: Letter): void {
    const addressee = this.#memory.residents.get(to)
    if (addressee !== undefined) {
      this.mail(addressee, mail)
      return
    }
    const resident = this.#memory.residents.get(sender)
    const payload = { to, type: mail.type }
    if (resident !== undefined) this.mail(resident, { id: mail.id, type: UNDELIVERABLE, payload })
  }

  #handle(role: Role, resident: Resident, event: InboxEvent): void {
    const { row, agent, asked } = handleEvent(role, resident.record, event, this.#limits)
    if (row === null) {
      const tried = { ...event, tries: event.tries + 1 }
      putBackMail(resident, tried)
      this.batch.replaceMail(tried)
      return
    }
    this.#moveTimers(resident.record, agent)
    resident.record = agent
    this.batch.removeMail(event)
    this.batch.addRow(row)
    this.batch.putAgent(agent)
    if (asked !== null) this.#carryOut(agent, asked)
  }

  #carryOut(agent: AgentRecord, { messages, effects, cancelled, resumesEffects }: Asked): void {
    const open = this.#memory.effects.ofAgent(agent.id)
    const gone = cancelled === 'all' ? open.map(({ id }) => id) : cancelled
    for (const id of gone) if (this.#memory.effects.get(id)?.agentId === agent.id) this.#close(id)
    for (const { id, kind, input } of effects) {
      const effect = {
        id,
        agent: agent.key,
        agentId: agent.id,
        run: agent.run,
        kind,
        input,
        askedMs: this.nowMs,
        phase: 'working' as const,
      }
      this.#memory.effects.add(effect, false)
      this.batch.addEffect(effect)
      this.started.push(id)
    }
    if (resumesEffects) {
      for (const effect of open.filter(({ phase }) => phase === 'waiting')) {
        this.setPhase(effect, 'held')
        this.started.push(effect.id)
      }
    }
    messages.forEach(({ to, type, payload }, i) => {
      const mail = { id: `${agent.id}:${agent.seq}.m${i}` as EventId, type, payload }
      const letter = { sender: agent.id, to, mail }
      if (this.#memory.residents.get(to) === undefined) this.#unread.push(letter)
      else this.deliver(letter)
    })
  }

  /** Keeps the index of due times in step with the timers that an agent has. */
  #moveTimers(before: AgentRecord, after: AgentRecord): void {
    if (before.timers === after.timers) return
    for (const name of Object.keys(before.timers)) {
      if (after.timers[name] === undefined) this.batch.removeTimer(after.key, name)
    }
    for (const [name, timer] of Object.entries(after.timers)) {
      if (before.timers[name]?.epoch === timer.epoch) continue
      this.batch.setTimer({ agent: after.key, agentId: after.id, name, ...timer })
      this.#memory.nextDueMs = Math.min(this.#memory.nextDueMs ?? Infinity, timer.dueMs)
    }
  }

  #close(id: EffectId): void {
    this.batch.removeEffect(id)
    const work = this.#memory.effects.remove(id)
    if (work !== undefined) this.ended.push(work)
  }
}
