import { afterAll, beforeAll, describe, test } from 'vitest'
import type { BrainEvent } from '../../src/effects/brains/brain.ts'
import { breachIn, only, thinkThrough } from '../brains/turn.ts'
import { type Answer, calls } from '../providers/answer.ts'
import { type AgentWorld, hasCanary, openAgentWorld, playScene } from './agent-world.ts'
import { type Fault, REAL_AGENTS, type RealAgent } from './real-agents.ts'
import { findObeyed, plantConfiguration } from './repository-configuration.ts'

const TIMEOUT_MS = 110_000

const FAULTS: Readonly<Record<Fault, Answer>> = {
  unauthorized: { error: 'unauthorized' },
  rate_limited: { error: 'rate_limited' },
  empty: { broken: 'empty' },
  hung: { broken: 'silent' },
}

/** What a model may write into a command, so that it looks like a call of our tool. */
const LIKE_OURS = ['mcp.slipway.done', 'mcp__slipway__done']

/** A prompt in which a character was cut in two, and how JSON writes that half. */
const HALVED = 'You are a coder. \ud83d'
const HALF = String.raw`\ud83d`

/** With SLIPWAY_AGENTS=all, every fault is shown to every agent. */
const isLong = process.env.SLIPWAY_AGENTS === 'all'

let world: AgentWorld

beforeAll(async () => {
  world = await openAgentWorld()
})

afterAll(() => world.close())

describe.concurrent.each(REAL_AGENTS)('$agent by $mode', { timeout: TIMEOUT_MS }, (real) => {
  const done = calls(real.done, { summary: 'Replaced.' })

  test('edits by itself, obeys no repository, sees no other key, ends by our tool', async ({
    expect,
  }) => {
    const answers = [real.edit, real.shell('env; cat /proc/*/environ; echo looked'), done]
    await playScene(world, real, { answers }, async (scene) => {
      await plantConfiguration(scene.workspace)
      const events = await thinkThrough(scene.brain, { ...scene.turn, system: HALVED })
      expect(breachIn(events)).toBeUndefined()
      expect(callsIn(events)).toEqual([['done', { summary: 'Replaced.' }]])
      expect(events.at(-1)).toMatchObject({ type: 'finished', reason: 'tool_calls' })
      expect(scene.fileText()).toBe('two\n')
      expect(scene.loopRequests()).toHaveLength(3)
      const told = JSON.stringify(scene.server.requests.map(({ body }) => body))
      expect(told).toContain('HOME=/home/sandbox')
      expect(hasCanary(told)).toBe(false)
      expect(told.includes(HALF)).toBe(false)
      expect(await findObeyed(scene.workspace)).toEqual([])
      expect(scene.processCount()).toBe(0)
    })
  })

  test('changes nothing where it may only read, and runs nothing that its user trusts', async ({
    expect,
  }) => {
    const answers = [real.edit, real.shell('printf ran%d 42'), done]
    const files = (url: string) => ({ ...real.files?.(url), ...real.trustingFiles })
    await playScene(world, { ...real, files }, { answers, access: 'read' }, async (scene) => {
      const events = await thinkThrough(scene.brain, scene.turn)
      expect(breachIn(events)).toBeUndefined()
      expect(scene.fileText()).toBe('one\n')
      expect(callsIn(events)).toEqual([['done', { summary: 'Replaced.' }]])
      expect(scene.loopRequests()).toHaveLength(answers.length)
      const told = JSON.stringify(scene.loopRequests().map(({ body }) => body))
      // It has no mode that only reads and works in a sandbox.
      expect(told.includes('ran42')).toBe(real.agent === 'codex')
    })
  })

  test('changes nothing without a sandbox either, ends by our tool', async ({ expect }) => {
    const shell = real.shellBeyond ?? real.shell
    const likeOurs = LIKE_OURS.map((name) => shell(`echo ${name} > a.txt`))
    const answers = [real.edit, ...likeOurs, done]
    await playScene(world, real, { level: 'none', access: 'read', answers }, async (scene) => {
      const turns: BrainEvent[][] = []
      // Who stops when it is refused something is asked again, as thinking does.
      while (turns.length < answers.length && turns.every((turn) => callsIn(turn).length === 0)) {
        turns.push(await thinkThrough(scene.brain, scene.turn))
      }
      expect(turns.map(breachIn)).toEqual(turns.map(() => undefined))
      expect(callsIn(turns.flat())).toEqual([['done', { summary: 'Replaced.' }]])
      expect(scene.loopRequests()).toHaveLength(answers.length)
      expect(scene.fileText()).toBe('one\n')
      expect(scene.processCount()).toBe(0)
    })
  })

  test.runIf(real.tellsTokens)(
    'ends when its tokens are used up, and not before the call that they paid for',
    async ({ expect }) => {
      const answers = [done, real.shell('echo looked')]
      await playScene(world, real, { answers }, async (scene) => {
        const paid = await thinkThrough(scene.brain, { ...scene.turn, tokensMax: 1 })
        expect(callsIn(paid)).toEqual([['done', { summary: 'Replaced.' }]])
        const [{ inputTokens } = { inputTokens: 0 }] = scene.loopRequests()
        const tokensMax = 4 * inputTokens
        const events = await thinkThrough(scene.brain, { ...scene.turn, tokensMax })
        expect(breachIn(events)).toBeUndefined()
        const message = `the agent used up ${tokensMax} tokens without ending its work`
        const failure = { kind: 'invalid_output', message }
        expect(events.at(-1)).toEqual({ type: 'failed', failure })
        // A fifth may have begun when the last step ended.
        expect([4, 5]).toContain(scene.loopRequests().length - 1)
        expect(scene.processCount()).toBe(0)
      })
    },
  )

  test.for(faultsFor(real))('fails when its provider is: %s', async (fault, { expect }) => {
    // The clock counts from the first sign of life, which is a step with its own tool.
    const answers = [real.shell('echo begun'), FAULTS[fault]]
    const timeouts = isSeen(real, fault) ? {} : { idleMs: 3_000 }
    await playScene(world, real, { answers, timeouts }, async (scene) => {
      const events = await thinkThrough(scene.brain, scene.turn)
      expect(breachIn(events)).toBeUndefined()
      const kind = real.sees[fault] ?? 'stalled'
      expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind } })
      expect(scene.loopRequests().length).toBeGreaterThan(1)
      expect(scene.processCount()).toBe(0)
    })
  })

  test('is given up at once while its provider hangs', async ({ expect }) => {
    await playScene(world, real, { answers: [FAULTS.hung] }, async (scene) => {
      const end = new AbortController()
      const thinking = thinkThrough(scene.brain, scene.turn, end.signal)
      await expect.poll(() => scene.loopRequests().length, { timeout: 80_000 }).toBe(1)
      expect(scene.processCount()).toBeGreaterThan(0)
      const startedMs = performance.now()
      end.abort()
      const events = await thinking
      // On a busy machine it takes a second or two to end what was started; its clocks are longer.
      expect(performance.now() - startedMs).toBeLessThan(10_000)
      expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'aborted' } })
      expect(scene.processCount()).toBe(0)
    })
  })
})

function faultsFor(real: RealAgent): readonly Fault[] {
  const all = Object.keys(FAULTS) as Fault[]
  return all.filter((fault) => isLong || isSeen(real, fault) || fault === real.unseen)
}

function isSeen({ sees }: RealAgent, fault: Fault): boolean {
  return sees[fault] !== undefined
}

function callsIn(events: readonly BrainEvent[]): readonly (readonly [string, unknown])[] {
  return only(events, 'tool_call').map(({ call }) => [call.name, call.input])
}
