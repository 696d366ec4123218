import { expect, test } from 'vitest'
import { DEFAULTS } from '../config/settings/defaults.ts'
import { groundsOf } from './grounds.ts'

const named = { provider: 'openai', model: 'm', apiKeyEnv: 'MY_KEY' } as const
const config = { ...DEFAULTS, models: { ...DEFAULTS.models, coder: named } }
const before = groundsOf(config, { ANTHROPIC_API_KEY: 'a', MY_KEY: 'b', EDITOR: 'vi' }, null)

test.each([
  ['a key', config, { ANTHROPIC_API_KEY: 'c', MY_KEY: 'b' }],
  ['a key that the configuration names', config, { ANTHROPIC_API_KEY: 'a', MY_KEY: 'c' }],
  ['a script', config, { ANTHROPIC_API_KEY: 'a', MY_KEY: 'b', SLIPWAY_SCENARIO: 's.yaml' }],
  ['a setting', { ...config, target: 'next' }, { ANTHROPIC_API_KEY: 'a', MY_KEY: 'b' }],
])('%s makes other grounds', (_, changed, environment) => {
  expect(groundsOf(changed, environment, null)).not.toBe(before)
})

test('what a script says makes other grounds', () => {
  const environment = { SLIPWAY_SCENARIO: 's.yaml' }
  const [one, other] = ['one', 'other'].map((text) => groundsOf(config, environment, text))
  expect(one).not.toBe(other)
})

test('what decides nothing makes none, and no key can be read off them', () => {
  expect(groundsOf(config, { MY_KEY: 'b', ANTHROPIC_API_KEY: 'a', EDITOR: 'ed' }, null)).toBe(
    before,
  )
  expect(before).toMatch(/^[0-9a-f]{64}$/)
})
