import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openToolGround, type ToolGround } from '../../../test/tools/tool-ground.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { runTests } from '../testing/run-tests.ts'
import { SHOWN_CHARS_MAX } from './output-files.ts'
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

/** What a command prints and exits with. */
type Said = readonly [string, number]

/** What `run_tests` answers where these are the test commands. */
async function answerOf(...commands: readonly Said[]) {
  for (const [at, [output, exitCode]] of commands.entries()) {
    writeFileSync(join(workspace, `${at}.txt`), output)
    writeFileSync(join(workspace, `${at}.sh`), `cat ${at}.txt\nexit ${exitCode}\n`)
  }
  return answerIn(context.sandbox, commands.length)
}

/** The same for hundreds, which would take long to run. */
function answerOfMany(commands: readonly Said[]) {
  const run: Sandbox['run'] = async ({ argv }) => {
    const [said = '', exitCode = 0] = commands[Number.parseInt(argv[1] ?? '', 10)] ?? []
    const [output, stderr] = [Buffer.from(said), Buffer.alloc(0)]
    const ended = { how: 'exited', exitCode, stdout: output, stderr, output } as const
    return { ...ended, droppedBytes: 0, durationMs: 1 }
  }
  return answerIn({ level: 'none', run, close: async () => {} }, commands.length)
}

async function answerIn(sandbox: Sandbox, count: number) {
  const run = lines(count, (at) => ({ argv: ['sh', `${at}.sh`] as const, reason: 'configured' }))
  const printed: string[] = []
  const saveOutput = async (output: string) => {
    printed.push(output)
    return null
  }
  const bounds = { timeoutMs: 60_000, outputBytesMax: 1_000_000 }
  const given = { ...context, ...bounds, sandbox }
  const result = await runTests({ ...given, commands: run, saveOutput })
  const tools = { ...context, runTests: async () => ({ result, printed }) }
  const [answer] = await answerCalls(TEST_TOOLS, [{ id: '1', name: 'run_tests', input: {} }], tools)
  return answer?.text ?? ''
}

const lines = <Line>(count: number, of: (i: number) => Line) =>
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
    expect(text.length).toBeLessThanOrEqual(SHOWN_CHARS_MAX)
    for (const at of lines(12, String)) expect(text).toContain(`$ sh ${at}.sh\nfailed, exit code 1`)
  })

  const red = (at: number) => [tap(200, [`case ${at}`]), 1] as const
  const numbersIn = (text: string, line: RegExp) =>
    [...text.matchAll(line)].map(([, number]) => Number(number))

  test.each([40, 400])('shows first of all what failed last of %i commands', async (count) => {
    const text = await answerOfMany(lines(count, red))
    expect(text.length).toBeLessThanOrEqual(SHOWN_CHARS_MAX)
    const last = count - 1
    expect(text).toContain(`$ sh ${last}.sh\nfailed, exit code 1`)
    expect(text).toContain(`Failing in $ sh ${last}.sh\n- case ${last}`)
    const shown = numbersIn(text, /^Output of \$ sh (\d+)\.sh$/gm)
    expect(shown.length).toBeGreaterThan(10)
    expect(shown).toEqual(lines(count, Number).slice(-shown.length))
    expect(text).toContain(`[${count - shown.length} outputs left out; read_file`)
    expect(text.endsWith('# fail 1')).toBe(true)
    const [, name = ''] = /path "(output:\w+)" has everything/.exec(text) ?? []
    expect(await context.outputs.read(name)).toContain(`Output of $ sh 0.sh\n${red(0)[0]}`)
  })

  test('shows the one that failed among hundreds that passed', async () => {
    const green = [tap(200, []), 0] as const
    const text = await answerOfMany(lines(300, (at) => (at === 150 ? red(at) : green)))
    expect(text.length).toBeLessThanOrEqual(SHOWN_CHARS_MAX)
    expect(text).toContain('299 commands passed, exit code 0')
    expect(text).toContain('$ sh 150.sh\nfailed, exit code 1')
    expect(text).toContain('Failing in $ sh 150.sh\n- case 150')
    expect(text.endsWith(`Output of $ sh 150.sh\n${red(150)[0]}`)).toBe(true)
  })

  test('leaves out nothing of many commands that say little', async () => {
    const text = await answerOfMany(lines(120, (at) => [`fine ${at}`, 0]))
    expect(text).not.toContain('left out')
    expect(numbersIn(text, /^fine (\d+)$/gm)).toEqual(lines(120, Number))
  })
})
