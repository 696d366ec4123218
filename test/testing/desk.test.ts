import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { EffectId } from '../../src/agents/values.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import type { TestCommand } from '../../src/effects/testing/test-result.ts'
import { openThinking } from '../../src/effects/thinking/thinking-effects.ts'
import { READ_TOOLS } from '../../src/effects/tools/read-tools.ts'
import { TEST_TOOLS } from '../../src/effects/tools/story-tools.ts'
import type { ToolContext } from '../../src/effects/tools/tool.ts'
import { answerCalls } from '../../src/effects/tools/tool-calls.ts'
import { type GitWorld, openGitWorld } from '../git/world.ts'

let world: GitWorld
let close = async () => {}

afterEach(async () => {
  await close()
  await world.close()
})

interface Rules {
  readonly testCommands?: readonly TestCommand[]
  readonly testTimeoutMs: number
  readonly requireReport?: boolean
}

const RULES: Rules = { testTimeoutMs: 60_000 }
const OWNER = { run: 'r1', story: 's1' }
const EFFECT = 'coder-1:1.0' as EffectId
const SECRET = 'correct-horse-battery-staple'

/** Where a coder works, in a repository with these files. */
async function openDesk(files: Record<string, string>, rules: Rules): Promise<ToolContext> {
  world = await openGitWorld(files)
  const { processes, state: stateFolder, workspaces, base } = world
  const isolation = await openUnconfined(processes, { stateFolder })
  const thinking = openThinking({
    ...world,
    ...rules,
    stateFolder,
    isolation,
    brains: {},
    secrets: [SECRET],
  })
  close = thinking.close
  await workspaces.prepare(OWNER, base)
  const desk = await thinking.desks.at(OWNER, 'write', EFFECT)
  if (desk === undefined) throw new Error('there is no workspace')
  return { ...desk, signal: new AbortController().signal }
}

/** What a coder's own `run_tests` comes to. */
async function testAtDesk(files: Record<string, string>, rules: Rules) {
  const { runTests, signal } = await openDesk(files, rules)
  return (await runTests?.(signal))?.result
}

async function call(desk: ToolContext, name: string, input: object = {}): Promise<string> {
  const tools = [...READ_TOOLS, ...TEST_TOOLS]
  const [answer] = await answerCalls(tools, [{ id: '1', name, input }], desk)
  return answer?.text ?? ''
}

test('a coder is told what the gate would say: a runner that reports nothing has not passed', async () => {
  const manifest = JSON.stringify({ scripts: { test: 'node --test > /dev/null' } })
  expect(await testAtDesk({ 'package.json': manifest }, RULES)).toMatchObject({
    verdict: 'no_tests',
    code: 'nothing_reported',
  })
})

test('a coder has as much time for tests as the gate', async () => {
  const slow = { Makefile: 'test:\n\tsleep 300\n' }
  expect(await testAtDesk(slow, { testTimeoutMs: 500 })).toMatchObject({ verdict: 'timed_out' })
})

test('a coder needs a report where the gate needs one', async () => {
  const testCommands: TestCommand[] = [{ argv: ['sh', 'a'], reason: 'it is configured' }]
  const rules = { ...RULES, testCommands, requireReport: true }
  expect(await testAtDesk({ a: 'true' }, rules)).toMatchObject({ code: 'nothing_reported' })
})

test('a coder whose story empties the script that is configured is told so', async () => {
  const testCommands: TestCommand[] = [{ argv: ['npm', 'test'], reason: 'it is configured' }]
  const manifest = JSON.stringify({ scripts: { test: 'true' } })
  const result = await testAtDesk({ 'package.json': manifest }, { ...RULES, testCommands })
  expect(result).toMatchObject({ verdict: 'no_tests', code: 'none_executed' })
})

const sh = (...scripts: string[]): TestCommand[] =>
  scripts.map((script) => ({ argv: ['sh', script], reason: 'it is configured' }))

test('a coder sees how the output of tests begins and ends, and can read all of it', async () => {
  const a = `echo first failure; echo ${SECRET}; seq 1 20000; echo last; exit 1`
  const desk = await openDesk({ a, b: 'echo other' }, { ...RULES, testCommands: sh('a', 'b') })
  const text = await call(desk, 'run_tests')
  expect(text).toMatch(/\$ sh a\nfailed, exit code 1\n\n\$ sh b\npassed, exit code 0\n/)
  expect(text).toMatch(
    /Output of \$ sh b\nother\n+Output of \$ sh a\nfirst failure\n\[redacted\]\n1\n/,
  )
  expect(text).toMatch(/20000\nlast\n*$/)
  expect(text.length).toBeLessThan(17_000)
  const [, name] = /read_file with path "(output:\w+)" has everything\]/.exec(text) ?? []
  const all = (await desk.outputs.read(name ?? '')) ?? ''
  expect(all).toContain(Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join(''))
  expect(all).not.toContain(SECRET)
})

test('a coder is told how much of the output of tests is kept nowhere', async () => {
  const print = "echo begin; head -c 1500000 /dev/zero | tr '\\0' x; echo; echo end"
  const desk = await openDesk({ a: print, b: print }, { ...RULES, testCommands: sh('a', 'b') })
  const text = await call(desk, 'run_tests')
  const dropped = 500_011
  expect(text).toContain(`has all but ${2 * dropped} bytes that are kept nowhere`)
  const [, name] = /path "(output:\w+)"/.exec(text) ?? []
  const all = (await desk.outputs.read(name ?? '')) ?? ''
  expect(all.split(`\n[${dropped} bytes left out]\n`)).toHaveLength(3)
})

test('what a kill left of a run of tests is undone when it is run again', async () => {
  const files = {
    'counter.txt': 'none\n',
    'test.sh': 'echo ran >> counter.txt; echo x > litter.txt',
  }
  const desk = await openDesk(files, { ...RULES, testCommands: sh('test.sh') })
  const at = (path: string) => join(desk.workspace, path)
  writeFileSync(at('mine.txt'), 'by the coder\n')
  // As a kill leaves it: stored and noted, and the tests have begun to write.
  await world.workspaces.checkpoint(OWNER)
  await world.workspaces.noteRun(OWNER, EFFECT)
  writeFileSync(at('litter.txt'), 'half\n')
  writeFileSync(at('counter.txt'), 'ran\n')
  await call(desk, 'run_tests')
  expect(readFileSync(at('counter.txt'), 'utf8')).toBe('none\n')
  expect(existsSync(at('litter.txt'))).toBe(false)
  expect(readFileSync(at('mine.txt'), 'utf8')).toBe('by the coder\n')
  expect(await world.workspaces.findRun(OWNER)).toBeUndefined()
})

test('what the tests of a coder write is undone, and what it wrote itself is not', async () => {
  const counting =
    'echo ran >> counter.txt; mkdir -p coverage; echo x > coverage/out.txt; cat deps/a'
  const files = { 'counter.txt': 'none\n', 'test.sh': counting, '.gitignore': 'deps/\n' }
  const desk = await openDesk(files, { ...RULES, testCommands: sh('test.sh') })
  const at = (path: string) => join(desk.workspace, path)
  mkdirSync(at('deps'))
  writeFileSync(at('deps/a'), 'installed\n')
  writeFileSync(at('mine.txt'), 'by a command\n')
  expect(await call(desk, 'run_tests')).toContain('installed')
  expect(readFileSync(at('counter.txt'), 'utf8')).toBe('none\n')
  expect(existsSync(at('coverage'))).toBe(false)
  expect(readFileSync(at('mine.txt'), 'utf8')).toBe('by a command\n')
  expect(readFileSync(at('deps/a'), 'utf8')).toBe('installed\n')
})
