import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../agents/team/protocol.ts'
import { mergeLayers } from './layers.ts'
import {
  resolveIsolation,
  resolveLedgerLimits,
  resolvePlanReview,
  resolveRuntime,
  resolveTeamLimits,
  resolveTests,
} from './resolve-settings.ts'
import type { ConfigFile } from './settings/schema.ts'

const merge = (user: ConfigFile) => mergeLayers({ user, repository: {}, isTrusted: false })

describe('the budget', () => {
  test('is in whole millionths of a dollar and in milliseconds', () => {
    const { run, story } = resolveLedgerLimits(
      merge({ budget: { run: { dollars: 1.1, hours: 0.5 }, story: { tokens: 7, hours: 2 } } }),
    )
    expect(run).toMatchObject({ microdollarsMax: 1_100_000, elapsedMsMax: 1_800_000 })
    expect(story).toMatchObject({ tokensMax: 7, elapsedMsMax: 7_200_000 })
  })

  test.each([
    [{}, true],
    [{ run: { tokens: 5 } }, true],
    [{ run: { dollars: 50 } }, false],
    [{ story: { dollars: 1 } }, false],
    [{ run: { dollars: 50 }, allowUnpriced: true }, true],
    [{ allowUnpriced: false }, false],
  ])('with %j models without a price: %s', (budget, allowed) => {
    const limits = resolveLedgerLimits(merge({ budget }))
    expect(limits.allowUnpriced).toBe(allowed)
    expect(limits.isUnpricedChosen).toBe('allowUnpriced' in budget || undefined)
  })
})

test('the limits of the team are its own unless they are set', () => {
  expect(resolveTeamLimits(merge({}).config)).toEqual(DEFAULT_LIMITS)
  const limits = { codingTurns: 9, escalationHours: 2 }
  expect(resolveTeamLimits(merge({ limits }).config)).toEqual({
    ...DEFAULT_LIMITS,
    codingTurns: 9,
    escalationMs: 7_200_000,
  })
})

test.each([
  [{}, 'auto'],
  [{ revisions: { architect: 'D' } }, 'model'],
  [{ revisions: { architect: 'D' }, review: { plan: 'auto' } }, 'auto'],
  [{ review: { plan: 'human' } }, 'human'],
] as const)('%j: plans are judged by %s', (file, judge) => {
  expect(resolvePlanReview(merge(file).config)).toBe(judge)
})

test('tests are found, or configured in one form', () => {
  const bounds = { timeoutMs: 1_800_000, requireReport: false }
  expect(resolveTests(merge({}).config)).toEqual(bounds)
  const commands = [['npm', 'test'], { argv: ['make'], cwd: 'a' }]
  expect(resolveTests(merge({ tests: { commands } }).config)).toEqual({
    ...bounds,
    commands: [{ argv: ['npm', 'test'] }, { argv: ['make'], cwd: 'a' }],
  })
})

test('isolation has the home filled in, and a level only when it is asked for', () => {
  const home = { HOME: '/home/$1' }
  expect(resolveIsolation(merge({}).config, '/s', home)).toEqual({
    stateFolder: '/s',
    toolFolders: [],
  })
  const isolation = {
    level: 'container' as const,
    image: 'alpine:3',
    toolFolders: ['~/.cargo', '/opt/x'],
  }
  expect(resolveIsolation(merge({ isolation }).config, '/s', home)).toEqual({
    stateFolder: '/s',
    level: 'container',
    container: { image: 'alpine:3' },
    toolFolders: ['/home/$1/.cargo', '/opt/x'],
  })
})

test('outages and restarts are in milliseconds, and as the runtime has them unless said', () => {
  const said = { outage: { probeSeconds: 5, minutes: 0.5 }, limits: { restarts: 2 } }
  expect(resolveRuntime(merge(said).config)).toEqual({
    suspension: { probeIntervalMs: 5_000, timeoutMs: 30_000, waitForReset: true },
    restarts: { restartsMax: 2, restartWindowMs: 600_000 },
  })
  expect(resolveRuntime(merge({}).config).suspension).toMatchObject({
    probeIntervalMs: 30_000,
    timeoutMs: 900_000,
  })
})
