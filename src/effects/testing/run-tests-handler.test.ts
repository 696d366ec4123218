import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentId, EffectId, Json } from '../../agents/values.ts'
import { openBlobFiles } from '../../journal/blob-files.ts'
import type { BlobStore } from '../../runtime/blobs.ts'
import type { Ended } from '../process/command.ts'
import type { Sandbox, SandboxCommand } from '../sandbox/sandbox.ts'
import { type RunTestsParts, type RunTestsValue, runTestsHandler } from './run-tests-handler.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-run-tests-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A sandbox that ends every command alike, and remembers what was done with it. */
function sandboxThat(end: Partial<Ended>, starts: readonly string[] = []) {
  const log: (SandboxCommand | 'closed')[] = []
  const output = end.output ?? Buffer.alloc(0)
  const rest = { stdout: output, stderr: Buffer.alloc(0), output, droppedBytes: 0, durationMs: 1 }
  const sandbox: Sandbox = {
    level: 'none',
    run: async (command) => {
      log.push(command)
      const isOther = starts.includes(command.argv[0])
      return { how: 'exited', exitCode: 0, ...rest, ...(isOther ? {} : end) }
    },
    close: async () => {
      log.push('closed')
    },
  }
  return { sandbox, log }
}

interface Setting {
  readonly end?: Partial<Ended>
  /** Programs that run, whatever becomes of the others. */
  readonly starts?: readonly string[]
  readonly parts?: Partial<RunTestsParts>
  readonly blobs?: BlobStore
  readonly signal?: AbortSignal
}

function setUp({ end = {}, starts = [], parts, blobs, signal }: Setting = {}) {
  const { sandbox, log } = sandboxThat(end, starts)
  const opened: string[] = []
  const handler = runTestsHandler({
    openSandbox: async (workspace) => {
      opened.push(workspace)
      return sandbox
    },
    timeoutMs: 60_000,
    outputBytesMax: 1_000_000,
    secrets: [],
    ...parts,
  })
  const store = blobs ?? openBlobFiles(join(folder, 'blobs'))
  const context = { signal: signal ?? new AbortController().signal, blobs: store }
  const run = (input: Json) => {
    const effect = { id: 'a:1.0' as EffectId, agent: 'a' as AgentId, kind: 'run_tests', input }
    return handler.run(effect, context)
  }
  return { handler, run, log, opened, store }
}

const notStarted = (said: string): Partial<Ended> => ({
  how: 'not_started',
  exitCode: null,
  output: Buffer.from(said),
})

const PASS = Buffer.from('Tests:       2 passed, 2 total')
const FAIL = Buffer.from('Tests:       1 failed, 2 total')
const COMMANDS = [{ argv: ['npm', 'test'] }]

describe('an input', () => {
  test.each<[string, Json]>([
    ['that is none', null],
    ['that is a list', []],
    ['without a workspace', {}],
    ['with a relative workspace', { workspace: 'a' }],
    ['with a NUL', { workspace: '/a\0b' }],
    ['with commands that are no list', { workspace: '/', commands: {} }],
    ['with too many commands', { workspace: '/', commands: Array(33).fill({ argv: ['a'] }) }],
    [
      'with a command that is too long',
      { workspace: '/', commands: [{ argv: ['a'.repeat(9_000)] }] },
    ],
    ['with a command line', { workspace: '/', commands: ['npm test'] }],
    ['with an empty argv', { workspace: '/', commands: [{ argv: [] }] }],
    ['with an empty name', { workspace: '/', commands: [{ argv: [''] }] }],
    ['with a number in argv', { workspace: '/', commands: [{ argv: ['a', 1] }] }],
    ['with a NUL in argv', { workspace: '/', commands: [{ argv: ['a\0'] }] }],
    ['with an absolute cwd', { workspace: '/', commands: [{ argv: ['a'], cwd: '/etc' }] }],
    ['with a cwd outside', { workspace: '/', commands: [{ argv: ['a'], cwd: 'a/../../b' }] }],
    ['with a timeout of no time', { workspace: '/', timeoutMs: 0 }],
    ['with a timeout that is no number', { workspace: '/', timeoutMs: '5' }],
    ['with a wish that is no truth value', { workspace: '/', requireReport: 'yes' }],
  ])('%s is refused for good', async (_, input) => {
    const { run, opened } = setUp()
    expect(await run(input)).toMatchObject({ error: { code: 'invalid_input', retry: 'never' } })
    expect(opened).toEqual([])
  })

  test('with a workspace that is gone is refused for good', async () => {
    const attempt = await setUp().run({ workspace: join(folder, 'gone') })
    expect(attempt).toMatchObject({ error: { code: 'workspace_missing', retry: 'never' } })
  })
})

describe('configured commands', () => {
  const manifest = (test: string) =>
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { test } }))

  test.each([
    ['true', Buffer.alloc(0), 'none_executed'],
    ['echo "Tests: 2 passed, 2 total"', PASS, 'none_executed'],
    ['vitest run || true', Buffer.alloc(0), 'nothing_reported'],
  ])(
    'a script %j that shows no test is no pass, although it exits with 0',
    async (script, output, code) => {
      manifest(script)
      const { run } = setUp({ end: { output } })
      expect(await run({ workspace: folder, commands: COMMANDS })).toMatchObject({
        ok: true,
        value: { verdict: 'no_tests', code },
      })
    },
  )

  test('one that nobody can read passes by its exit code, and says so', async () => {
    manifest('./check.sh')
    expect(await setUp().run({ workspace: folder, commands: COMMANDS })).toMatchObject({
      value: { verdict: 'passed', evidence: 'exit_code' },
    })
  })
})

describe('tests', () => {
  test('that fail are an outcome, and no error', async () => {
    const { run, log, opened } = setUp({ end: { output: FAIL, exitCode: 1 } })
    expect(await run({ workspace: folder, commands: COMMANDS })).toMatchObject({
      ok: true,
      value: { verdict: 'failed', code: 'tests_failed', remarks: [] },
    })
    expect(opened).toEqual([folder])
    expect(log).toMatchObject([{ argv: ['npm', 'test'] }, 'closed'])
  })

  test('are found by looking, when none are configured', async () => {
    writeFileSync(join(folder, 'package.json'), '{')
    writeFileSync(join(folder, 'Makefile'), 'test:\n')
    const { run, log } = setUp({ end: { output: PASS } })
    expect(await run({ workspace: folder })).toMatchObject({
      ok: true,
      value: {
        verdict: 'passed',
        commands: [{ argv: ['make', 'test'], reason: 'Makefile has a target "test"' }],
        remarks: [{ path: 'package.json', code: 'malformed' }],
      },
    })
    expect(log).toHaveLength(2)
  })

  test('that nobody has written are an outcome', async () => {
    expect(await setUp().run({ workspace: folder })).toMatchObject({
      ok: true,
      value: { verdict: 'no_tests', code: 'no_command' },
    })
  })

  test('that print nothing pass only where no report is required', async () => {
    const input = { workspace: folder, commands: COMMANDS }
    const value = (verdict: string) => ({ ok: true, value: { verdict } })
    expect(await setUp().run(input)).toMatchObject(value('passed'))
    const strict = { ...input, requireReport: true }
    expect(await setUp().run(strict)).toMatchObject(value('no_tests'))
  })

  test('have the time that was asked for, but never more than there is', async () => {
    const { run, log } = setUp()
    await run({ workspace: folder, commands: COMMANDS, timeoutMs: 5_000 })
    await run({ workspace: folder, commands: COMMANDS, timeoutMs: 900_000 })
    const times = log.flatMap((entry) => (entry === 'closed' ? [] : entry.timeoutMs))
    expect(times[0]).toBeGreaterThan(4_000)
    expect(times[0]).toBeLessThanOrEqual(5_000)
    expect(times[1]).toBeLessThanOrEqual(60_000)
    expect(setUp().handler.policy?.timeoutMs).toBeGreaterThan(60_000)
  })

  test('leave their whole output in a blob, and its end in the outcome', async () => {
    const text = `${'a line of output\n'.repeat(20_000)}the last line\n`
    const { run, store } = setUp({ end: { output: Buffer.from(text), exitCode: 1 } })
    const attempt = await run({ workspace: folder, commands: COMMANDS })
    if (!attempt.ok) throw new Error(attempt.error.message)
    const [command] = (attempt.value as unknown as RunTestsValue).commands
    if (!command?.output) throw new Error('no output was kept')
    expect(Buffer.from(await store.get(command.output)).toString()).toBe(text)
    expect(command.tail.endsWith('the last line\n')).toBe(true)
    expect(Buffer.byteLength(JSON.stringify(attempt.value))).toBeLessThan(65_536)
  })

  test('fit a row at their worst', async () => {
    for (let at = 0; at < 30; at += 1) {
      writeFileSync(join(folder, `test_${at}${'\x01'.repeat(200)}.py`), 'x'.repeat(300_000))
    }
    for (const name of ['package.json', 'composer.json', 'deno.json']) {
      writeFileSync(join(folder, name), '\x01\x02'.repeat(100))
    }
    const rules = ['Cargo.toml', 'mix.exs', 'Package.swift', 'pubspec.yaml', 'build.sbt', 'go.mod']
    for (const name of [...rules, 'pom.xml', 'build.gradle']) writeFileSync(join(folder, name), '')
    const names = Array.from({ length: 500 }, (_, at) => `ERROR "\\"${at}${'\\'.repeat(280)}`)
    const output = Buffer.from(`${names.join('\n')}\n1 error in 0.01s\n${'"\\\n'.repeat(20_000)}`)
    const attempt = await setUp({ end: { output, exitCode: 1 } }).run({ workspace: folder })
    if (!attempt.ok) throw new Error(attempt.error.message)
    expect(Buffer.byteLength(JSON.stringify(attempt.value))).toBeLessThan(65_536)
  })
})

describe('what the tests cannot help is an error that may pass', () => {
  const input = { workspace: '', commands: COMMANDS }
  const later = (code: string, service?: string) => ({
    ok: false,
    error: { code, retry: 'later', ...(service && { service }) },
  })
  const lacking = (code: string) => later(code, 'machine')

  test('a sandbox that does not open', async () => {
    const openSandbox = async () => {
      throw new Error('no namespaces here')
    }
    const { run } = setUp({ parts: { openSandbox } })
    expect(await run({ ...input, workspace: folder })).toMatchObject(lacking('sandbox_unavailable'))
  })

  test('a sandbox that starts nothing', async () => {
    const { run, log } = setUp({ end: notStarted('Error: spawn ENOMEM') })
    expect(await run({ ...input, workspace: folder })).toMatchObject(lacking('sandbox_failed'))
    expect(log.at(-1)).toBe('closed')
  })

  test('a launcher that is not there, whatever it says', async () => {
    const { run } = setUp({ end: notStarted('Error: spawn bwrap ENOENT') })
    expect(await run({ ...input, workspace: folder })).toMatchObject(lacking('sandbox_failed'))
  })

  test('a command that is not started where another is needs no machine', async () => {
    const { run } = setUp({ end: notStarted('../a is not in the workspace'), starts: ['true'] })
    const attempt = await run({ ...input, workspace: folder })
    expect(attempt).toMatchObject(later('sandbox_failed'))
    expect(attempt).not.toHaveProperty('error.service')
  })

  test('a stop', async () => {
    const { run, log } = setUp({ signal: AbortSignal.abort() })
    expect(await run({ ...input, workspace: folder })).toMatchObject(later('aborted'))
    expect(log).toEqual(['closed'])
  })

  test('a full disk', async () => {
    const put = async () => {
      throw new Error('write: No space left on device')
    }
    const { run, log } = setUp({ blobs: { put, get: async () => new Uint8Array() } })
    expect(await run({ ...input, workspace: folder })).toMatchObject(lacking('output_not_kept'))
    expect(log.at(-1)).toBe('closed')
  })

  test('but a command that does not exist is an outcome: somebody can write another', async () => {
    const { run } = setUp({ end: notStarted('Error: spawn npm ENOENT'), starts: ['true'] })
    expect(await run({ ...input, workspace: folder })).toMatchObject({
      ok: true,
      value: { verdict: 'not_started', code: 'command_missing' },
    })
  })
})

describe('a workspace that is rewound', () => {
  const OWNER = { run: 'r1', story: 's1' }
  const input = () => ({ workspace: folder, commands: COMMANDS, rewind: OWNER })

  test('is as its checkpoint has it before the run and after it, also after a failed one', async () => {
    const order: string[] = []
    const rewind = async ({ story }: typeof OWNER) => void order.push(`rewind ${story}`)
    const { sandbox } = sandboxThat({ stdout: FAIL, exitCode: 1 })
    const openSandbox = async () => {
      order.push('run')
      return sandbox
    }
    const { run } = setUp({ parts: { rewind, openSandbox } })
    expect(await run(input())).toMatchObject({ ok: true, value: { verdict: 'failed' } })
    expect(order).toEqual(['rewind s1', 'run', 'rewind s1'])
  })

  test.each([
    ['before', 1],
    ['after', 2],
  ])('that cannot be, %s the run, is no pass', async (_, failing) => {
    let count = 0
    const rewind = async () => {
      count += 1
      if (count === failing) throw new Error('the disk is full')
    }
    const { run } = setUp({ end: { stdout: PASS }, parts: { rewind } })
    expect(await run(input())).toMatchObject({
      ok: false,
      error: { code: 'workspace_not_restored', retry: 'later' },
    })
  })

  test('that nobody can rewind is not tested', async () => {
    const { run, opened } = setUp({ end: { stdout: PASS } })
    expect(await run(input())).toMatchObject({ ok: false, error: { retry: 'never' } })
    expect(opened).toEqual([])
  })
})
