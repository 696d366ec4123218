import { expect, test } from 'vitest'
import type { Agent } from './agent.ts'
import { AGENTS } from './agent-catalog.ts'
import { secretsOf } from './agent-secrets.ts'

const OWN: Agent = {
  name: 'mine',
  acp: { argv: ['mine'] },
  variables: ['MINE_LOGIN', 'MINE_TOKEN', 'MINE_LEVEL', 'MINE_ABSENT'],
  areVariablesSecret: true,
  addresses: [],
  home: [],
  hosts: [],
}

test('keys and tokens of an agent are secrets, its addresses and choices are not', () => {
  const environment = {
    ANTHROPIC_API_KEY: 'key-of-mine',
    ANTHROPIC_AUTH_TOKEN: 'token-of-mine',
    ANTHROPIC_BASE_URL: 'https://gateway.example.org',
    ANTHROPIC_MODEL: 'some-model',
    OPENAI_API_KEY: 'of another agent',
  }
  const secrets = secretsOf(AGENTS.claude, environment)
  expect(secrets).toEqual(['key-of-mine', 'token-of-mine'])
})

test('what is inside a configuration is found too', () => {
  const config = { provider: { x: { options: { apiKey: 'inner-key', baseURL: 'http://x' } } } }
  const environment = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) }
  expect(secretsOf(AGENTS.opencode, environment)).toEqual(['inner-key'])
})

test('what is inside headers is found too, and words in them are none', () => {
  const lines = [
    ...[
      'X-Empty:',
      'X-Gateway-Key: gw-0123456789',
      'Authorization: Bearer held-by-mine',
      'x-trace: 7f3a9c11',
    ],
    ...['Proxy-Authorization:basic bWU6aHVudGVyMg==', 'X-Secret: opensesame', 'X-Team: platform'],
    ...['X-Stage: pre-production\r', 'no header'],
    ...['x-portkey-provider: anthropic', 'X-Compass-Team: payments', 'X-Author: johnson'],
    ...['anthropic-beta: context-1m-2025-08-07', 'HTTP-Referer: https://example.org/shop'],
    ...['x-apikey: plainwords', 'X-Pass: letmein'],
  ]
  const environment = { ANTHROPIC_CUSTOM_HEADERS: lines.join('\n') }
  const [whole, ...inside] = secretsOf(AGENTS.claude, environment)
  expect(whole).toBe(lines.join('\n'))
  expect(inside).toEqual([
    ...['gw-0123456789', 'Bearer held-by-mine', 'held-by-mine', '7f3a9c11'],
    ...['basic bWU6aHVudGVyMg==', 'bWU6aHVudGVyMg==', 'hunter2', 'opensesame'],
    ...['plainwords', 'letmein'],
  ])
})

test('headers inside a configuration are found too', () => {
  const headers = { 'X-Gateway-Key': 'gw-0123456789', Authorization: 'Bearer held-by-mine' }
  const config = { provider: { x: { options: { headers: { ...headers, 'X-Team': 'platform' } } } } }
  const environment = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) }
  expect(secretsOf(AGENTS.opencode, environment)).toEqual([
    'gw-0123456789',
    'Bearer held-by-mine',
    'held-by-mine',
  ])
})

test('so is the password of an address', () => {
  const addressOf = (password: string) => ({
    ANTHROPIC_BASE_URL: `https://me:${password}@gateway.example.org`,
  })
  expect(secretsOf(AGENTS.claude, addressOf('b7Qz91%2FLm'))).toEqual(['b7Qz91%2FLm', 'b7Qz91/Lm'])
  expect(secretsOf(AGENTS.claude, addressOf('anthropic'))).toEqual([])
})

test('of an agent that nobody knows, every value is one, but words and choices', () => {
  const environment = { MINE_LOGIN: 'me:hunter2hunter2', MINE_TOKEN: 'abc', MINE_LEVEL: '' }
  expect(secretsOf(OWN, environment)).toEqual(['me:hunter2hunter2', 'abc'])
  const choices = {
    GOOSE_PROVIDER: 'openai',
    GOOSE_MODEL: 'gpt-4o-mini',
    AGENT_STAGE: 'normal',
    AGENT_SERVER: 'http://127.0.0.1:8080/v1',
  }
  const goose = { ...OWN, variables: [...Object.keys(choices), 'AGENT_MODEL_KEY'] }
  expect(secretsOf(goose, { ...choices, AGENT_MODEL_KEY: 'plain' })).toEqual(['plain'])
  const telling = {
    MY_PROFILE: '3f9a8b7c6d5e4f3a2b1c',
    WEBHOOK_URL: 'https://hooks.example.org/services/T0AAA/abcdEFGH0123456789',
  }
  const told = { ...OWN, variables: Object.keys(telling) }
  expect(secretsOf(told, telling)).toEqual(Object.values(telling))
})
