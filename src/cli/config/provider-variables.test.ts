import { describe, expect, test } from 'vitest'
import { addressOf, findProvider } from './provider-variables.ts'

describe('the provider by the keys in the environment', () => {
  test.each([
    [{}, undefined],
    [{ ANTHROPIC_API_KEY: ' ' }, undefined],
    [{ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }, 'anthropic'],
    [{ OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' }, 'openai'],
    [{ GEMINI_API_KEY: 'k' }, 'google'],
    [{ GOOGLE_GENERATIVE_AI_API_KEY: 'k', OLLAMA_HOST: 'x' }, 'google'],
    [{ OLLAMA_HOST: '127.0.0.1', OLLAMA_API_KEY: 'k' }, undefined],
  ])('%j: %s', (environment, provider) => {
    expect(findProvider(environment)).toBe(provider)
  })
})

describe('an address', () => {
  test.each([
    ['anthropic', {}, 'https://api.anthropic.com/v1'],
    ['anthropic', { ANTHROPIC_BASE_URL: 'https://x.org' }, 'https://x.org/v1'],
    ['anthropic', { ANTHROPIC_BASE_URL: 'https://x.org/v1/' }, 'https://x.org/v1'],
    ['anthropic', { ANTHROPIC_BASE_URL: 'https://x.org/proxy' }, 'https://x.org/proxy/v1'],
    ['openai', { OPENAI_BASE_URL: 'https://x.org/openai' }, 'https://x.org/openai'],
    ['openai', { OPENAI_BASE_URL: 'https://x.org' }, 'https://x.org/v1'],
    ['google', { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9' }, 'http://127.0.0.1:9/v1beta'],
    ['ollama', {}, 'http://127.0.0.1:11434'],
    ['ollama', { OLLAMA_HOST: '0.0.0.0' }, 'http://127.0.0.1:11434'],
    ['ollama', { OLLAMA_HOST: ':99' }, 'http://127.0.0.1:99'],
    ['ollama', { OLLAMA_HOST: 'box:99' }, 'http://box:99'],
    ['ollama', { OLLAMA_HOST: 'https://ollama.x.org' }, 'https://ollama.x.org'],
  ] as const)('%s with %j: %s', (provider, environment, address) => {
    expect(addressOf(provider, environment)).toBe(address)
  })

  test.each(['nonsense', 'https://a:b@x.org', 'http://x.org'])('%s is refused by name', (value) => {
    expect(() => addressOf('openai', { OPENAI_BASE_URL: value })).toThrow(
      /^The environment variable OPENAI_BASE_URL has/,
    )
  })
})
