import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findConfigFile, parseConfig, readConfigFile } from './config-file.ts'

const problemsOf = (text: string, name = 'c.yaml') => {
  const parsed = parseConfig(text, name)
  return parsed.ok ? [] : parsed.problems
}

/** Looks like a key, and is none. */
const KEY = ['sk', 'ant', 'api03', 'a1b2c3d4e5f6g7h8'].join('-')

describe('what is written right', () => {
  test.each([
    ['nothing', ''],
    ['comments alone', '# target: main\n'],
    ['a model', 'models:\n  coder: { provider: google, model: x-1.5, apiKeyEnv: MY_KEY }\n'],
    ['an agent', 'models: { coder: { agent: codex, model: x } }'],
    ['an own agent', 'models: { coder: { agent: { command: [my-agent, --acp], hosts: [a.b] } } }'],
    ['an agent that reviews', 'models: { architect: { agent: claude } }'],
    ['an address of an agent', own('http://localhost:8080/v1')],
    ['both forms of commands', 'tests: { commands: [[npm, test], { argv: [make], cwd: a/b }] }'],
    ['JSON', '{ "$schema": "x", "team": { "coders": 2 } }'],
    ['an address of this machine', f('baseUrl', 'http://127.0.0.1:8080/v1')],
    ['an address of a private network', f('baseUrl', 'http://192.168.1.9/v1')],
  ])('%s', (_, text) => {
    expect(problemsOf(text)).toEqual([])
  })
})

/** An entry with one more key. */
function f(key: string, value: string): string {
  return `models: { default: { provider: openai, ${key}: '${value}' } }`
}

/** An own agent that reaches an address. */
function own(address: string): string {
  return `models: { coder: { agent: { command: [x], addresses: ['${address}'] } } }`
}

describe('a problem has its place, its key and the fix', () => {
  test.each([
    [
      'budget:\n  run:\n    dolars: 5\n',
      'c.yaml:3:5: budget.run.dolars: is not known here: did you mean dollars?',
    ],
    ['coders: 5\n', 'c.yaml:1:1: coders: is not known here: there is team.coders'],
    ['team:\n  zzz: 5\n', 'c.yaml:2:3: team.zzz: is not known here: there are coders, architects'],
    ['team:\n  coders: many\n', 'c.yaml:2:11: team.coders: has to be a number'],
    ['team:\n  coders: 1.5\n', 'c.yaml:2:11: team.coders: has to be a whole number'],
    ['team:\n  coders: 101\n', 'c.yaml:2:11: team.coders: has to be at most 100'],
    ['team: 3\n', 'c.yaml:1:7: team: has to be a section with keys'],
    ['- 1\n', 'c.yaml:1:1: the file: has to be a section with keys'],
    ['review:\n  plan: maybe\n', 'c.yaml:2:9: review.plan: has to be one of auto, model, human'],
    ['target: -x\n', 'c.yaml:1:9: target: has to be the plain name of a branch, such as main'],
    [
      'tests:\n  commands: [npm test]\n',
      'c.yaml:2:14: tests.commands[0]: has to be a list of its words, such as [npm, test], or has to be a section with keys',
    ],
    [
      'tests:\n  commands: [{ argv: [x], cwd: ../y }]\n',
      'c.yaml:2:32: tests.commands[0].cwd: has to be a folder below the repository',
    ],
    [
      'models:\n  coder: { agent: clod }\n',
      'c.yaml:2:19: models.coder.agent: has to be one of claude, codex, gemini, opencode, or has to be a section with keys',
    ],
    [
      'models:\n  pm: { agent: claude }\n',
      'c.yaml:2:9: models.pm.agent: is not known here: there is models.architect.agent and models.coder.agent and models.reviewer.agent and models.tester.agent',
    ],
    [
      'models:\n  coder: { agent: claude, provider: openai }\n',
      'c.yaml:2:10: models.coder: has an agent: remove provider, baseUrl and apiKeyEnv, which the agent has itself',
    ],
    [
      'models:\n  pm: { provider: openai-compatible }\n',
      'c.yaml:2:7: models.pm: needs a baseUrl: an openai-compatible server has no address of its own',
    ],
    [
      'models:\n  pm: {}\n',
      'c.yaml:2:7: models.pm: says nothing: give a provider or a model, or remove it',
    ],
    [
      'isolation:\n  hosts: ["a b"]\n',
      'c.yaml:2:11: isolation.hosts[0]: has to be the name of a host, such as registry.example.org, *.example.org or registry.example.org:8443',
    ],
    [
      'isolation:\n  toolFolders: [../x]\n',
      'c.yaml:2:17: isolation.toolFolders[0]: has to be an absolute path, or one that begins with ~/',
    ],
    ['a: 1\na: 2\n', 'c.yaml:2:1: Map keys must be unique'],
    ['a: &x [1]\nb: *x\n', 'c.yaml: aliases (*) are not used here'],
    ['__proto__: { a: 1 }\n', /^c\.yaml:1:1: __proto__: is not known here/],
  ])('%j', (text, problem) => {
    const expected = typeof problem === 'string' ? problem : expect.stringMatching(problem)
    expect(problemsOf(text)).toEqual([expected])
  })

  test.each(['http://192.168.1.9', 'https://x.org', 'localhost:1', 'ftp://127.0.0.1'])(
    'an agent does not reach %s as an address on this machine',
    (address) => {
      expect(problemsOf(own(address))).toEqual([
        'c.yaml:1:55: models.coder.agent.addresses[0]: has to be an address on this machine, such as http://127.0.0.1:8080',
      ])
    },
  )

  test.each([
    ['team: { coders: 1 }', 'c.json:1:1: is not JSON: a value is expected'],
    ['{\n  team: {} }', 'c.json:2:3: is not JSON: a key in double quotes is expected'],
    ['{\n  "team": {},\n}', 'c.json:2:13: is not JSON: a comma before } is one too many'],
    ['{ "team": {}', 'c.json:1:13: is not JSON: a comma or } is expected'],
    ['{ "team":\n  # all\n {} }', 'c.json:2:3: is not JSON: JSON has no comments'],
  ])('what is not JSON is not called .json: %j', (text, problem) => {
    expect(problemsOf(text, 'c.json')).toEqual([`${problem}. Mend it, or name it .yaml.`])
  })

  test('a problem of JSON has its place too', () => {
    expect(problemsOf('{\n\t"team": {\n\t\t"coders": "many"\n\t}\n}', 'c.json')).toEqual([
      'c.json:3:13: team.coders: has to be a number',
    ])
    expect(problemsOf('{ "a": 1,\n  "a": 2 }', 'c.json')).toEqual([
      'c.json:2:3: Map keys must be unique',
    ])
  })
})

describe('an address', () => {
  test.each([
    ['ftp://x.org', 'https://'],
    ['https:///x', 'https://'],
    ['x.org', 'https://'],
    ['https://user:pass@x.org/v1', 'password'],
    ['https://x.org/v1?key=1', 'end with its path'],
    ['http://x.org/v1', 'private networks'],
    ['http://8.8.8.8/v1', 'private networks'],
  ])('%s is refused', (address, part) => {
    const problems = problemsOf(f('baseUrl', address))
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.join('\n')).toContain(part)
    expect(problems.join('\n')).not.toContain(address)
  })
})

describe('a key in the place of the name of its variable', () => {
  test.each([
    KEY,
    'AIzaSyA1234567890abcdefghijklmnopqrstuv',
    'ghp_0123456789abcdefghijklmnopqrstuvwxyz',
    'ABCDEF0123456789ABCDEF0123456789',
    'abcdef0123456789abcdef0123456789',
  ])('%s is refused, and not repeated', (key) => {
    const problems = problemsOf(f('apiKeyEnv', key))
    expect(problems.join('\n')).toMatch(/NAME of an environment variable|looks like a secret/)
    expect(problems.join('\n')).not.toContain(key.slice(0, 12))
  })

  test('a key is found wherever it stands', () => {
    for (const text of [`tests: { commands: [[x, "--key=${KEY}"]] }`, `${KEY}: 1`, `- [${KEY}`]) {
      const problems = problemsOf(text)
      expect(problems.length).toBeGreaterThan(0)
      expect(problems.join('\n')).not.toContain(KEY)
    }
  })
})

describe('limits', () => {
  const nested = (depth: number) => `x: ${'['.repeat(depth)}${']'.repeat(depth)}`
  const listOf = (count: number) => `isolation: { hosts: [${Array(count).fill('a.b').join(', ')}] }`

  test.each([
    ['depth', problemsOf(nested(32)), problemsOf(nested(33)), 'nested too deeply'],
    ['depth of dashes', [], problemsOf(`${'- '.repeat(200)}1`), 'nested too deeply'],
    ['hosts', problemsOf(listOf(64)), problemsOf(listOf(65)), 'at most 64 entries'],
    ['coders', problemsOf('team: { coders: 100 }'), problemsOf('team: { coders: 101 }'), '100'],
    [
      'dollars',
      problemsOf('budget: { run: { dollars: 0 } }'),
      problemsOf('budget: { run: { dollars: -1 } }'),
      '0',
    ],
  ])('%s', (_, at, over, part) => {
    expect(at.join('\n')).not.toContain(part)
    expect(over.join('\n')).toContain(part)
  })

  test('what is nested without end is an answer and no crash', () => {
    for (const text of ['['.repeat(200_000), '{a: '.repeat(60_000), '- '.repeat(100_000)]) {
      expect(problemsOf(text)).toEqual(['c.yaml: is nested too deeply'])
    }
  })
})

describe('files', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'slipway-config-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const read = (path: string, owner: 'user' | 'repository' = 'repository') =>
    readConfigFile(path, 'c.yaml', owner)

  test('as many bytes as are allowed, and one more', async () => {
    const text = `#${'x'.repeat(256 * 1024 - 1)}`
    expect((await read(write('full', text))).content).toEqual({})
    await expect(read(write('over', `${text}x`))).rejects.toThrow('has more than 262144 bytes')
  })

  test('a link is followed for the user, and not for a repository', async () => {
    symlinkSync(write('aim', 'target: x'), join(folder, 'link'))
    expect((await read(join(folder, 'link'), 'user')).content).toEqual({ target: 'x' })
    await expect(read(join(folder, 'link'))).rejects.toThrow('it is a link')
  })

  test('a pipe and a folder are refused at once', async () => {
    execFileSync('/usr/bin/mkfifo', [join(folder, 'pipe')])
    await expect(read(join(folder, 'pipe'))).rejects.toThrow('it is not a file')
    await expect(read(folder)).rejects.toThrow('it is not a file')
  })

  test('two at once are a usage error that names them', async () => {
    expect(await findConfigFile(folder, 'two')).toBeUndefined()
    const only = write('two.yml', '')
    expect(await findConfigFile(folder, 'two')).toBe(only)
    write('two.json', '{}')
    await expect(findConfigFile(folder, 'two')).rejects.toThrow(
      'has two.json and two.yml. Keep one',
    )
  })

  test('many problems are told up to a limit', async () => {
    const keys = Array.from({ length: 25 }, (_, i) => `zz${i}: 1`).join('\n')
    await expect(read(write('many', keys))).rejects.toThrow(/zz19[\s\S]*… and 5 more$/)
  })
})
