import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Ended } from '../process/command.ts'
import type { Sandbox, SandboxCommand } from '../sandbox/sandbox.ts'
import { runTests, type TestRun } from './run-tests.ts'
import type { TestCommand } from './test-result.ts'

const NOTHING = Buffer.alloc(0)

function ended(output: string, exitCode: number | null, more: Partial<Ended> = {}): Ended {
  const bytes = Buffer.from(output)
  const how = exitCode === null ? 'killed' : 'exited'
  const streams = { stdout: bytes, stderr: NOTHING, output: bytes, droppedBytes: 0 }
  return { how, exitCode, ...streams, durationMs: 1, ...more }
}

/** A sandbox in which commands end as they are told to, in turn. */
function scripted(...ends: Ended[]) {
  const commands: SandboxCommand[] = []
  const sandbox: Sandbox = {
    level: 'none',
    run: async (command) => {
      commands.push(command)
      return ends[commands.length - 1] ?? ended('', 0)
    },
    close: async () => {},
  }
  return { sandbox, commands }
}

const commandsOf = (count: number): TestCommand[] =>
  Array.from({ length: count }, (_, at) => ({ argv: ['run', `${at}`], reason: 'a test says so' }))

const run = (ends: Ended[], more: Partial<TestRun> = {}) =>
  runTests({
    sandbox: scripted(...ends).sandbox,
    workspace: '/no/such/workspace',
    commands: commandsOf(ends.length),
    timeoutMs: 60_000,
    outputBytesMax: 1_000_000,
    ...more,
  })

const PASS = '# tests 2\n# suites 0\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n'
const FAIL = 'Tests:       1 failed, 2 passed, 3 total'
const ZERO = 'Ran 0 tests in 0.000s\n\nOK'

describe('one command', () => {
  test.each<[string, Ended, string, string | null, string]>([
    ['exit 0 and tests that passed', ended(PASS, 0), 'passed', null, 'counted'],
    [
      'exit 0 and a runner that does not count',
      ended('ok  \ta/b\t1s', 0),
      'passed',
      null,
      'reported',
    ],
    ['exit 0 and nothing to go by', ended('ok', 0), 'passed', null, 'exit_code'],
    ['exit 1 and tests that failed', ended(FAIL, 1), 'failed', 'tests_failed', 'counted'],
    ['exit 0 and tests that failed', ended(FAIL, 0), 'failed', 'failed_despite_exit', 'counted'],
    [
      'exit 0 and a failure by one who does not count',
      ended('FAIL\ta/b\t1s', 0),
      'failed',
      'failed_despite_exit',
      'reported',
    ],
    ['exit 1 and tests that passed', ended(PASS, 1), 'failed', 'exited_with_failure', 'counted'],
    ['exit 1 and nothing to go by', ended('no', 1), 'failed', 'exited_with_failure', 'exit_code'],
    ['exit 0 and no tests', ended(ZERO, 0), 'no_tests', 'none_executed', 'counted'],
    ['exit 5 and no tests', ended(ZERO, 5), 'no_tests', 'none_executed', 'counted'],
    [
      'exit 0 and all skipped',
      ended('== 3 skipped in 0.01s ==', 0),
      'no_tests',
      'none_executed',
      'counted',
    ],
    [
      'exit 127',
      ended('sh: 1: jest: not found', 127),
      'not_started',
      'command_missing',
      'exit_code',
    ],
    [
      'exit 126',
      ended('sh: ./t: denied', 126),
      'not_started',
      'command_not_executable',
      'exit_code',
    ],
    [
      'a runner that Python has not',
      ended('/usr/bin/python3: No module named pytest', 1),
      'not_started',
      'command_missing',
      'exit_code',
    ],
    ['exit 127 after failures', ended(FAIL, 127), 'failed', 'tests_failed', 'counted'],
    ['a kill from outside', ended(PASS, null), 'failed', 'killed', 'counted'],
    [
      'no such file',
      ended('Error: spawn x ENOENT', null, { how: 'not_started' }),
      'not_started',
      'command_missing',
      'none',
    ],
    [
      'no permission',
      ended('Error: spawn x EACCES', null, { how: 'not_started' }),
      'not_started',
      'command_not_executable',
      'none',
    ],
    [
      'no such file in a sandbox',
      ended('bwrap: execvp x: No such file or directory\n', null, { how: 'not_started' }),
      'not_started',
      'command_missing',
      'none',
    ],
    [
      'no permission in a sandbox',
      ended('bwrap: execvp ./x: Permission denied\n', null, { how: 'not_started' }),
      'not_started',
      'command_not_executable',
      'none',
    ],
    [
      'no sandbox',
      ended("bwrap: Can't find source path /x: No such file or directory", null, {
        how: 'not_started',
      }),
      'not_started',
      'not_started',
      'none',
    ],
    [
      'no memory',
      ended('Error: spawn ENOMEM', null, { how: 'not_started' }),
      'not_started',
      'not_started',
      'none',
    ],
    ['a timeout', ended(PASS, null, { how: 'timed_out' }), 'timed_out', 'timed_out', 'counted'],
    ['an abort', ended(PASS, null, { how: 'aborted' }), 'aborted', 'aborted', 'counted'],
    ['a flood', ended(PASS, null, { how: 'flooded' }), 'failed', 'flooded', 'counted'],
  ])('%s', async (_, end, verdict, code, evidence) => {
    const result = await run([end])
    expect(result).toMatchObject({ verdict, code, evidence })
    expect(result.commands).toMatchObject([{ verdict, code, evidence, how: end.how }])
    expect(result.fingerprint === null).toBe(verdict === 'passed')
  })

  test('exit 0 alone is no pass where a report is required, and says so where it is not', async () => {
    const lenient = await run([ended('ok', 0)])
    expect(lenient.message).toContain('nothing shows that these ran a test: run 0')
    const strict = { requireReport: true }
    expect(await run([ended('ok', 0)], strict)).toMatchObject({
      verdict: 'no_tests',
      code: 'nothing_reported',
    })
    expect(await run([ended('ok  \ta/b\t1s', 0)], strict)).toMatchObject({ verdict: 'passed' })
    expect(await run([ended(PASS, 0)], strict)).toMatchObject({ verdict: 'passed' })
  })

  test('a line that one stream cut in two is still read', async () => {
    const output = Buffer.from(PASS.replace('# fail', '# fa\nwarning: slow\nil'))
    const end = ended('', 0, { stdout: Buffer.from(PASS), stderr: Buffer.from('warning'), output })
    expect(await run([end])).toMatchObject({ counts: { passed: 2 } })
  })

  test('is told that nobody is watching, and where to run', async () => {
    const { sandbox, commands } = scripted(ended(PASS, 0))
    const signal = new AbortController().signal
    await run([], {
      sandbox,
      commands: [{ argv: ['npm', 'test'], cwd: 'packages/a', reason: 'it is configured' }],
      signal,
    })
    expect(commands).toMatchObject([
      { argv: ['npm', 'test'], cwd: 'packages/a', env: { CI: 'true', NO_COLOR: '1' }, signal },
    ])
  })

  test('keeps its whole output, and no secret', async () => {
    const saved: string[] = []
    const saveOutput = async (output: string) => {
      saved.push(output)
      return { sha256: 'abc', bytes: output.length }
    }
    const token = `ghp_${'a'.repeat(36)}`
    const text = `${'line\n'.repeat(10_000)}--- FAIL: Test_hunter2hunter2 (0s)\n${token}\nFAIL\ta\t1s`
    const result = await run([ended(text, 1)], { saveOutput, secrets: ['hunter2hunter2'] })
    expect(result.commands[0]?.output).toEqual({ sha256: 'abc', bytes: saved[0]?.length })
    expect(saved[0]?.split('\n')).toHaveLength(10_003)
    expect(JSON.stringify([result, saved])).not.toMatch(/hunter2|ghp_/)
    expect(result.commands[0]?.failing).toEqual(['a Test_[redacted]'])
  })
})

describe('several commands', () => {
  const ABORTED = ended('', null, { how: 'aborted' })
  const LATE = ended('', null, { how: 'timed_out' })
  const MISSING = ended('', 127)
  const good = ended(PASS, 0)

  test.each<[string, Ended[], string]>([
    ['none', [], 'no_tests'],
    ['all pass', [good, good], 'passed'],
    ['one fails', [good, ended(FAIL, 1), good], 'failed'],
    ['one has no tests', [good, ended(ZERO, 0)], 'no_tests'],
    ['one is missing', [MISSING, ended(ZERO, 0), good], 'not_started'],
    ['one is late', [LATE, MISSING], 'timed_out'],
    ['a failure is more certain than a timeout', [LATE, ended(FAIL, 1)], 'failed'],
    ['one is aborted', [ended(FAIL, 1), ABORTED], 'aborted'],
  ])('%s', async (_, ends, verdict) => {
    const result = await run(ends)
    expect(result.verdict).toBe(verdict)
    expect(result.commands).toHaveLength(ends.length)
  })

  test('none at all has a code of its own', async () => {
    expect(await run([])).toMatchObject({ code: 'no_command', evidence: 'none', counts: null })
  })

  test('are counted together, and proven by the weakest', async () => {
    const result = await run([good, ended('== 3 passed, 1 skipped in 0.1s ==', 0), ended('ok', 0)])
    expect(result).toMatchObject({
      verdict: 'passed',
      counts: { executed: 5, passed: 5, failed: 0, skipped: 1 },
      evidence: 'exit_code',
    })
  })

  test('are not started when no time is left', async () => {
    const { sandbox, commands } = scripted(good, good)
    const result = await run([], { sandbox, commands: commandsOf(2), timeoutMs: 0 })
    expect(commands).toEqual([])
    const row = { verdict: 'timed_out', how: 'timed_out', durationMs: 0 }
    expect(result).toMatchObject({ verdict: 'timed_out', commands: [row, row] })
  })

  test('are not started after an abort, and what ran before is no pass', async () => {
    const stop = new AbortController()
    const { sandbox, commands } = scripted(good, good)
    const stopping = {
      ...sandbox,
      run: (command: SandboxCommand) => {
        stop.abort()
        return sandbox.run(command)
      },
    }
    const more = { sandbox: stopping, commands: commandsOf(2), signal: stop.signal }
    expect(await run([], more)).toMatchObject({ verdict: 'aborted' })
    expect(commands).toHaveLength(1)
  })
})

describe('whatever is printed', () => {
  const SUMMARIES = [
    PASS,
    FAIL,
    ZERO,
    'TAP version 13\nok 1\n1..1',
    '1..9',
    'OK (3 tests, 3 assertions)',
  ]
  const output = fc
    .array(fc.oneof(fc.constantFrom(...SUMMARIES), fc.string({ unit: 'binary' })), { maxLength: 8 })
    .map((lines) => lines.join('\n'))
  const bytes = fc.oneof(
    output.map((text) => Buffer.from(text)),
    fc.uint8Array().map(Buffer.from),
  )
  const end = fc
    .record({
      stdout: bytes,
      stderr: bytes,
      exitCode: fc.oneof(fc.constant(0), fc.constant(null), fc.integer({ min: 1, max: 255 })),
      how: fc.constantFrom('exited', 'killed', 'timed_out', 'aborted', 'flooded', 'not_started'),
      droppedBytes: fc.nat(2),
    })
    .map((parts): Ended => {
      const how = parts.exitCode === null && parts.how === 'exited' ? 'killed' : parts.how
      const exitCode = how === 'exited' ? parts.exitCode : null
      const all = Buffer.concat([parts.stdout, parts.stderr])
      return { ...parts, how, exitCode, output: all, durationMs: 1 } as Ended
    })

  test('no other end than exit 0 of every command is a pass, and the result fits a row', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(end, { maxLength: 4 }), async (ends) => {
        const result = await run(ends)
        const allZero = ends.length > 0 && ends.every((each) => each.exitCode === 0)
        if (result.verdict === 'passed') expect(allZero).toBe(true)
        if (result.verdict === 'passed' && result.counts) {
          expect(result.counts.executed).toBeGreaterThan(0)
          expect(result.counts.failed).toBe(0)
        }
        expect(JSON.parse(JSON.stringify(result))).toEqual(result)
        expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(65_536)
      }),
      { numRuns: Number(process.env.SLIPWAY_FUZZ ?? 300) },
    )
  })

  test('a megabyte of blanks costs no more than any other', async () => {
    const startedMs = performance.now()
    await run([ended(`a${' '.repeat(1_000_000)}x`, 0)])
    // With work that grows with the square of a run of blanks it takes an hour.
    expect(performance.now() - startedMs).toBeLessThan(10_000)
  })

  test('quotes of a large output are bounded, however they are escaped', async () => {
    for (const text of [
      '"\\\n'.repeat(20_000),
      '🙂'.repeat(20_000),
      `${'FAIL: "\\"\n'.repeat(2_000)}`,
    ]) {
      const result = await run(Array.from({ length: 16 }, () => ended(`${text}\n${ZERO}`, 1)))
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(60_000)
    }
  })
})
