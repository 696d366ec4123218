import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { plainText } from './plain-text.ts'
import { namesToLookUp, readTestReport } from './read-test-report.ts'

// What the runners themselves printed, standard output first.
const CAPTURED = join(import.meta.dirname, '../../../test/testing/captured')

const read = (
  text: string,
  more: { argv?: string[]; exitCode?: number; complete?: boolean } = {},
) =>
  readTestReport({ text, complete: true, argv: [], exitCode: 0, emptyFiles: EMPTY_FILES, ...more })

// The files of the repositories that hold nothing, those that only have the name of a suite among
// them.
const EMPTY = ['test/empty.test.js', 'my dir/a.test.js', 'my dir/a b.test.mjs', 'check#1.cjs.txt']
const EMPTY_FILES = new Set([
  ...EMPTY.flatMap((name) => [name, `/tmp/repo/${name}`]),
  'lexer.ts',
  'tree.ts',
])

/** Runner, passed, failed, skipped, and the names of what failed. */
type Row = [runner: string, passed: number, failed: number, skipped: number, ...failing: string[]]

const BOTH = ['subtracts', 'inner']
const JEST = ['sum › of negatives › subtracts', 'sum › throws']
const MOCHA = ['sum > throws', 'sum > of negatives > subtracts']
const VITEST = ['b.test.ts > sum > of negatives > subtracts', 'b.test.ts > sum > throws']
const PYTEST = ['test_bad.py::TestSum::test_subtracts', 'test_bad.py::test_with_fixture']
const JAVA = ['subtracts(com.example.BadTest)', 'throwsUp(com.example.BadTest)']
const GO = 'example.com/repo/bad TestSubtracts/three'

const COUNTED: Record<string, Row> = {
  'node-tap-pass': ['node:test', 2, 0, 2],
  'node-tap-fail': ['node:test', 2, 3, 2, ...BOTH],
  'node-tap-broken': ['node:test', 0, 1, 0, '/tmp/repo/test/broken.test.js'],
  'node-tap-empty-file': ['node:test', 0, 0, 0],
  'node-tap-zero': ['node:test', 0, 0, 0],
  'node-spec-pass': ['node:test', 2, 0, 2],
  'node-spec-fail': ['node:test', 2, 3, 2, ...BOTH],
  'node-spec-broken': ['node:test', 0, 1, 0, '/tmp/repo/test/broken.test.js'],
  'node-spec-empty-file': ['node:test', 0, 0, 0],
  'node-spec-zero': ['node:test', 0, 0, 0],
  'node24-fail': ['node:test', 1, 3, 1, ...BOTH],
  'node24-tap-fail': ['node:test', 1, 3, 1, ...BOTH],
  'node24-empty-file': ['node:test', 0, 0, 0],
  'node24-tap-empty-file': ['node:test', 0, 0, 0],
  'node20-spec-file-names': ['node:test', 5, 0, 0],
  'node20-tap-file-names': ['node:test', 5, 0, 0],
  'node22-spec-file-names': ['node:test', 5, 0, 0],
  'node22-tap-file-names': ['node:test', 5, 0, 0],
  'node24-spec-file-names': ['node:test', 5, 0, 0],
  'node24-tap-file-names': ['node:test', 5, 0, 0],
  'npm-workspaces': ['node:test', 2, 0, 0],
  'vitest-pass': ['vitest', 1, 0, 2],
  'vitest-fail': ['vitest', 1, 2, 2, ...VITEST],
  'vitest-verbose-fail': ['vitest', 1, 2, 2, ...VITEST],
  'vitest-broken': ['vitest', 0, 1, 0, 'a.test.ts'],
  'vitest-empty': ['vitest', 0, 1, 0, 'a.test.ts'],
  'vitest-zero': ['vitest', 0, 0, 0],
  'vitest-zero-allowed': ['vitest', 0, 0, 0],
  'jest-pass': ['jest', 2, 0, 1],
  'jest-fail': ['jest', 2, 2, 1, ...JEST],
  'jest-fail-verbose': ['jest', 2, 2, 1, ...JEST],
  'jest-broken': ['jest', 0, 1, 0, './a.test.js'],
  'jest-empty': ['jest', 0, 1, 0, './a.test.js'],
  'jest-zero': ['jest', 0, 0, 0],
  'jest-zero-allowed': ['jest', 0, 0, 0],
  'mocha-pass': ['mocha', 2, 0, 1],
  'mocha-fail': ['mocha', 2, 2, 1, ...MOCHA],
  'mocha-dot-fail': ['mocha', 2, 2, 1, ...MOCHA],
  'mocha-empty': ['mocha', 0, 0, 0],
  'mocha-zero': ['mocha', 0, 0, 0],
  'playwright-pass': ['playwright', 2, 0, 1],
  'playwright-fail': [
    'playwright',
    2,
    2,
    2,
    'bad/b.spec.js:3:30 › sum › subtracts',
    'bad/b.spec.js:5:39 › chain › first',
  ],
  'playwright-skip': ['playwright', 0, 0, 1],
  'playwright-zero': ['playwright', 0, 0, 0],
  'ctest-pass': ['ctest', 2, 0, 0],
  'ctest-fail': ['ctest', 1, 3, 2, 'subtracts', 'slow', 'missing'],
  'ctest-zero': ['ctest', 0, 0, 0],
  'ava-pass': ['ava', 2, 0, 2],
  'ava-fail': ['ava', 1, 2, 2, 'subtracts', 'throws Error thrown in test'],
  'ava-empty': ['ava', 0, 0, 0],
  'ava-zero': ['ava', 0, 0, 0],
  'ava-tap-pass': ['tap', 2, 0, 2],
  'ava-tap-fail': ['tap', 2, 2, 2, 'subtracts', 'throws'],
  'tap-pass': ['node-tap', 1, 0, 1],
  'tap-fail': ['node-tap', 1, 1, 1, 'three is minus one'],
  'tap-terse-fail': ['node-tap', 1, 1, 1, 'subtracts > three is minus one'],
  'tap-zero': ['node-tap', 0, 0, 0],
  'tape-pass': ['tap', 1, 0, 0],
  'tape-fail': ['tap', 1, 1, 0, 'one is two'],
  'tape-zero': ['tap', 0, 0, 0],
  'perl-tap-fail': ['tap', 1, 1, 1, 'subtracts'],
  'prove-pass': ['prove', 2, 0, 0],
  'prove-fail': ['prove', 4, 1, 0, 't/b.t 2'],
  'prove-verbose-fail': ['prove', 4, 1, 0, 't/b.t 2'],
  'prove-zero': ['prove', 0, 0, 0],
  'pytest-pass': ['pytest', 2, 0, 1],
  'pytest-quiet-pass': ['pytest', 2, 0, 1],
  'pytest-fail': ['pytest', 2, 2, 1, ...PYTEST],
  'pytest-quiet-fail': ['pytest', 2, 2, 1, ...PYTEST],
  'pytest-broken': ['pytest', 0, 1, 0, 'test_broken.py'],
  'pytest-zero': ['pytest', 0, 0, 0],
  'unittest-pass': ['unittest', 2, 0, 1],
  'unittest-fail': [
    'unittest',
    2,
    3,
    1,
    'test_throws (test_bad.BadTest.test_throws)',
    'test_subtracts (test_bad.BadTest.test_subtracts)',
    'test_surprise (test_bad.BadTest.test_surprise)',
  ],
  'unittest-broken': ['unittest', 0, 1, 0, 'test_broken (unittest.loader._FailedTest.test_broken)'],
  'unittest-zero': ['unittest', 0, 0, 0],
  'go-verbose-pass': ['go', 1, 0, 1],
  'go-verbose-fail': ['go', 1, 1, 1, GO],
  'go-json-pass': ['go', 1, 0, 1],
  'go-json-fail': ['go', 1, 1, 1, GO],
  'go-json-broken': ['go', 1, 1, 1, 'example.com/repo/bad'],
  'go-none': ['go', 0, 0, 0],
  'go-zero': ['go', 0, 0, 0],
  'cargo-pass': ['cargo', 1, 0, 1],
  'cargo-fail': ['cargo', 1, 1, 1, 'subtracts'],
  'cargo-fail-all': ['cargo', 1, 1, 1, 'subtracts'],
  'cargo-zero': ['cargo', 0, 0, 0],
  'rspec-pass': ['rspec', 1, 0, 1],
  'rspec-fail': ['rspec', 1, 1, 1, 'sum subtracts'],
  'rspec-broken': ['rspec', 0, 1, 0, './spec/bad_spec.rb'],
  'rspec-zero': ['rspec', 0, 0, 0],
  'minitest-pass': ['minitest', 1, 0, 1],
  'minitest-fail': ['minitest', 1, 2, 0, 'TestBad#test_throws', 'TestBad#test_subtracts'],
  'minitest-zero': ['minitest', 0, 0, 0],
  'test-unit-fail': ['minitest', 1, 2, 1, 'TestBad#test_subtracts', 'TestBad#test_throws'],
  'maven-pass': ['surefire', 1, 0, 1],
  'maven-fail': ['surefire', 1, 2, 1, ...JAVA],
  'maven-zero': ['surefire', 0, 0, 0],
  'gradle-fail': [
    'gradle',
    1,
    2,
    1,
    'com.example.BadTest > subtracts',
    'com.example.BadTest > throwsUp',
  ],
  'gradle-zero': ['gradle', 0, 0, 0],
  'junit4-pass': ['junit', 1, 0, 0],
  'junit4-fail': ['junit', 1, 2, 0, ...JAVA],
  'junit-console-pass': ['junit', 1, 0, 1],
  'junit-console-fail': [
    'junit',
    1,
    2,
    1,
    'JUnit Vintage:BadTest:subtracts',
    'JUnit Vintage:BadTest:throwsUp',
  ],
  'phpunit-pass': ['phpunit', 1, 0, 0],
  'phpunit-fail': ['phpunit', 1, 2, 1, 'BadTest::testThrows', 'BadTest::testSubtracts'],
  'phpunit-skip': ['phpunit', 1, 0, 1],
  'phpunit-zero': ['phpunit', 0, 0, 0],
  'deno-pass': ['deno', 1, 0, 1],
  'deno-fail': ['deno', 1, 2, 1, 'subtracts', 'steps ... inner'],
  'deno-empty': ['deno', 0, 0, 0],
  'deno-zero': ['deno', 0, 0, 0],
  'bun-pass': ['bun', 2, 0, 1],
  'bun-fail': ['bun', 2, 2, 1, 'sum > of negatives > subtracts', 'sum > throws'],
  'bun-broken': ['bun', 0, 1, 0],
  'bun-empty': ['bun', 0, 0, 0],
  'bun-zero': ['bun', 0, 0, 0],
  'exunit-pass': ['exunit', 1, 0, 1],
  'exunit-fail': ['exunit', 1, 2, 1, 'test sum subtracts (BadTest)', 'test throws (BadTest)'],
  'exunit-zero': ['exunit', 0, 0, 0],
  'npm-no-script': ['none', 0, 0, 0],
  'npm-placeholder': ['none', 0, 0, 0],
  'make-nothing': ['none', 0, 0, 0],
  'make-up-to-date': ['none', 0, 0, 0],
}

// These say that tests ran or failed, and not how many.
const REPORTED: Record<string, readonly [runner: string, ...failing: string[]]> = {
  'go-pass': ['go'],
  'go-fail': ['go', GO],
  'go-panic': ['go', 'example.com/repo/bad TestPanics'],
  'go-broken': ['go', 'example.com/repo/bad'],
  'gradle-pass': ['gradle'],
  'gradle-again': ['gradle'],
}

const UNKNOWN = [
  'cargo-broken',
  'deno-broken',
  'exunit-broken',
  'mocha-broken',
  'make-fail',
  'make-no-rule',
  'npm-missing',
  'npm-true',
  'pytest-missing',
]

const captured = (name: string) => plainText(readFileSync(join(CAPTURED, `${name}.txt`)))

describe('what runners printed', () => {
  test.each(Object.entries(COUNTED))('%s is counted', (name, row) => {
    const [runner, passed, failed, skipped, ...failing] = row
    const report = read(captured(name))
    expect(report.runners).toEqual([runner])
    expect(report.counts).toEqual({ executed: passed + failed, passed, failed, skipped })
    expect(report.failing).toEqual(failing)
    expect(report.failed).toBe(failed)
  })

  test.each(Object.entries(REPORTED))('%s is recognised, without numbers', (name, row) => {
    const [runner, ...failing] = row
    const failed = failing.length
    expect(read(captured(name))).toEqual({ runners: [runner], counts: null, failed, failing })
  })

  test.each(UNKNOWN)('%s says nothing about tests, which is not the same as none', (name) => {
    expect(read(captured(name))).toEqual({ runners: [], counts: null, failed: 0, failing: [] })
  })

  test.each(['node20-spec', 'node20-tap', 'node24-spec', 'node24-tap'])(
    '%s: names are looked up where a file could have them, and none of a suite that has tests',
    (runner) => {
      const names = namesToLookUp(captured(`${runner}-file-names`))
      expect(names.map((name) => name.replace('/tmp/repo/', ''))).toEqual([
        ...['check#1.cjs.txt', 'my dir/a b.test.mjs', 'my dir/a.test.js', 'Node.js', 'parser.ts'],
        // That nothing is in it shows in TAP alone.
        ...(runner.endsWith('spec') ? ['empty.ts'] : []),
      ])
    },
  )

  const names = readdirSync(CAPTURED).filter((file) => file.includes('file-names'))
  test.each(names)('%s: a file that does something is a test', (file) => {
    const text = captured(file.replace(/\.txt$/, ''))
    const output = { text, complete: true, argv: [], exitCode: 0 }
    expect(readTestReport(output).counts).toMatchObject({ executed: 8, passed: 8 })
    const emptyFiles = new Set(['check#1.cjs.txt', '/tmp/repo/check#1.cjs.txt'])
    expect(readTestReport({ ...output, emptyFiles }).counts?.executed).toBe(7)
  })

  test('is all looked at', () => {
    const names = [...Object.keys(COUNTED), ...Object.keys(REPORTED), ...UNKNOWN]
    const files = readdirSync(CAPTURED).map((file) => file.replace(/\.txt$/, ''))
    expect(names.toSorted()).toEqual(files.toSorted())
  })

  test.each(Object.keys(COUNTED))(
    '%s reads the same in colour and with other line ends',
    (name) => {
      const text = captured(name)
      const coloured = text.replaceAll(/^(.+)$/gm, '\x1b[32m$1\x1b[0m').replaceAll('\n', '\r\n')
      expect(read(plainText(Buffer.from(coloured)))).toEqual(read(text))
    },
  )
})
