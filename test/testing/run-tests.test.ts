import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readProcessTable } from '../../src/effects/process/process-table.ts'
import { ADDS, counts, type Files, nodeTest, npm, SUBTRACTS, SUM } from './sums.ts'
import { openWorld } from './world.ts'

let world: Awaited<ReturnType<typeof openWorld>>
let sandboxed: typeof world
beforeAll(async () => {
  ;[world, sandboxed] = await Promise.all([openWorld('none'), openWorld('bubblewrap')])
})
afterAll(() => Promise.all([world.close(), sandboxed.close()]))

const unittest = (body: string) => `import unittest

class SumTest(unittest.TestCase):
    ${body}
`

describe.concurrent('make', () => {
  test.each<[string, Files, object]>([
    [
      'that passes in silence',
      { Makefile: '.PHONY: test\ntest:\n\t@./check.sh\n', 'check.sh': '#!/bin/sh\nexit 0\n' },
      { verdict: 'passed', evidence: 'exit_code', counts: null },
    ],
    [
      'that speaks TAP',
      { Makefile: 'check:\n\t@cat report.tap\n', 'report.tap': '1..2\nok 1 - a\nok 2 - b\n' },
      { verdict: 'passed', evidence: 'counted', counts: counts(2, 0) },
    ],
    [
      'that fails',
      { Makefile: '.PHONY: test\ntest:\n\t@echo it broke\n\t@false\n' },
      { verdict: 'failed', code: 'exited_with_failure', commands: [{ exitCode: 2 }] },
    ],
    [
      'that finds a folder of the name, and is content',
      { Makefile: 'test:\n\tfalse\n', 'test/a.txt': '' },
      { verdict: 'no_tests', code: 'none_executed', commands: [{ exitCode: 0 }] },
    ],
    [
      'that only prints, and has nothing else to test',
      { Makefile: '.PHONY: test\ntest:\n\t@echo 5 passed\n' },
      { verdict: 'no_tests', code: 'no_command', remarks: [{ code: 'no_test_script' }] },
    ],
    [
      'with a target that does nothing',
      { Makefile: '.PHONY: test\ntest:\n' },
      { verdict: 'no_tests', code: 'none_executed', commands: [{ exitCode: 0 }] },
    ],
    [
      'with a program that does not exist',
      { Makefile: '.PHONY: test\ntest:\n\t@no-such-program\n' },
      { verdict: 'not_started', code: 'command_missing', commands: [{ exitCode: 2 }] },
    ],
  ])('%s', async (_, files, outcome) => {
    expect(await world.runTests({ workspace: world.repository(files) })).toMatchObject(outcome)
  })

  test('without the target that is configured', async () => {
    const workspace = world.repository({ Makefile: 'all:\n' })
    const commands = [{ argv: ['make', 'test'] }]
    const value = await world.runTests({ workspace, commands })
    expect(value).toMatchObject({ verdict: 'no_tests', code: 'none_executed' })
  })
})

describe.concurrent('unittest', () => {
  test.each<[string, Files, object]>([
    [
      'that passes',
      { 'tests/test_sum.py': unittest('def test_adds(self): self.assertEqual(1 + 2, 3)') },
      { verdict: 'passed', evidence: 'counted', counts: counts(1, 0) },
    ],
    [
      'that fails',
      { 'test_sum.py': unittest('def test_subtracts(self): self.assertEqual(1 + 2, -1)') },
      { verdict: 'failed', code: 'tests_failed', counts: counts(0, 1) },
    ],
    [
      'that cannot be loaded',
      { 'test_sum.py': 'import unittest\nimport no_such_module\n' },
      { verdict: 'failed', code: 'tests_failed' },
    ],
    [
      'without tests',
      { 'test_sum.py': unittest('pass') },
      { verdict: 'no_tests', code: 'none_executed' },
    ],
  ])('%s', async (_, files, outcome) => {
    expect(await world.runTests({ workspace: world.repository(files) })).toMatchObject(outcome)
  })
})

describe.concurrent('commands', () => {
  describe.each(['as they are', 'in a sandbox'])('%s', (place) => {
    test.each<[string, Files, string[], object]>([
      [
        'that exist nowhere',
        {},
        ['no-such-command'],
        { verdict: 'not_started', code: 'command_missing' },
      ],
      [
        'that are no files here',
        {},
        ['./run'],
        { verdict: 'not_started', code: 'command_missing' },
      ],
      [
        'that may not be executed',
        { run: 'echo' },
        ['./run'],
        { verdict: 'not_started', code: 'command_not_executable' },
      ],
      ['that are killed', {}, ['sh', '-c', 'kill -9 $$'], { verdict: 'failed', code: 'killed' }],
      [
        'that pass',
        { 'sum.js': SUM, 'sum.test.js': nodeTest(ADDS) },
        ['node', '--test'],
        { verdict: 'passed', counts: counts(1, 0) },
      ],
    ])('%s', async (_, files, argv, outcome) => {
      const there = place === 'in a sandbox' ? sandboxed : world
      const workspace = there.repository(files)
      const value = await there.runTests({ workspace, commands: [{ argv }] })
      expect(value).toMatchObject(outcome)
    })
  })

  test.each<[string, string, object]>([
    ['that runs nothing', 'true', { verdict: 'no_tests', code: 'none_executed' }],
    ['of a runner without tests', 'node --test', { verdict: 'no_tests', code: 'none_executed' }],
    [
      'of a runner without tests that prints dots',
      'node --test --test-reporter=dot',
      { verdict: 'no_tests', code: 'none_executed' },
    ],
    ['that nobody can read', 'node --eval 0', { verdict: 'passed', evidence: 'exit_code' }],
  ])('of the configuration: a script %s', async (_, script, outcome) => {
    const workspace = world.repository({ 'package.json': npm(script) })
    const commands = [{ argv: ['npm', 'test'] }]
    expect(await world.runTests({ workspace, commands })).toMatchObject(outcome)
  })

  test('of the configuration: dots are counted', async () => {
    const files = { 'sum.js': SUM, 'sum.test.js': nodeTest(ADDS) }
    const commands = [{ argv: ['node', '--test', '--test-reporter=dot'] }]
    const value = await world.runTests({ workspace: world.repository(files), commands })
    expect(value).toMatchObject({ verdict: 'passed', counts: counts(1, 0) })
  })

  test('that take too long end with all they started, and the next one has no time', async () => {
    const workspace = world.repository({
      run: '#!/bin/sh\nsleep 300 &\necho $! > pid.txt\necho started\nwait\n',
    })
    const commands = [{ argv: ['./run'] }, { argv: ['true'] }]
    const value = await world.runTests({ workspace, commands, timeoutMs: 1_500 })
    expect(value).toMatchObject({
      verdict: 'timed_out',
      commands: [
        { verdict: 'timed_out', how: 'timed_out', exitCode: null, tail: 'started\n' },
        { verdict: 'timed_out', durationMs: 0 },
      ],
    })
    const pid = Number(readFileSync(join(workspace, 'pid.txt'), 'utf8'))
    const living = (await readProcessTable('-')).map((entry) => entry.pid)
    expect(living).toContain(process.pid)
    expect(living).not.toContain(pid)
  })

  test('that are stopped are neither a pass nor a failure, and are tried again later', async () => {
    const workspace = world.repository({ run: '#!/bin/sh\ntouch started\nsleep 300\n' })
    const stop = new AbortController()
    const commands = [{ argv: ['./run'] }]
    const outcome = world.runTests({ workspace, commands }, { signal: stop.signal })
    await vi.waitUntil(() => existsSync(join(workspace, 'started')), { timeout: 20_000 })
    stop.abort()
    await expect(outcome).rejects.toThrow(/^aborted: /)
  })

  test('that print megabytes are counted by their end, and kept in bounds', async () => {
    const workspace = world.repository({
      'flood.py': "print('noise ' * 20 + '\\n', end='')\n"
        .repeat(2)
        .concat(
          "for i in range(40000): print('a line of noise', i)\nprint('== 3 passed in 0.10s ==')\n",
        ),
    })
    const commands = [{ argv: ['python3', 'flood.py'] }]
    const value = await world.runTests({ workspace, commands }, { outputBytesMax: 100_000 })
    expect(value).toMatchObject({ verdict: 'passed', counts: counts(3, 0) })
    const [command] = value.commands
    expect(command?.droppedBytes).toBeGreaterThan(500_000)
    const kept = await world.read(command?.output)
    expect(kept.length).toBeLessThan(110_000)
    expect(kept).toContain('bytes left out]')
    expect(kept.endsWith(command?.tail ?? '-')).toBe(true)
  })

  test('of several ecosystems are all run, and a failure of one is one of all', async () => {
    const workspace = world.repository({
      'package.json': npm('node --test'),
      'sum.js': SUM,
      'sum.test.js': nodeTest(ADDS),
      'test_sum.py': unittest('def test_subtracts(self): self.assertEqual(1 + 2, -1)'),
      Makefile: 'check:\n\t@test -e sum.js\n',
    })
    expect(await world.runTests({ workspace })).toMatchObject({
      verdict: 'failed',
      evidence: 'exit_code',
      counts: counts(1, 1),
      commands: [{ verdict: 'passed' }, { verdict: 'failed' }, { verdict: 'passed' }],
    })
  })
})

describe.concurrent('a fingerprint', () => {
  const files = (body: string, product = SUM) => ({
    'package.json': npm('node --test'),
    'sum.js': product,
    'sum.test.js': nodeTest(body),
  })
  const fingerprintOf = async (workspace: string) =>
    (await world.runTests({ workspace })).fingerprint

  test('is the same in another folder and among other tests, and gone when it is mended', async () => {
    const first = world.repository(files(`${ADDS}\n${SUBTRACTS}`))
    const more = "test('adds zero', () => assert.equal(sum(1, 0), 1))"
    const second = world.repository(files(`${ADDS}\n${more}\n\n${SUBTRACTS}`))
    const [one, other] = await Promise.all([fingerprintOf(first), fingerprintOf(second)])
    expect(one).toMatch(/^[0-9a-f]{32}$/)
    expect(other).toBe(one)
    writeFileSync(join(first, 'sum.test.js'), nodeTest(ADDS))
    expect(await fingerprintOf(first)).toBeNull()
  })

  test('is another when another value comes out', async () => {
    const three = world.repository(files(SUBTRACTS))
    const four = world.repository(files(SUBTRACTS, 'exports.sum = (a, b) => a + b + 1\n'))
    expect(await fingerprintOf(three)).not.toBe(await fingerprintOf(four))
  })
})
