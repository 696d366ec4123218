import { findMachine } from '../../src/machines/catalog.ts'
import { step } from '../../src/machines/step.ts'
import { replay } from '../../src/runtime/replay.ts'
import { openMemoryJournal } from './memory-journal.ts'
import { RUN, type World } from './world.ts'

/** What must hold when a simulation has come to rest, and does not. */
export async function findViolations(world: World): Promise<string[]> {
  return [
    ...lostEvents(world),
    ...handledTwice(world),
    ...illegalMoves(world),
    ...discontinuities(world),
    ...wrongReturns(world),
    ...disorder(world),
    ...unfinished(world),
    ...forgottenEffects(world),
    ...unfiredTimers(world),
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
    if (row.kind === 'halted') return [`${row.agentId} was halted: ${row.body.error}`]
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

/** Notes come to an agent in the order in which they were acknowledged. */
function disorder(world: World): string[] {
  return world.disk.contents.rows.flatMap(({ agentId, body }) =>
    body.set?.disorder === undefined ? [] : [`${agentId} got note ${body.set.disorder}`],
  )
}

/** Everybody rests: at the end, or where agents wait for work, with nothing planned. */
function unfinished(world: World): string[] {
  return [...world.disk.contents.agents.values()].flatMap((agent) => {
    const machine = findMachine(agent.machine)
    const rests = agent.state === null || machine?.terminal.includes(agent.state)
    const waits = agent.state === machine?.initial
    const planned = (agent.data.moves ?? []) as readonly unknown[]
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

function unfiredTimers(world: World): string[] {
  return [...world.disk.contents.timers.values()].map(
    (timer) => `timer ${timer.name} of ${timer.agentId} never fired`,
  )
}

async function foldDiffers(world: World): Promise<string[]> {
  const { differences } = await replay(openMemoryJournal(world.disk), RUN)
  return differences.map((difference) => `replay: ${difference}`)
}
