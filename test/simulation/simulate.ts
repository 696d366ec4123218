import type { AgentId, EffectId, EventId, Json } from '../../src/agents/values.ts'
import { findViolations } from './invariants.ts'
import { type Mutation, RUN, World } from './world.ts'

const EVENTS = 60
// Three times what a seed needs.
const STEPS_MAX = 6_000

/** What a simulation showed. */
export interface Outcome {
  readonly seed: number
  readonly hash: string
  readonly violations: readonly string[]
  readonly hits: Readonly<Record<string, number>>
  readonly crashes: number
  /** How often an agent was halted, because it failed too often. */
  readonly halts: number
  readonly rows: number
  readonly trace: readonly string[]
}

/** Runs one seeded simulation to its end and checks what must hold. */
export async function simulate(seed: number, mutation?: Mutation): Promise<Outcome> {
  const world = new World(seed, mutation)
  world.onHalted = (agent) => void revive(world, agent)
  void world.boot()
  scheduleEvents(world)
  scheduleTroubles(world)
  const rested = await runToRest(world)
  if (rested) world.violations.push(...(await findViolations(world)))
  else if (world.violations.length === 0) world.violations.push('it never came to rest')
  return {
    seed,
    hash: world.traceHash,
    violations: world.violations,
    hits: world.faults.hits,
    crashes: world.crashes,
    halts: world.disk.contents.rows.filter((row) => row.kind === 'halted').length,
    rows: world.disk.contents.rows.length,
    trace: world.trace,
  }
}

/** Lets time pass until nobody waits for anything, or something is wrong already. */
async function runToRest(world: World): Promise<boolean> {
  for (let steps = 0; steps < STEPS_MAX && world.violations.length === 0; steps += 1) {
    // All promises that can settle now do, before time passes.
    await new Promise((resolve) => setImmediate(resolve))
    if (!world.clock.advance()) return true
    world.watch.passed()
  }
  return false
}

/** Somebody outside delivers events, each until it is acknowledged, and some once more. */
function scheduleEvents(world: World): void {
  const { random, agents } = world
  for (let i = 0; i < EVENTS; i += 1) {
    const id = `event-${i}` as EventId
    const agent = random.pick(agents)
    const poisoned = world.faults.strikes('event_poisoned')
    const type = poisoned ? 'poison' : random.chance(0.5) ? 'start' : 'note'
    const payload: Json = { seed: random.below(1e9), peer: random.pick(agents) }
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
  const ask = () =>
    withPatience(world, async () => world.runtime?.deliver({ id, agent, type, payload }))
  const acceptedTwice = `${id} was accepted twice`
  for (;;) {
    const doubled = world.faults.strikes('delivery_doubled')
    const answers = await Promise.all(doubled ? [ask(), ask()] : [ask()])
    if (answers.every((a) => a === 'accepted') && doubled) world.violations.push(acceptedTwice)
    if (answers.some((a) => a === 'accepted' || a === 'duplicate')) break
    await world.clock.delay(500)
  }
  world.log(`acknowledged ${id}`)
  world.sent.set(id, { id, agent, type, acknowledged: true })
  if (!world.faults.strikes('delivery_repeated')) return
  if ((await ask()) === 'accepted') world.violations.push(acceptedTwice)
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
  await world.clock.delay(world.random.below(world.random.chance(0.5) ? 120_000 : 200))
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

/** Somebody finds a halted agent after a while, and revives it. */
async function revive(world: World, agent: AgentId): Promise<void> {
  await world.clock.delay(world.random.below(300_000))
  while (world.disk.contents.agents.get(agent)?.halted) {
    world.log(`revive ${agent}`)
    await withPatience(world, async () => world.runtime?.revive(agent))
    await world.clock.delay(5_000)
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
