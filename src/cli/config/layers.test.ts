import { expect, test } from 'vitest'
import { mergeLayers } from './layers.ts'
import { DEFAULTS } from './settings/defaults.ts'

const user = {
  budget: { run: { dollars: 5 } },
  review: { spec: 'human' as const },
  models: { coder: { provider: 'anthropic' as const, apiKeyEnv: 'MINE' } },
}
const repository = {
  target: 'next',
  budget: { run: { dollars: 500, hours: 1 } },
  review: { spec: 'auto' as const, plan: 'human' as const },
  models: { coder: { provider: 'openai' as const } },
  isolation: { level: 'none' as const, hosts: ['evil.test'] },
  tests: { commands: [['sh', '-c', 'x']] },
}

test('nothing said is the defaults', () => {
  const { config, settings, ignored } = mergeLayers({ user: {}, repository: {}, isTrusted: false })
  expect(config).toEqual(DEFAULTS)
  expect(settings.every(({ origin }) => origin === 'default')).toBe(true)
  expect(ignored).toEqual([])
})

test('a trusted repository is stronger than its user, value by value', () => {
  const { config, settings, ignored } = mergeLayers({ user, repository, isTrusted: true })
  expect(config).toMatchObject(repository)
  // A model is taken whole: half of one and half of another would be a third.
  expect(config.models.coder).toEqual({ provider: 'openai' })
  expect(ignored).toEqual([])
  const origins = Object.fromEntries(settings.map(({ key, origin }) => [key, origin]))
  expect(origins).toMatchObject({ target: 'repository file', 'budget.story.dollars': 'default' })
})

test('one that is not trusted can restrict, and nothing else', () => {
  const { config, ignored } = mergeLayers({ user, repository, isTrusted: false })
  expect(config).toEqual({
    ...DEFAULTS,
    target: 'next',
    budget: { ...DEFAULTS.budget, run: { ...DEFAULTS.budget.run, dollars: 5, hours: 1 } },
    review: { spec: 'human', plan: 'human' },
    models: { ...DEFAULTS.models, coder: user.models.coder },
  })
  expect(ignored.map(({ key }) => key)).toEqual([
    'models.coder',
    'budget.run.dollars',
    'review.spec',
    'tests.commands',
    'isolation.level',
    'isolation.hosts',
  ])
})

test('the defaults are not changed by merging', () => {
  const before = structuredClone(DEFAULTS)
  mergeLayers({ user, repository, isTrusted: true })
  expect(DEFAULTS).toEqual(before)
})
