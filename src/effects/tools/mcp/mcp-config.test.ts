import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type McpServer, readMcpConfig } from './mcp-config.ts'
import { expandEntry, variablesIn } from './mcp-variables.ts'

const read = (mcpServers: unknown) => readMcpConfig(JSON.stringify({ mcpServers }))

function serverOf(entry: object, name = 'a'): McpServer {
  const [server] = read({ [name]: entry }).servers
  if (server === undefined) throw new Error('no server')
  return server
}

// What an entry says, which is not for JavaScript to fill in.
const variable = (name: string) => `\${${name}}`

describe('a configuration', () => {
  test('names processes and addresses', () => {
    const { servers, problems } = read({
      files: { command: 'npx', args: ['-y', 'x'], env: { A: 'b' } },
      plain: { command: 'x' },
      said: { type: 'stdio', command: 'x', disabled: false },
      web: { type: 'http', url: 'https://a.test/mcp', headers: { b: 'c' } },
      old: { type: 'sse', url: 'https://a.test/sse' },
      bare: { url: 'https://a.test' },
    })
    expect(problems).toEqual([])
    expect(servers.map(({ name, entry }) => [name, entry])).toEqual([
      ['files', { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: 'b' } }],
      ['plain', { type: 'stdio', command: 'x', args: [], env: {} }],
      ['said', { type: 'stdio', command: 'x', args: [], env: {} }],
      ['web', { type: 'http', url: 'https://a.test/mcp', headers: { b: 'c' } }],
      ['old', { type: 'sse', url: 'https://a.test/sse', headers: {} }],
      ['bare', { type: 'http', url: 'https://a.test', headers: {} }],
    ])
  })

  test.each([
    ['not JSON', '{', /not JSON/],
    ['nothing', 'null', /no mcpServers/],
    ['no servers', '{}', /no mcpServers/],
    ['a list', '{"mcpServers":[]}', /not an object/],
    ['too much', ' '.repeat(2_000_000), /too long/],
  ])('that is %s has none', (_, text, problem) => {
    expect(readMcpConfig(text)).toEqual({ servers: [], problems: [expect.stringMatching(problem)] })
  })

  const depths = `{"command":"a","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`

  test.each([
    ['no command', '{}', /command/],
    ['a command line', '{"command":["a","b"]}', /command/],
    ['arguments that are no list', '{"command":"a","args":"b"}', /args/],
    ['numbers in its environment', '{"command":"a","env":{"B":1}}', /env\.B/],
    ['another kind', '{"type":"ws","url":"ws://a.test"}', /type/],
    ['nothing', 'null', /entry/],
    ['depths', depths, /deeply/],
  ])('leaves out a server with %s, and takes the others', (_, entry, problem) => {
    const text = `{"mcpServers":{"bad":${entry},"good":{"command":"x"}}}`
    const { servers, problems } = readMcpConfig(text)
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    expect(problems).toEqual([expect.stringMatching(problem)])
  })

  test('leaves out names that could mislead', () => {
    const names = ['', 'a/b', 'a\u001b[2J', 'x'.repeat(65), 'ä']
    const { servers, problems } = read(
      Object.fromEntries(names.map((name) => [name, { command: 'x' }])),
    )
    expect(servers).toEqual([])
    expect(problems).toHaveLength(names.length)
    expect(problems.join()).not.toContain('\u001b')
  })

  test('has a bounded number of servers', () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`s${i}`, { command: 'x' }]),
    )
    const { servers, problems } = read(many)
    expect(servers).toHaveLength(20)
    expect(problems).toEqual([expect.stringMatching(/more than 20/)])
  })

  test('of any kind is read without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (value) => {
        const { servers } = readMcpConfig(`{"mcpServers":{"a":${value}}}`)
        expect(Array.isArray(servers)).toBe(true)
      }),
    )
  })
})

describe('the hash of an entry', () => {
  const entry = { command: 'x', args: ['1', '2'], env: { A: '1', B: '2' } }

  test('is the same for the same in another order', () => {
    const turned = { env: { B: '2', A: '1' }, args: ['1', '2'], command: 'x' }
    expect(serverOf(turned).trustKey).toBe(serverOf(entry).trustKey)
  })

  test.each([
    ['another command', { ...entry, command: 'y' }],
    ['another order of arguments', { ...entry, args: ['2', '1'] }],
    ['another variable', { ...entry, env: { ...entry.env, C: '3' } }],
    ['a field that we do not know', { ...entry, cwd: '/' }],
    ['a kind that is said', { ...entry, type: 'stdio' }],
  ])('is another for %s', (_, other) => {
    expect(serverOf(other).trustKey).not.toBe(serverOf(entry).trustKey)
  })

  test('is another for another name', () => {
    expect(serverOf(entry, 'b').trustKey).not.toBe(serverOf(entry).trustKey)
  })
})

describe('variables of an entry', () => {
  const { entry } = serverOf({
    command: variable('DIR'),
    args: [`--x=${variable('X:-none')}`, '$HOME', variable('not a name')],
    env: { TOKEN: `${variable('TOKEN')}-${variable('TOKEN')}` },
  })

  test('are found', () => {
    expect(variablesIn(entry)).toEqual(['DIR', 'TOKEN', 'X'])
    const remote = { url: `https://${variable('HOST')}`, headers: { a: variable('KEY') } }
    expect(variablesIn(serverOf(remote).entry)).toEqual(['HOST', 'KEY'])
  })

  test('are filled in where the user named them', () => {
    const environment = { DIR: '/d', TOKEN: `t${variable('SECRET')}`, X: 'x', SECRET: 'never' }
    expect(expandEntry(entry, ['DIR', 'TOKEN', 'SECRET'], environment)).toEqual({
      ok: true,
      secrets: [`t${variable('SECRET')}`],
      entry: {
        type: 'stdio',
        command: '/d',
        args: ['--x=none', '$HOME', variable('not a name')],
        env: { TOKEN: `t${variable('SECRET')}-t${variable('SECRET')}` },
      },
    })
  })

  test.each([
    [['DIR'], /TOKEN, which it was not given/],
    [['DIR', 'TOKEN'], /TOKEN, which is not set/],
    [[], /DIR, which it was not given/],
  ])('with only %j named are refused', (named, reason) => {
    const environment = { DIR: '/d', X: 'x' }
    expect(expandEntry(entry, named, environment)).toEqual({
      ok: false,
      reason: expect.stringMatching(reason),
    })
  })

  test('are secrets by name, and where they could be keys and no place', () => {
    const environment = {
      TOKEN: 'a-token',
      USER: 'somebody',
      PLACE: process.cwd(),
      NOWHERE: '/f3kQ/9zX==',
      STAGE: 'production',
      smtp_pass: 'swordfish',
      KEY_FILE: process.cwd(),
      LONG: 'abcdefghijklmnop',
      AWS_REGION: 'us-east-1',
      JIRA_URL: 'https://acme.atlassian.net',
      SLACK_URL: 'https://hooks.slack.com/services/T024BE7LD/B1JAB2C3D/b7Qz91LmPw44xT',
    }
    const given = Object.keys(environment)
    const env = Object.fromEntries(given.map((name) => [name, variable(name)]))
    const expanded = expandEntry(serverOf({ command: 'x', env }).entry, given, environment)
    expect(expanded).toMatchObject({
      ok: true,
      secrets: [
        ...['a-token', '/f3kQ/9zX==', 'swordfish', 'abcdefghijklmnop'],
        environment.SLACK_URL,
      ],
    })
  })

  test('are not looked for again and again where none of them ends', () => {
    const { entry } = serverOf({ command: `${variable('A')} ${'${B:-'.repeat(1_000)}` })
    const long = { ...entry, command: '${B:-'.repeat(40_000) }
    const startedMs = performance.now()
    expect(variablesIn(entry)).toEqual(['A'])
    expect(variablesIn(long as typeof entry)).toEqual([])
    // No time by itself; to go to the end from each takes 10 s.
    expect(performance.now() - startedMs).toBeLessThan(2_000)
  })

  test('named like what every object has are not set', () => {
    const odd = serverOf({ command: variable('constructor') }).entry
    expect(expandEntry(odd, ['constructor'], {})).toMatchObject({ ok: false })
  })
})
