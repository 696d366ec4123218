import type { AgentId, EffectId, EventId, Json } from '../../src/agents/values.ts'
import { findViolations } from './invariants.ts'
import { type Mutation, RUN, World } from './world.ts'

const EVENTS = 60
const STEPS_MAX = 12_000

/** What a simulation showed. */
export interface Outcome {
  readonly seed: number
  readonly hash: string
  readonly violations: readonly string[]
  readonly hits: Readonly<Record<string, number>>
  readonly crashes: number
  readonly rows: number
  readonly trace: readonly string[]
}

/** Runs one seeded simulation to its end and checks what must hold. */
export async function simulate(seed: number, mutation?: Mutation): Promise<Outcome> {
  const world = new World(seed, mutation)
  void world.boot()
  scheduleEvents(world)
  scheduleTroubles(world)
  const rested = await runToRest(world)
  const violations = rested ? await findViolations(world) : ['it never came to rest']
  return {
    seed,
    hash: world.traceHash,
    violations: [...world.violations, ...violations],
    hits: world.faults.hits,
    crashes: world.crashes,
    rows: world.disk.contents.rows.length,
    trace: world.trace,
  }
}

/** Lets time pass until nobody waits for anything. */
async function runToRest(world: World): Promise<boolean> {
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    // All promises that can settle now do, before time passes.
    await new Promise((resolve) => setImmediate(resolve))
    if (!world.clock.advance()) return true
  }
  return false
}

/** Somebody outside delivers events, each until it is acknowledged, and some once more. */
function scheduleEvents(world: World): void {
  const { random, agents } = world
  const notes = new Map<AgentId, number>()
  for (let i = 0; i < EVENTS; i += 1) {
    const id = `event-${i}` as EventId
    const agent = random.pick(agents)
    const poisoned = world.faults.strikes('event_poisoned')
    const type = poisoned ? 'poison' : random.chance(0.5) ? 'start' : 'note'
    let payload: Json = { seed: random.below(1e9), peer: random.pick(agents) }
    if (type === 'note') {
      const number = (notes.get(agent) ?? 0) + 1
      notes.set(agent, number)
      payload = { number }
    }
    world.clock.after(i * 20_000 + random.below(15_000), () => {
      void deliver(world, id, agent, type, payload)
    })
  }
}

async function deliver(
  world: World,
  id: EventId,
  agent: AgentId,
  type: string,
  payload: Json,
): Promise<void> {
  world.sent.set(id, { id, agent, type, acknowledged: false })
  for (;;) {
    const answer = await withPatience(world, async () =>
      world.runtime?.deliver({ id, agent, type, payload }),
    )
    if (answer === 'accepted' || answer === 'duplicate') break
    await world.clock.delay(500)
  }
  world.log(`acknowledged ${id}`)
  world.sent.set(id, { id, agent, type, acknowledged: true })
  if (!world.faults.strikes('delivery_repeated')) return
  const again = await withPatience(world, async () =>
    world.runtime?.deliver({ id, agent, type, payload }),
  )
  if (again === 'accepted') world.violations.push(`${id} was accepted twice`)
}

/** The answer, or `undefined` when the process that was asked died. */
function withPatience<T>(world: World, ask: () => Promise<T>): Promise<T | undefined> {
  return Promise.race([
    ask().catch(() => undefined),
    world.clock.delay(1_000).then(() => undefined),
  ])
}

/** What goes wrong around the runtime, until the end of the last event. */
function scheduleTroubles(world: World): void {
  const intervalMs = 5_000
  const count = (EVENTS * 20_000) / intervalMs + 20
  for (let i = 0; i < count; i += 1) {
    world.clock.after(i * intervalMs, () => {
      if (i === count - 1) world.faults.active = false
      if (world.faults.strikes('service_outage')) world.beginOutage()
      if (world.faults.strikes('clock_forward')) world.clock.jump(3_600_000)
      if (world.faults.strikes('clock_back')) world.clock.jump(-3_600_000)
      if (world.faults.strikes('outcome_repeated')) void repeatOutcome(world)
      if (world.faults.strikes('run_paused')) void interrupt(world, 'pause')
      if (world.faults.strikes('run_stopped')) void interrupt(world, 'stop')
    })
  }
}

/** The user pauses or stops the run, and after a while goes on with it. */
async function interrupt(world: World, how: 'pause' | 'stop'): Promise<void> {
  world.log(how)
  await withPatience(world, async () => world.runtime?.[how](RUN))
  await world.clock.delay(world.random.below(120_000))
  world.log('resume')
  for (let resumed = false; !resumed; ) {
    const ask = async () => {
      await world.runtime?.resume(RUN)
      return world.runtime !== undefined
    }
    resumed = (await withPatience(world, ask)) ?? false
    await world.clock.delay(500)
  }
}

/** An outcome that is known already arrives again. */
async function repeatOutcome(world: World): Promise<void> {
  const known = world.disk.contents.rows.filter((row) => row.eventType === 'effect_finished')
  const row = known.length > 0 ? world.random.pick(known) : undefined
  if (row === undefined) return
  const answer = await withPatience(world, async () =>
    world.runtime?.answer(row.eventId as string as EffectId, 'again'),
  )
  if (answer === 'accepted')
    world.violations.push(`a second outcome of ${row.eventId} was accepted`)
}
