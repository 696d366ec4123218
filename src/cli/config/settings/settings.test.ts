import { describe, expect, test } from 'vitest'
import { AGENTS } from '../../../effects/brains/agents/agent-catalog.ts'
import type { ApiProvider } from '../../../effects/brains/api-model.ts'
import { DEFAULTS, defaultSettings, FOUND_OUT } from './defaults.ts'
import { keyTable } from './key-table.ts'
import { AGENT_NAMES, CONFIG_FILE, PROVIDERS } from './schema.ts'
import { isHarmless, TRUST_RULES } from './trust-rules.ts'

describe('every setting', () => {
  const keys = [...defaultSettings().keys()]

  test('has a rule of trust, and no rule is about nothing', () => {
    expect(Object.keys(TRUST_RULES)).toEqual(keys)
  })

  test('is in the table with a meaning', () => {
    const rows = keyTable().trim().split('\n').slice(2)
    expect(rows.map((row) => /`([\w.]+)`/.exec(row)?.[1])).toEqual(keys)
    for (const row of rows) expect(row).toMatch(/\| [A-Z`][^|]+\. \|$/)
  })

  test('has words for a default that is found out', () => {
    const open = [...defaultSettings()].filter(([, value]) => value === null)
    expect(Object.keys(FOUND_OUT).sort()).toEqual(open.map(([key]) => key).sort())
  })
})

test('the defaults are what a file could say', () => {
  const withoutNull = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_, each) => each ?? undefined)
  expect(CONFIG_FILE.safeParse(withoutNull(DEFAULTS)).error).toBeUndefined()
})

test('the names are those of the brains that there are', () => {
  expect([...AGENT_NAMES].sort()).toEqual(Object.keys(AGENTS).sort())
  const providers: Readonly<Record<ApiProvider, true>> = {
    anthropic: true,
    openai: true,
    google: true,
    ollama: true,
    'openai-compatible': true,
  }
  expect([...PROVIDERS].sort()).toEqual(Object.keys(providers).sort())
})

describe('a file that is not trusted', () => {
  test.each([
    ['target', 'next', null, true],
    ['budget.run.dollars', 50, 50, true],
    ['budget.run.dollars', 50.01, 50, false],
    ['budget.allowUnpriced', true, null, false],
    ['budget.allowUnpriced', false, true, true],
    ['review.spec', 'auto', 'human', false],
    ['review.plan', 'human', 'model', true],
    ['isolation.level', 'none', 'auto', false],
    ['isolation.level', 'bubblewrap', 'auto', true],
    ['forge.kind', 'github', 'local', false],
    ['isolation.hosts', [], [], false],
    ['models.coder', { model: 'x' }, null, false],
    ['models.architect', { agent: 'claude' }, null, false],
  ])('%s: %j in the place of %j is %s', (key, wanted, present, expected) => {
    expect(isHarmless(TRUST_RULES[key] ?? 'trusted', wanted, present)).toBe(expected)
  })
})
