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
  ['a model', config, { ANTHROPIC_API_KEY: 'a', MY_KEY: 'b', SLIPWAY_MODEL: 'openai/m' }],
  ['a token', config, { ANTHROPIC_API_KEY: 'a', MY_KEY: 'b', GITHUB_TOKEN: 't' }],
  ['another of gh', config, { ANTHROPIC_API_KEY: 'a', MY_KEY: 'b', GH_CONFIG_DIR: '/gh' }],
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
  const step = { GITHUB_OUTPUT: '/tmp/set_output_1', GITHUB_STEP_SUMMARY: '/s', GH_PAGER: 'less' }
  expect(groundsOf(config, { MY_KEY: 'b', ANTHROPIC_API_KEY: 'a', ...step }, null)).toBe(before)
  expect(before).toMatch(/^[0-9a-f]{64}$/)
})
