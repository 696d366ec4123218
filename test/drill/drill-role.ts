import {
  type AgentEvent,
  type AgentView,
  type Decision,
  EFFECT_FINISHED,
  type Role,
  TIMER_FIRED,
} from '../../src/agents/role.ts'
import type { AgentId, Json, JsonObject } from '../../src/agents/values.ts'
import type { EventName } from '../../src/machines/events.ts'
import type { Machine } from '../../src/machines/machine.ts'
import { FAILURE } from '../../src/machines/suspend.ts'
import { Random } from './random.ts'

/** The kind of effects that are never to be carried out twice: their handler recognises them. */
export const DRILL_ONCE = 'drill_once'

const OVERLAY = ['service_unavailable', 'service_restored', 'suspension_timed_out']
const WALK_MOVES_MAX = 12
const TIMER_MS_MAX = 90_000
const LONG_TIMER_MS_MAX = 7_200_000

/** One planned transition. */
interface PlannedMove {
  readonly event: EventName
  readonly to: string
}

/**
 * A role that obeys a real machine without thinking: told to start, it plans a random legal walk to
 * a terminal state, and lets an effect, a timer or a message trigger each move. Told a note, it
 * counts it and sets a timer again.
 */
export function drillRole(machine: Machine, recycles: boolean): Role {
  return {
    name: `drill-${machine.name}`,
    machine,
    recycles,
    initialData: {},
    handle: (agent, event) => handle(machine, agent, event),
  }
}

function handle(machine: Machine, agent: AgentView, event: AgentEvent): Decision {
  switch (event.type) {
    case 'start':
      return start(machine, agent, event)
    case 'note':
      return takeNote(agent, event)
    case 'poke':
      return { send: [{ to: field(event, 'from') as AgentId, type: 'echo', payload: null }] }
    case 'poison':
      throw new Error('poisoned')
    case 'cheat':
      return { move: { event: 'merged', to: 'NOWHERE' } }
    case 'suspension_timed_out':
      return afterFailure(machine, agent, event)
    case TIMER_FIRED:
      if (event.payload === 'poison') throw new Error('poisoned')
      if (event.payload === 'nap') return { set: { naps: Number(agent.data.naps ?? 0) + 1 } }
      return advance(agent, event)
    case 'echo':
    case EFFECT_FINISHED:
      return advance(agent, event)
    default:
      return {}
  }
}

function start(machine: Machine, agent: AgentView, event: AgentEvent): Decision {
  if (plannedMoves(agent).length > 0) return { reason: 'busy' }
  const random = new Random(Number(field(event, 'seed')))
  const moves = planWalk(machine, agent, random)
  if (moves.length === 0) return { reason: 'nowhere to go' }
  const peer = field(event, 'peer')
  const set: JsonObject = { moves: moves as unknown as Json, peer, seed: random.below(1e9) }
  return { set, ...trigger(agent.id, { ...agent.data, ...set }, event) }
}

/** Takes the next planned move, and arranges what triggers the one after. */
function advance(agent: AgentView, event: AgentEvent): Decision {
  const [move, ...rest] = plannedMoves(agent)
  if (move === undefined) return { reason: 'nothing planned' }
  const seed = new Random(Number(agent.data.seed)).below(1e9)
  const data = { ...agent.data, moves: rest as unknown as Json, seed }
  const set = { moves: data.moves, seed }
  return { move, set, ...(rest.length > 0 && trigger(agent.id, data, event)) }
}

/** From ERROR on: plan the way to the end anew, as the old plan started from elsewhere. */
function afterFailure(machine: Machine, agent: AgentView, event: AgentEvent): Decision {
  const random = new Random(Number(agent.data.seed ?? 1))
  const moves = planWalk(machine, agent, random, 0)
  const data = { ...agent.data, moves: moves as unknown as Json }
  const set = { moves: data.moves }
  return { set, ...(moves.length > 0 && trigger(agent.id, data, event)) }
}

function trigger(id: AgentId, data: JsonObject, event: AgentEvent): Decision {
  const random = new Random(Number(data.seed))
  switch (random.below(4)) {
    case 0: {
      const step = event.atMs + random.below(random.chance(0.1) ? LONG_TIMER_MS_MAX : TIMER_MS_MAX)
      return { timers: { step, ...(random.chance(0.2) && { poison: event.atMs + 1_000 }) } }
    }
    case 1:
      return { send: [{ to: data.peer as AgentId, type: 'poke', payload: { from: id } }] }
    case 2:
      return { effects: [{ kind: 'drill', input: { seed: random.below(1e9) } }] }
    default:
      return { effects: [{ kind: DRILL_ONCE, input: { seed: random.below(1e9) } }] }
  }
}

/** Counts the notes, and puts off the nap that follows them. */
function takeNote(agent: AgentView, event: AgentEvent): Decision {
  const napMs = new Random(Number(field(event, 'seed'))).below(TIMER_MS_MAX)
  return {
    set: { notes: Number(agent.data.notes ?? 0) + 1 },
    timers: { nap: event.atMs + napMs },
  }
}

function plannedMoves(agent: AgentView): readonly PlannedMove[] {
  return (agent.data.moves ?? []) as unknown as PlannedMove[]
}

function field(event: AgentEvent, name: string): Json {
  return (event.payload as JsonObject)[name] ?? null
}

/** A random walk, then the shortest way to a terminal state. Empty where the agent is at one. */
function planWalk(
  machine: Machine,
  agent: AgentView,
  random: Random,
  wander = random.below(WALK_MOVES_MAX),
): PlannedMove[] {
  const moves: PlannedMove[] = []
  let place: Place = { state: agent.state, origin: agent.origin }
  while (!isTerminal(machine, place.state)) {
    const exits = exitsOf(machine, place)
    // The overlay's ERROR is the end of a machine that has no row for it.
    if (place.state === FAILURE && exits.length === 0) return moves
    const homeward = exits.filter(
      (exit) => distance(machine, exit.after) < distance(machine, place),
    )
    // Away from the end while it wanders, or most walks would see little of their machine.
    const inward = exits.filter((exit) => !isTerminal(machine, exit.after.state))
    // Few states return to where they were left for, and there is much to get wrong in them.
    const returning = inward.filter(({ after }) => after.origin !== null)
    const preferred = returning.length > 0 && random.chance(0.5) ? returning : inward
    const onward = preferred.length > 0 ? preferred : exits
    const { move, after } = random.pick(moves.length < wander ? onward : homeward)
    moves.push(move)
    place = after
  }
  return moves
}

interface Place {
  readonly state: string | null
  readonly origin: string | null
}

function exitsOf(machine: Machine, { state, origin }: Place) {
  const events = [...(machine.lookup.get(state) ?? [])]
  return events
    .filter(([event]) => !OVERLAY.includes(event))
    .flatMap(([event, target]) => {
      const to = typeof target === 'string' ? target : target.get(origin ?? '')
      if (to === undefined) return []
      const returns = machine.transitions.some((row) => row.from === to && row.toOrigin)
      const move = { event: event as EventName, to }
      return [{ move, after: { state: to, origin: returns ? state : null } }]
    })
}

function isTerminal(machine: Machine, state: string | null): boolean {
  return state !== null && machine.terminal.includes(state)
}

/** By machine and place; a walk asks for the same ones again and again. */
const distances = new Map<string, number>()

/** Moves to the nearest terminal state. */
function distance(machine: Machine, from: Place): number {
  const key = `${machine.name} ${from.state} ${from.origin}`
  const known = distances.get(key) ?? findDistance(machine, from)
  distances.set(key, known)
  return known
}

function findDistance(machine: Machine, from: Place): number {
  let places = [from]
  for (let moves = 0; moves < 50; moves += 1) {
    if (places.some(({ state }) => isTerminal(machine, state))) return moves
    places = places.flatMap((place) => exitsOf(machine, place).map(({ after }) => after))
    const byName = new Map(places.map((place) => [`${place.state} ${place.origin}`, place]))
    places = [...byName.values()]
  }
  return Infinity
}
