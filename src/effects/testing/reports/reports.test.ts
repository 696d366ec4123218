import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readTestReport } from '../read-test-report.ts'

const read = (
  text: string,
  more: { argv?: string[]; exitCode?: number; complete?: boolean } = {},
) => readTestReport({ text, complete: true, argv: [], exitCode: 0, ...more })

const counts = (passed: number, failed: number, skipped: number) => ({
  executed: passed + failed,
  passed,
  failed,
  skipped,
})

describe('runners that do not run here', () => {
  test('dotnet, a line for each assembly', () => {
    const report = read(
      `  Determining projects to restore...
Starting test execution, please wait...
A total of 1 test files matched the specified pattern.
  Failed Bank.Tests.AccountTests.Withdraws [15 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 3
Actual:   4
  Failed Bank.Tests.AccountTests.Adds(a: 1, b: [2]) [< 1 ms]

Failed!  - Failed:     2, Passed:    10, Skipped:     1, Total:    13, Duration: 39 s - Bank.Tests.dll (net8.0)
Passed!  - Failed:     0, Passed:     4, Skipped:     0, Total:     4, Duration: 182 ms - Web.Tests.dll (net8.0)

Test summary: total: 17, failed: 2, succeeded: 14, skipped: 1, duration: 40.1s`,
    )
    expect(report.runners).toEqual(['dotnet'])
    expect(report.counts).toEqual(counts(14, 2, 1))
    expect(report.failing).toEqual([
      'Bank.Tests.AccountTests.Withdraws',
      'Bank.Tests.AccountTests.Adds(a: 1, b: [2])',
    ])
  })

  test.each([
    [
      'a summary alone',
      'Test summary: total: 3; failed: 1; succeeded: 1; skipped: 1; duration: 1s',
    ],
    ['a summary over lines', 'Total tests: 3\n     Passed: 1\n     Failed: 1\n    Skipped: 1'],
  ])('dotnet, %s', (_, text) => {
    expect(read(text).counts).toEqual(counts(1, 1, 1))
  })

  test.each([
    'No test is available in /src/a.dll. Make sure that test discoverer & executors are registered.',
    'No test matches the given testcase filter `x` in /src/a.dll',
  ])('dotnet without tests: %s', (text) => {
    expect(read(text).counts).toEqual(counts(0, 0, 0))
  })

  test.each([
    [
      'surefire',
      '[INFO] --- surefire:3.2.5:test (default-test) @ a ---\n[INFO] Tests are skipped.',
    ],
    ['jasmine', 'Started\n\n\n0 specs, 0 failures\nFinished in 0.002 seconds'],
    ['jasmine', 'Incomplete: No specs found'],
    ['karma', 'Chrome 120.0.0.0 (Linux x86_64): Executed 0 of 0 ERROR (0.003 secs / 0 secs)'],
    ['none', 'None of the selected packages has a "test" script'],
    ['none', ' Tasks:    0 successful, 0 total\nCached:    0 cached, 0 total\n  Time:    5ms'],
    ['none', '\n NX   No tasks were run\n'],
  ])('%s without tests: %s', (runner, text) => {
    expect(read(text)).toMatchObject({ runners: [runner], counts: counts(0, 0, 0) })
  })

  test('Jasmine', () => {
    const report = read(
      `Started
F.*

Failures:
1) adder adds
  Message:
    Expected 3 to be 4.

3 specs, 1 failure, 1 pending spec
Finished in 0.01 seconds`,
    )
    expect(report).toMatchObject({ runners: ['jasmine'], failing: ['adder adds'] })
    expect(report.counts).toEqual(counts(1, 1, 1))
  })

  test('Karma, with the last word of each browser', () => {
    const report = read(
      `Chrome 120.0 (Linux): Executed 0 of 3 SUCCESS (0 secs / 0 secs)
Chrome 120.0 (Linux) adder adds FAILED
\tExpected 3 to be 4.
Chrome 120.0 (Linux): Executed 2 of 3 (1 FAILED) (skipped 1) (0.01 secs / 0 secs)
Firefox 121.0 (Linux): Executed 3 of 3 SUCCESS (0.01 secs / 0 secs)`,
    )
    expect(report).toMatchObject({ runners: ['karma'], failing: ['adder adds'] })
    expect(report.counts).toEqual(counts(4, 1, 1))
  })

  test.each([
    ['..X.\n\nFailed tests:\n\n✖ b (1ms)', counts(3, 1, 0)],
    ['\n', counts(0, 0, 0)],
    ['', counts(0, 0, 0)],
  ])('dots, where the command is known to print them: %j', (text, expected) => {
    const printed = { text, complete: true, argv: [], exitCode: 0 }
    expect(readTestReport({ ...printed, dots: true }).counts).toEqual(expected)
    expect(readTestReport(printed).counts).toBeNull()
  })

  test('Pest', () => {
    const report = read(`   FAIL  Tests\\Unit\\SumTest
  ⨯ it subtracts

   FAILED  Tests\\Unit\\SumTest > it subtracts
  Failed asserting that 3 is identical to -1.

  Tests:    1 failed, 1 skipped, 4 passed (7 assertions)
  Duration: 0.04s`)
    expect(report.counts).toEqual(counts(4, 1, 1))
    expect(report.failing).toEqual(['Tests\\Unit\\SumTest > it subtracts'])
  })

  test('Surefire 3, with modules', () => {
    const report =
      read(`[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.03 s <<< FAILURE! -- in a.BadTest
[ERROR] a.BadTest.subtracts -- Time elapsed: 0.006 s <<< FAILURE!
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0
[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 2, Time elapsed: 0.03 s -- in b.GoodTest
[WARNING] Tests run: 5, Failures: 0, Errors: 0, Skipped: 2`)
    expect(report.counts).toEqual(counts(4, 1, 2))
    expect(report.failing).toEqual(['a.BadTest.subtracts'])
  })

  test.each([
    ['> Task :app:test\n\nBUILD SUCCESSFUL in 3s', null],
    ['> Task :app:test NO-SOURCE\n> Task :lib:test NO-SOURCE\n\nBUILD SUCCESSFUL in 3s', 0],
    ['> Task :app:test NO-SOURCE\n> Task :lib:test FROM-CACHE\n\nBUILD SUCCESSFUL in 3s', null],
  ])('Gradle of today: %j', (text, executed) => {
    expect(read(text)).toMatchObject({ runners: ['gradle'] })
    expect(read(text).counts?.executed ?? null).toBe(executed)
  })

  test('a Gradle build without a test task says nothing about tests', () => {
    expect(read('> Task :compileTestJava FAILED\n\nBUILD FAILED in 3s').runners).toEqual([])
  })

  test.each([
    ' ERR_PNPM_NO_SCRIPT  Missing script: test',
    'error Command "test" not found.',
    'Usage Error: Couldn\'t find a script named "test".',
    "make: *** No rule to make target 'test'.  Stop.",
    "gmake: Nothing to be done for `test'.".replace('`', "'"),
  ])('nothing to run: %s', (text) => {
    expect(read(text, { exitCode: 1 }).counts).toEqual(counts(0, 0, 0))
  })
})

describe('a report among other output', () => {
  test.each([
    'packages/a test: Tests:       1 failed, 2 passed, 3 total',
    '@scope/web:test: Tests:       1 failed, 2 passed, 3 total',
  ])('with the name of its package in front: %s', (text) => {
    expect(read(text)).toMatchObject({ runners: ['jest'], counts: counts(2, 1, 0) })
  })

  test('runners that ran one after the other are counted together', () => {
    const report = read(`> eslint .\nTests:       2 passed, 2 total\n
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
Ran 4 tests in 0.001s\n\nFAILED (failures=1)`)
    expect(report.runners).toEqual(['jest', 'unittest', 'cargo'])
    expect(report.counts).toEqual(counts(8, 1, 1))
  })

  test('a runner that does not count hides no other that failed, nor the reverse', () => {
    const go = 'ok  \texample.com/a\t0.003s\nFAIL\texample.com/b\t0.003s'
    const report = read(`${go}\n===== 5 passed in 0.12s =====`)
    expect(report).toMatchObject({ counts: counts(5, 0, 0), failed: 1 })
    expect(read(`${go}\nmake: Nothing to be done for 'test'.`)).toMatchObject({ counts: null })
  })

  test('words that only resemble a report are none', () => {
    const text = `5 passed the exam
Tests: see the wiki
OK
ok 1 is not enough
    # tests 4
Ran 3 tests in my head
2 examples of failures
BUILD SUCCESSFUL
3 tests, no failures
we passed | all`
    expect(read(text)).toEqual({ runners: [], counts: null, failed: 0, failing: [] })
  })

  test('a quiet pytest says by its exit code that there was nothing to run', () => {
    const argv = ['python3', '-m', 'pytest', '-qq']
    expect(read('', { argv, exitCode: 5 }).counts).toEqual(counts(0, 0, 0))
    expect(read('', { argv: ['./run'], exitCode: 5 }).counts).toBeNull()
  })
})

describe('the Test Anything Protocol', () => {
  test('tests inside tests are counted, and what sums them up is not', () => {
    const report = read(`TAP version 14
# Subtest: outer
    # Subtest: middle
        ok 1 - one
        not ok 2 - two
          ---
          message: not ok 9 - a quotation
          not ok 3 - another
          ...
        1..2
    not ok 1 - middle
    ok 2 - three # SKIP not here
    1..2
not ok 1 - outer
ok 2 - four
1..2`)
    expect(report).toMatchObject({ counts: counts(2, 1, 1), failing: ['two'] })
  })

  test('a test that failed by itself, with none inside it that did, is counted', () => {
    const report = read(
      'TAP version 14\n    ok 1 - inner\n    1..1\nnot ok 1 - outer timed out\n1..1',
    )
    expect(report).toMatchObject({ counts: counts(1, 1, 0), failing: ['outer timed out'] })
  })

  test('what was planned and did not run has failed, unless it may have been dropped', () => {
    const text = '1..5\nok 1 - a\nok 2 - b'
    expect(read(text)).toMatchObject({
      counts: counts(2, 3, 0),
      failing: ['3 planned and not run'],
    })
    expect(read(text, { complete: false })).toMatchObject({ counts: counts(2, 0, 0), failing: [] })
  })

  test('whoever bails out has failed', () => {
    const report = read('TAP version 13\nok 1\nBail out! No database')
    expect(report).toMatchObject({ counts: counts(1, 1, 0), failing: ['Bail out! No database'] })
  })

  test('a plan for no tests is none', () => {
    expect(read('1..0 # SKIP not on this system').counts).toEqual(counts(0, 0, 0))
  })
})

describe('output that nobody vouches for', () => {
  // Pieces of real reports, so that chance finds what readers look for.
  const PIECES = [
    ...['TAP version 13', '1..3', 'ok 1 - a', 'not ok 2', '    ok', '# tests 3', 'ℹ cancelled 1'],
    ...[' Test Files  1 failed (1)', '      Tests  no tests', ' FAIL  a [ a ]', 'Tests: 1 total'],
    ...[
      '  ● Test suite failed to run',
      '  3 passing (',
      '  1 failing',
      '  1) a:',
      '  2 tests passed',
    ],
    ...['== 1 failed in 0.1s', 'Ran 2 tests in 0.1s', 'FAILED (errors=1)', 'ok  \ta', 'FAIL\tb'],
    ...[
      '--- FAIL: X (',
      '{"Action":"fail","Package":"p"}',
      '{"Time":"',
      'test result: ok. 1 passed',
    ],
    ...[
      '3 examples, 1 failure',
      '2 runs, 1 assertions, 1 failures, 1 errors, 0 skips',
      '  1) Error:',
    ],
    ...['[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0', 'BUILD FAILED in 1s', ':test'],
    ...['[ 3 tests successful ]', 'Passed!  - Failed: 0, Passed: 1, Skipped: 0', 'OK (3 tests)'],
    ...[
      'Tests: 3, Assertions: 1',
      'ok | 3 passed | 1 failed',
      'Ran 3 tests across 1 file.',
      ' 1 fail',
    ],
    ...[
      '3 tests, 1 failure',
      '  1) test a (B)',
      'Files=1, Tests=2',
      't/a (Wstat: 0 Tests: 1 Failed: 0)',
    ],
  ]
  const anyLine = fc.oneof(fc.constantFrom(...PIECES), fc.string(), fc.string({ unit: 'binary' }))

  test('never throws, and its numbers are numbers that fit together', () => {
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 40 }), (lines) => {
        const report = read(lines.join('\n'))
        for (const name of report.failing) expect(name.length).toBeLessThanOrEqual(300)
        if (report.counts === null) return
        const { executed, passed, failed, skipped } = report.counts
        for (const number of [passed, failed, skipped]) {
          expect(Number.isSafeInteger(number) && number >= 0).toBe(true)
        }
        expect(executed).toBe(passed + failed)
      }),
      { numRuns: Number(process.env.SLIPWAY_FUZZ ?? 500) },
    )
  })

  test('costs no more than its length, whatever is repeated in it', () => {
    const signs = PIECES.join('\n')
    const heads = ['[ERROR] a', 'Failed a', ' FAIL  a', '  1) Error:\n']
    const fillers = [' ', '(', ' (1', '#', ' [ ', ' > ', ' => ', '1 a, ', ' [1 s', 'test']
    for (const head of heads) {
      for (const filler of fillers) {
        const line = (at: number) => `${`${head}${at}${filler.repeat(1_000)}`.slice(0, 999)}x`
        const text = [signs, ...Array.from({ length: 1_000 }, (_, at) => line(at))].join('\n')
        const startedMs = performance.now()
        read(text)
        // About 50 ms; work that grows with the square of a line takes several seconds.
        expect(performance.now() - startedMs, JSON.stringify([head, filler])).toBeLessThan(1_500)
      }
    }
  })
})
