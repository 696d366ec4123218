import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openToolGround, type ToolGround } from '../../../test/tools/tool-ground.ts'
import { runTests } from '../testing/run-tests.ts'
import { TEST_TOOLS } from './story-tools.ts'
import type { ToolContext } from './tool.ts'
import { answerCalls } from './tool-calls.ts'

let workspace: string
let ground: ToolGround
let context: ToolContext

beforeEach(async () => {
  ground = await openToolGround('write')
  ;({ workspace, context } = ground)
})

afterEach(() => ground.close())

/** What `run_tests` answers where these are the test commands, by what they print and exit with. */
async function answerOf(...commands: readonly (readonly [string, number])[]) {
  const run = commands.map(([output, exitCode], at) => {
    writeFileSync(join(workspace, `${at}.txt`), output)
    writeFileSync(join(workspace, `${at}.sh`), `cat ${at}.txt\nexit ${exitCode}\n`)
    return { argv: ['sh', `${at}.sh`] as const, reason: 'configured' }
  })
  const printed: string[] = []
  const saveOutput = async (output: string) => {
    printed.push(output)
    return null
  }
  const bounds = { timeoutMs: 60_000, outputBytesMax: 1_000_000 }
  const result = await runTests({ ...context, ...bounds, commands: run, saveOutput })
  const given = { ...context, runTests: async () => ({ result, printed }) }
  const [answer] = await answerCalls(TEST_TOOLS, [{ id: '1', name: 'run_tests', input: {} }], given)
  return answer?.text ?? ''
}

const lines = (count: number, of: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => of(i))

const LINT = lines(1_500, (i) => `checked file ${i}`).join('\n')

function tap(count: number, failing: readonly string[]): string {
  const failed = failing.map((name, i) => `not ok ${i + 1} - ${name}`)
  const passed = lines(count, (i) => `ok ${failed.length + i + 1} - case ${i}`)
  const all = count + failed.length
  const counts = [`# tests ${all}`, `# pass ${count}`, `# fail ${failed.length}`]
  return ['TAP version 13', ...failed, ...passed, `1..${all}`, ...counts].join('\n')
}

describe('run_tests', () => {
  test('says of every command what it came to, and what fails, before what they printed', async () => {
    const text = await answerOf([LINT, 0], [tap(700, ['rejects an expired token']), 1])
    const head = text.slice(0, text.indexOf('Output of '))
    expect(head).toContain('$ sh 0.sh\npassed, exit code 0')
    expect(head).toContain('$ sh 1.sh\nfailed, exit code 1')
    expect(head).toContain('\n- rejects an expired token')
    expect(head.length).toBeLessThan(1_000)
  })

  test('shows how each output begins and ends, most of what fails, and keeps all', async () => {
    const red = tap(1_500, ['rejects an expired token'])
    const text = await answerOf([LINT, 0], [red, 1], [LINT, 0])
    expect(text.length).toBeLessThan(17_000)
    const shown = (command: string) =>
      text.split('Output of ').find((output) => output.startsWith(`$ sh ${command}.sh\n`)) ?? ''
    expect(shown('0')).toMatch(/checked file 0\n.*left out.*checked file 1499\s*$/s)
    expect(shown('1')).toMatch(/TAP version 13\nnot ok.*left out.*# fail 1\s*$/s)
    expect(shown('1').length).toBeGreaterThan(2 * (shown('0').length + shown('2').length))
    expect(text.endsWith('# fail 1')).toBe(true)
    const named = [...text.matchAll(/path "(output:\w+)" has everything/g)]
    const [name = '', ...others] = new Set(named.map(([, each]) => each))
    expect(others).toEqual([])
    const kept = await context.outputs.read(name)
    for (const output of [LINT, red]) expect(kept).toContain(output)
  })

  test('gives one output the room that others leave', async () => {
    const text = await answerOf(['all good', 0], [tap(400, ['a']), 1])
    expect(text).not.toContain('left out')
    const passing = await answerOf([LINT, 0], [tap(2, []), 0])
    expect(passing.length).toBeGreaterThan(15_000)
    expect(passing).toContain('ok 2 - case 1')
  })

  test('stays short however many commands and names there are', async () => {
    const names = lines(60, (i) => `case ${i} ${'n'.repeat(150)}`)
    const red = [tap(200, names), 1] as const
    const text = await answerOf(...Array.from({ length: 12 }, () => red))
    expect(text.length).toBeLessThan(18_500)
    for (const at of lines(12, String)) expect(text).toContain(`$ sh ${at}.sh\nfailed, exit code 1`)
  })
})
