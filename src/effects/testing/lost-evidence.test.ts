import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writeFiles } from '../../../test/git/world.ts'
import { holdAgainst, provenByReading, provenIn } from './lost-evidence.ts'
import type { CommandResult, Evidence, TestResult } from './test-result.ts'

const ran = (evidence: Evidence, ...argv: [string, ...string[]]): CommandResult => ({
  argv,
  cwd: null,
  reason: 'a test says so',
  verdict: 'passed',
  code: null,
  how: 'exited',
  exitCode: 0,
  evidence,
  counts: null,
  runners: [],
  failing: [],
  tail: '',
  droppedBytes: 0,
  durationMs: 1,
  output: null,
})

const run = (...commands: CommandResult[]): TestResult => ({
  verdict: 'passed',
  code: null,
  message: 'all tests passed',
  evidence: 'exit_code',
  counts: null,
  fingerprint: null,
  commands,
  durationMs: 1,
})

const NPM: [string, string] = ['npm', 'test']
const CHECK: [string] = ['./check.sh']

describe('a run, held against the one before', () => {
  test.each<[string, TestResult, TestResult, string | null]>([
    ['the same report', run(ran('counted', ...NPM)), run(ran('counted', ...NPM)), null],
    ['fewer words', run(ran('counted', ...NPM)), run(ran('reported', ...NPM)), null],
    ['an exit code', run(ran('counted', ...NPM)), run(ran('exit_code', ...NPM)), 'npm test'],
    ['an exit code', run(ran('reported', ...NPM)), run(ran('exit_code', ...NPM)), 'npm test'],
    ['an exit code as before', run(ran('exit_code', ...NPM)), run(ran('exit_code', ...NPM)), null],
    ['an exit code where nothing was', run(), run(ran('exit_code', ...NPM)), null],
    [
      'an exit code beside another report',
      run(ran('counted', ...NPM), ran('counted', ...CHECK)),
      run(ran('exit_code', ...NPM), ran('counted', ...CHECK)),
      'npm test',
    ],
    [
      'another command that reports',
      run(ran('counted', ...NPM)),
      run(ran('counted', 'pytest'), ran('exit_code', ...CHECK)),
      null,
    ],
    [
      'another command that does not',
      run(ran('counted', ...NPM)),
      run(ran('exit_code', ...CHECK)),
      './check.sh',
    ],
    [
      'one command less',
      run(ran('counted', ...NPM), ran('exit_code', ...CHECK)),
      run(ran('exit_code', ...CHECK)),
      './check.sh',
    ],
  ])('with %s', (_, before, after, culprit) => {
    const held = holdAgainst(provenIn(before), after)
    if (culprit === null) expect(held).toBe(after)
    else {
      expect(held).toMatchObject({ verdict: 'no_tests', code: 'evidence_lost' })
      expect(held.message).toMatch(
        new RegExp(`^${culprit}: the target has tests that are reported`),
      )
      expect(held.fingerprint).toMatch(/^[0-9a-f]{32}$/)
      const blamed = held.commands.filter(({ code }) => code === 'evidence_lost')
      expect(blamed.map(({ argv }) => argv.join(' '))).toEqual([culprit])
    }
  })

  test('in another folder is another command', () => {
    const before = provenIn(run({ ...ran('counted', ...NPM), cwd: 'a' }))
    const both = run(ran('exit_code', ...NPM), { ...ran('counted', ...NPM), cwd: 'a' })
    expect(holdAgainst(before, both)).toBe(both)
  })

  test('that failed stays as it is', () => {
    const failed: TestResult = { ...run(ran('exit_code', ...NPM)), verdict: 'failed' }
    expect(holdAgainst(provenIn(run(ran('counted', ...NPM))), failed)).toBe(failed)
  })
})

describe('what would report, by reading alone', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'slipway-proven-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test.each([
    ['node --test', { 'a.test.js': 'work()\n' }, [{ argv: NPM, cwd: null }]],
    ['node --test', { 'a.test.js': '// later\n' }, []],
    ['node --test', {}, []],
    ['npm run build', { 'a.test.js': 'work()\n' }, []],
  ])('a script %s beside %o', async (script, files, proven) => {
    const manifest = JSON.stringify({ scripts: { test: script } })
    writeFiles(folder, { 'package.json': manifest, ...files })
    expect(await provenByReading(folder, undefined)).toEqual(proven)
    expect(await provenByReading(folder, [{ argv: NPM }, { argv: CHECK }])).toEqual(proven)
  })

  test('tests of another folder are none of a command', async () => {
    const manifest = JSON.stringify({ scripts: { test: 'jest' } })
    writeFiles(folder, { 'a/package.json': manifest, 'b/package.json': manifest })
    writeFiles(folder, { 'b/sum.test.js': 'work()\n' })
    const commands = ['a', 'b'].map((cwd) => ({ argv: NPM, cwd }))
    expect(await provenByReading(folder, commands)).toEqual([{ argv: NPM, cwd: 'b' }])
  })
})
