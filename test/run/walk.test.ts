import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findStored } from '../disk/find-stored.ts'
import { plainGit } from '../git/world.ts'
import type { Answer } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { makeUser, type User } from './slipway.ts'

const KEY = 'sk-ant-api03-not-a-real-key-0123456789abcdef'

const SPEC = `# Greeter

The command greets people.

## Acceptance criteria

1. \`greet Ada\` prints \`Hello, Ada.\`
`

let user: User
let server: ProviderServer

beforeEach(async () => {
  server = await startProviderServer()
  user = await makeUser()
  plainGit(user.repository, 'rm', '-q', 'slipway.config.yaml')
  plainGit(user.repository, 'commit', '-q', '-m', 'without a configuration')
  delete user.env.SLIPWAY_SCENARIO
})

afterEach(async () => {
  await user.close()
  await server.close()
})

const calls = (name: string, input: unknown): Answer => ({
  reply: { parts: [{ type: 'call', name, input }] },
})

const GREET = 'console.log("Hello, " + process.argv[2] + ".")\n'
const TEST = `import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

test('it greets', () => {
  assert.equal(String(execFileSync('node', ['greet.js', 'Ada'])), 'Hello, Ada.\\n')
})
`

/** A model that can do just this, by the tools that it is offered. */
function think(body: Readonly<Record<string, unknown>>): Answer {
  const tools = ((body.tools ?? []) as { name: string }[]).map(({ name }) => name)
  const said = JSON.stringify(body.messages)
  if (tools.includes('submit_stories')) {
    const story = {
      id: 'greet',
      title: 'Greet people',
      description: 'Write greet.js.',
      criteria: ['1', '2'],
    }
    return calls('submit_stories', { stories: [story] })
  }
  if (tools.includes('submit_plan')) {
    return calls('submit_plan', { plan: 'greet.js and its test.', confidence: 'high' })
  }
  if (tools.includes('review_complete')) return calls('review_complete', { verdict: 'approved' })
  if (!said.includes('greet.js: ')) return calls('write_file', { path: 'greet.js', text: GREET })
  if (!said.includes('greet.test.js: ')) {
    return calls('write_file', { path: 'test/greet.test.js', text: TEST })
  }
  return calls('done', { summary: 'It greets.' })
}

const GUIDE = readFileSync('docs/getting-started.md', 'utf8')

/** What is between fences of a language in the guide. */
function fenced(language: string): string[] {
  return [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, content = '']) => content,
  )
}

/** Every line that the guide says to type, without its remark. */
const COMMANDS = fenced('sh').flatMap((block) =>
  block
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '')),
)

/** What a line comes to here, where it is not simply typed in the repository. */
const TYPED: Readonly<Record<string, (place: Place) => string>> = {
  // The demo has a test of its own.
  'npm ci && npm start': () => 'true',
  // The test run has built it.
  'npm run build && npm link': ({ project }) =>
    `cd '${project}' && npm link --ignore-scripts --offline`,
  'cd your-repository': () => 'true',
  'export ANTHROPIC_API_KEY=…': () => 'true',
}

interface Place {
  readonly project: string
}

/** What README's table says to type, and what each comes to when the guide's run is over. */
const OFFERED: Readonly<Record<string, readonly [typed: string, code: number, says: RegExp]>> = {
  'slipway run spec.md': ['slipway run nothing.md', 2, /no such file/],
  'slipway task "…"': ['slipway task ""', 2, /Say what is to be done/],
  'slipway confirm': ['slipway confirm', 2, /no task/],
  'slipway task report': ['slipway task report', 2, /no task/],
  'slipway interview "a calendar"': ['slipway interview --help', 0, /asked what you want/],
  'slipway status': ['slipway status', 0, /1 of 1 stories/],
  'slipway watch': ['slipway watch', 0, /shown/],
  'slipway logs -f': ['slipway logs -f', 0, /MERGED/],
  'slipway answer': ['slipway answer', 0, /Nothing is asked/],
  'slipway retry <story>': ['slipway retry greet', 2, /failed/],
  'slipway budget': ['slipway budget --dollars 20', 0, /is over \(done\)/],
  'slipway pause': ['slipway pause', 0, /nothing to pause/],
  'slipway stop': ['slipway stop', 0, /nothing to stop/],
  'slipway resume': ['slipway resume', 0, /nothing to resume/],
  'slipway evidence': ['slipway evidence --html', 0, /<td class="shown">/],
  'slipway replay [run]': ['slipway replay', 0, /Sound/],
  'slipway config': ['slipway config', 0, /budget/],
  'slipway config trust': ['slipway config trust --yes', 0, /trust/],
  'slipway tools': ['slipway tools', 0, /\.mcp\.json/],
  'slipway tools trust <server>': ['slipway tools trust search', 2, /search/],
  'slipway machines': ['slipway machines', 0, /coder@F/],
  'slipway machines coder@F': ['slipway machines coder@F', 0, /AWAIT_MERGE/],
}

async function typeOffered(): Promise<void> {
  const table = readFileSync('README.md', 'utf8').match(/^\| you want to .*?\n\n/ms)?.[0] ?? ''
  const offered = [...table.matchAll(/`(slipway [^`]+)`/g)].map(([, command = '']) => command)
  expect(offered).toEqual(Object.keys(OFFERED))
  const others: string[] = []
  for (const [typed, code, says] of Object.values(OFFERED)) {
    const done = await user.type(typed)
    const printed = done.stdout + done.stderr
    if (done.code !== code || !says.test(printed)) others.push(`${typed}: ${done.code}\n${printed}`)
  }
  expect(others).toEqual([])
}

test('a new user types what the guide says, and has merged code', async () => {
  const prefix = join(dirname(user.repository), 'prefix')
  Object.assign(user.env, {
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: server.url,
    npm_config_prefix: prefix,
    PATH: `${prefix}/bin:${user.env.PATH}`,
  })
  server.answer(({ body }) => think(body))
  const printed = new Map<string, string>()
  for (const command of COMMANDS) {
    if (command.startsWith('slipway run')) user.write('spec.md', fenced('markdown')[0] ?? '')
    const typed = TYPED[command]?.({ project: process.cwd() }) ?? command
    const { code, stdout, stderr } = await user.type(typed)
    expect([command, code, code === 0 ? '' : stdout + stderr]).toEqual([command, 0, ''])
    printed.set(command, stdout + stderr)
  }
  expect(existsSync(join(user.repository, 'slipway.config.yaml'))).toBe(true)
  expect(printed.get('slipway doctor')).toContain('A run would work here')
  expect(printed.get('slipway run spec.md')).toContain('CLOSED')
  expect(printed.get('slipway run spec.md')).toContain(
    'Nobody knows the price of the model of pm, architect, coder',
  )
  expect(printed.get('slipway run spec.md')).toContain(`Take it over: ${COMMANDS.at(-1)}\n`)
  expect(printed.get('slipway evidence')).toContain('passed')
  const greeting = execFileSync('node', ['greet.js', 'you'], { cwd: user.repository })
  expect(String(greeting)).toBe('Hello, you.\n')
  await typeOffered()
  // The key went to the provider and nowhere else.
  expect([...printed.values()].join()).not.toContain(KEY)
  expect(server.requests.length).toBeGreaterThan(5)
  expect(server.requests.every(({ headers }) => headers['x-api-key'] === KEY)).toBe(true)
  expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain(KEY)
  expect(findStored(user.state, KEY)).toEqual([])
}, 180_000)

test('with dollars limited, a model of unknown price is refused before anything is begun', async () => {
  user.env.ANTHROPIC_API_KEY = KEY
  user.env.ANTHROPIC_BASE_URL = server.url
  server.answer(({ body }) => think(body))
  user.write('../home/.config/slipway/config.yaml', 'budget: { run: { dollars: 5 } }\n')
  user.write('../spec.md', SPEC)
  for (const how of ['--foreground', '--detach']) {
    const { code, stderr } = await user.slipway('run', '../spec.md', how)
    expect([code, stderr]).toEqual([2, expect.stringContaining('budget.allowUnpriced')])
  }
  expect(server.requests.filter(({ path }) => path.includes('messages'))).toEqual([])
}, 60_000)
