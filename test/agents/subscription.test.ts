import { afterAll, beforeAll, describe, test } from 'vitest'
import type { FailureKind } from '../../src/effects/brains/brain.ts'
import { breachIn, thinkThrough } from '../brains/turn.ts'
import { type AgentWorld, openAgentWorld, playScene } from './agent-world.ts'
import { REAL_AGENTS } from './real-agents.ts'

const TIMEOUT_MS = 110_000
const HOUR_MS = 3_600_000

/** Claude Code, signed in by a subscription and not by a key: it words its failures otherwise. */
const SUBSCRIBERS = REAL_AGENTS.filter(({ agent }) => agent === 'claude').map((real) => ({
  ...real,
  variables: (url: string) => ({
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-own-key-0123456789',
  }),
}))

/** The limits of a subscription, and how long each one is spent for. */
const LIMITS = [
  ['five_hour', 2 * HOUR_MS],
  ['seven_day', 75 * HOUR_MS],
] as const

let world: AgentWorld

beforeAll(async () => {
  world = await openAgentWorld()
})

afterAll(() => world.close())

describe.concurrent.each(SUBSCRIBERS)('by $mode', { timeout: TIMEOUT_MS }, (real) => {
  test.for<readonly ['rate_limited' | 'unauthorized' | 'no_credit', FailureKind]>([
    ['rate_limited', 'rate_limited'],
    ['unauthorized', 'auth'],
    ['no_credit', 'quota'],
  ])('a provider that says %s means %s', async ([error, kind], { expect }) => {
    await playScene(world, real, { answers: [{ error }] }, async (scene) => {
      const events = await thinkThrough(scene.brain, scene.turn)
      expect(breachIn(events)).toBeUndefined()
      expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind } })
    })
  })

  test.for(LIMITS)('a limit that is spent, %s, is told with its end', async (limit, { expect }) => {
    const [claim, spentMs] = limit
    const headers = {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(Math.ceil((Date.now() + spentMs) / 1_000)),
      'anthropic-ratelimit-unified-representative-claim': claim,
      'anthropic-ratelimit-unified-overage-status': 'rejected',
    }
    const answers = [{ error: 'rate_limited', headers }] as const
    await playScene(world, real, { answers }, async (scene) => {
      const startedMs = Date.now()
      const events = await thinkThrough(scene.brain, scene.turn)
      const tookMs = Date.now() - startedMs
      expect(breachIn(events)).toBeUndefined()
      expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'quota' } })
      const { failure } = events.at(-1) as { failure: { retryAfterMs?: number } }
      // It names the minute.
      expect(failure.retryAfterMs).toBeGreaterThan(spentMs - tookMs)
      expect(failure.retryAfterMs).toBeLessThanOrEqual(spentMs + 61_000)
    })
  })
})
