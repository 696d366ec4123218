import { afterEach, expect, test } from 'vitest'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import type { TestCommand } from '../../src/effects/testing/test-result.ts'
import { openThinking } from '../../src/effects/thinking/thinking-effects.ts'
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

/** What a coder's own `run_tests` comes to, in a repository with these files. */
async function testAtDesk(files: Record<string, string>, rules: Rules) {
  world = await openGitWorld(files)
  const { processes, state: stateFolder, workspaces, base } = world
  const isolation = await openUnconfined(processes, { stateFolder })
  const thinking = openThinking({
    ...world,
    ...rules,
    stateFolder,
    isolation,
    brains: {},
    secrets: [],
  })
  close = thinking.close
  const owner = { run: 'r1', story: 's1' }
  await workspaces.prepare(owner, base)
  const desk = await thinking.desks.at(owner, 'write')
  return desk?.runTests?.(new AbortController().signal)
}

const RULES: Rules = { testTimeoutMs: 60_000 }

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
