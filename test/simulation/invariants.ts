import { findMachine } from '../../src/machines/catalog.ts'
import { step } from '../../src/machines/step.ts'
import { FAILURE } from '../../src/machines/suspend.ts'
import { replay } from '../../src/runtime/replay.ts'
import { DRILL_ONCE } from '../drill/drill-role.ts'
import { openMemoryJournal } from './memory-journal.ts'
import { RESTARTS, RUN, type World } from './world.ts'

/** What must hold when a simulation has come to rest, and does not. */
export async function findViolations(world: World): Promise<string[]> {
  return [
    ...lostEvents(world),
    ...handledTwice(world),
    ...illegalMoves(world),
    ...discontinuities(world),
    ...wrongReturns(world),
    ...disorder(world),
    ...activeInSuspension(world),
    ...earlyTimers(world),
    ...unfinished(world),
    ...forgottenEffects(world),
    ...unfiredTimers(world),
    ...restarts(world),
    ...repetitions(world),
    ...(await foldDiffers(world)),
  ]
}

/** An acknowledged event is in the journal, or still waits for its agent. */
function lostEvents(world: World): string[] {
  const { rows, inbox } = world.disk.contents
  const known = new Set([
    ...rows.map((row) => row.eventId),
    ...[...inbox.values()].map((event) => event.id),
  ])
  const acknowledged = [...world.sent.values()].filter((sent) => sent.acknowledged)
  return acknowledged.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} was lost`)
}

/** One row for each event of an agent; so one for each outcome of an effect. */
function handledTwice(world: World): string[] {
  const seen = new Set<string>()
  return world.disk.contents.rows.flatMap(({ agentId, eventId }) => {
    const key = `${agentId} ${eventId}`
    if (seen.has(key)) return [`${key} was handled twice`]
    seen.add(key)
    return []
  })
}

function illegalMoves(world: World): string[] {
  return world.disk.contents.rows.flatMap((row) => {
    if (row.kind !== 'moved') return row.kind === 'born' || row.from === row.to ? [] : ['moved?']
    const machine = findMachine(row.agentId.slice('agent-'.length))
    const to = machine && step(machine, row.from, row.move ?? '', row.to ?? '')
    return to === row.to ? [] : [`${row.agentId}: no row ${row.from} ${row.move} ${row.to}`]
  })
}

/** Each row goes on from where the one before it ended. */
function discontinuities(world: World): string[] {
  const states = new Map<string, string | null>()
  return world.disk.contents.rows.flatMap(({ agentId, kind, from, to, seq }) => {
    const before = states.get(agentId) ?? null
    states.set(agentId, to)
    return kind === 'born' || from === before
      ? []
      : [`row ${seq} starts from ${from}, not ${before}`]
  })
}

/** BUDGET_REVIEW, QUESTION and SUSPEND return to the very state that was left for them. */
function wrongReturns(world: World): string[] {
  const left = new Map<string, string | null>()
  return world.disk.contents.rows.flatMap(({ agentId, kind, from, to, move, seq }) => {
    if (kind !== 'moved') return []
    const key = (state: string | null) => `${agentId} ${state}`
    if (from !== 'SUSPEND' && ['BUDGET_REVIEW', 'QUESTION', 'SUSPEND'].includes(to ?? '')) {
      left.set(key(to), from)
    }
    const returns = ['service_restored', 'question_answered', 'budget_granted'].includes(move ?? '')
    const expected = left.get(key(from))
    const isReturn = returns && !(from === 'BUDGET_REVIEW' && agentId.includes('coder@D'))
    return isReturn && to !== expected ? [`row ${seq} returned to ${to}, not to ${expected}`] : []
  })
}

/** Events from outside are handled by each agent in the order in which they were accepted. */
function disorder(world: World): string[] {
  const { accepted, rows } = world.disk.contents
  const places = new Map([...accepted].map((id, place) => [id, place]))
  const last = new Map<string, number>()
  return rows.flatMap(({ agentId, eventId }) => {
    const place = places.get(eventId)
    if (place === undefined) return []
    const before = last.get(agentId) ?? -1
    last.set(agentId, place)
    return place > before ? [] : [`${agentId} handled ${eventId} out of order`]
  })
}

/** A suspended agent does nothing but to wait for its services. */
function activeInSuspension(world: World): string[] {
  const allowed = ['service_unavailable', 'service_restored', 'timer_fired', 'revived']
  return world.disk.contents.rows.flatMap(({ agentId, eventType, from, seq }) =>
    from !== 'SUSPEND' || allowed.includes(eventType)
      ? []
      : [`row ${seq}: ${agentId} handled ${eventType} in SUSPEND`],
  )
}

/** A timer fires when its last setting is due, not by an earlier one. */
function earlyTimers(world: World): string[] {
  const due = new Map<string, number>()
  return world.disk.contents.rows.flatMap(({ agentId, eventType, kind, atMs, body, seq }) => {
    const key = (name: string) => `${agentId} ${name}`
    const fired = eventType === 'timer_fired' && kind !== 'ignored' ? String(body.payload) : ''
    const early = atMs < (due.get(key(fired)) ?? 0)
    for (const [name, dueMs] of Object.entries(body.timers ?? {})) due.set(key(name), dueMs ?? 0)
    return early ? [`row ${seq}: timer ${fired} of ${agentId} fired too early`] : []
  })
}

/** Everybody rests: at the end, or where agents wait for work, with nothing planned. */
function unfinished(world: World): string[] {
  return [...world.disk.contents.agents.values()].flatMap((agent) => {
    const machine = findMachine(agent.machine)
    const isEnd = agent.state === FAILURE && !machine?.lookup.has(FAILURE)
    const rests = agent.state === null || isEnd || machine?.terminal.includes(agent.state)
    const waits = agent.state === machine?.initial
    const planned = (agent.data.moves ?? []) as readonly unknown[]
    if (agent.halted) return [`${agent.id} is halted`]
    if ((rests || waits) && planned.length === 0) return []
    return [`${agent.id} is stuck in ${agent.state} with ${planned.length} moves to make`]
  })
}

/** Every effect that was asked for has an outcome, or was given up with its generation. */
function forgottenEffects(world: World): string[] {
  const { rows, effects } = world.disk.contents
  const finished = new Set<string>(rows.map((row) => row.eventId))
  const born = new Map(rows.filter((r) => r.kind === 'born').map((r) => [r.agentId, r.agentSeq]))
  const dropped = new Map(
    rows.filter((r) => r.move === 'suspension_timed_out').map((r) => [r.agentId, r.agentSeq]),
  )
  const open = [...effects.keys()].map((id) => `${id} is still open`)
  const lost = rows.flatMap((row) =>
    (row.body.effects ?? []).flatMap(({ id }) => {
      const givenUp =
        row.agentSeq < (born.get(row.agentId) ?? 0) ||
        row.agentSeq < (dropped.get(row.agentId) ?? 0)
      return finished.has(id) || givenUp ? [] : [`${id} never had an outcome`]
    }),
  )
  return [...open, ...lost]
}

/** No timer is left, neither to fire nor in an agent's memory. */
function unfiredTimers(world: World): string[] {
  const { timers, agents } = world.disk.contents
  return [
    ...[...timers.values()].map(({ name, agentId }) => `timer ${name} of ${agentId} never fired`),
    ...[...agents.values()].flatMap((agent) =>
      Object.keys(agent.timers).map((name) => `${agent.id} still has timer ${name}`),
    ),
  ]
}

/** After failures an agent is born again as often as is allowed, and halted when it would be more. */
function restarts(world: World): string[] {
  const restartsMs = new Map<string, number[]>()
  const states = new Map<string, string | null>()
  return world.disk.contents.rows.flatMap(({ agentId, kind, eventType, atMs, to, body }) => {
    const failed = states.get(agentId) === FAILURE
    states.set(agentId, to)
    if (kind !== 'born' && kind !== 'halted') return []
    // What once lay too far back is forgotten, though a clock that is set back brings it near.
    const recent = (restartsMs.get(agentId) ?? []).filter(
      (ms) => ms > atMs - RESTARTS.restartWindowMs,
    )
    const isDue = failed && recent.length >= RESTARTS.restartsMax
    if (kind === 'halted') return isDue ? [] : [`${agentId} was halted: ${body.error}`]
    restartsMs.set(agentId, eventType === 'revived' ? [] : failed ? [...recent, atMs] : recent)
    return isDue && eventType !== 'revived' ? [`${agentId} was restarted too often`] : []
  })
}

/** What its handler recognises is carried out once, whatever happens. */
function repetitions(world: World): string[] {
  return [...world.carriedOut].flatMap(([id, { kind, count }]) =>
    kind === DRILL_ONCE && count > 1 ? [`${id} was carried out ${count} times`] : [],
  )
}

async function foldDiffers(world: World): Promise<string[]> {
  const { differences } = await replay(openMemoryJournal(world.disk), RUN)
  return differences.map((difference) => `replay: ${difference}`)
}
