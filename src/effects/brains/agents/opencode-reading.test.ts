import { expect, test } from 'vitest'
import { opencodeReading } from './opencode-reading.ts'

const COMMENTED = `{
  // "mcp": { "none": {} }
  "mcp": { "files": { "type": "local", "command": ["npx", "-y", "a//b"], }, /* all */ },
}`

const read = (given: string | undefined, ...texts: readonly string[]) =>
  JSON.parse(opencodeReading(given, texts))

test('every server of MCP is off, wherever it is configured', () => {
  const given = '{ "mcp": { "own": { "type": "local", "command": ["a"], "enabled": true } } }'
  expect(read(given, COMMENTED, 'nothing', '[]').mcp).toEqual({
    own: { type: 'local', command: ['a'], enabled: false },
    files: { enabled: false },
  })
})

test('what is given stays, but for what runs something', () => {
  const given = JSON.stringify({
    model: 'a/b',
    default_agent: 'build',
    lsp: true,
    formatter: { prettier: {} },
    agent: { build: { permission: { bash: 'allow' } } },
    provider: { a: { options: { apiKey: '{env:KEY}' } } },
  })
  const content = read(given)
  expect(content).toMatchObject({
    model: 'a/b',
    lsp: false,
    formatter: false,
    provider: { a: { options: { apiKey: '{env:KEY}' } } },
  })
  const { mode, permission } = content.agent[content.default_agent]
  expect(content.default_agent).not.toBe('build')
  expect(mode).toBe('primary')
  expect(permission).toEqual({ edit: 'deny', bash: 'deny', webfetch: 'deny', task: 'deny' })
})

test('what is given and cannot be read is an error', () => {
  expect(() => opencodeReading('{', [])).toThrow('OPENCODE_CONFIG_CONTENT')
  expect(() => opencodeReading('[]', [])).toThrow('OPENCODE_CONFIG_CONTENT')
})
