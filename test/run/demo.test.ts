import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { plainGit } from '../git/world.ts'
import { begin, makeVisitor, slipwayAt } from './slipway.ts'

let home: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'slipway-home-'))
})

afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }))

/** What the demo promises to show on its way. */
const SHOWN = [
  /PLAN_REVIEW → PLANNING {2}review_changes_requested/,
  /TESTING → FIXING {2}tests_failed \(.*failed/,
  /CODING → QUESTION {2}question_asked \(.*\?/,
  /QUESTION → CODING {2}question_answered/,
  /CODING → BUDGET_REVIEW {2}budget_exhausted \(turns\)/,
  /AWAIT_MERGE → FIXING {2}merge_conflicted/,
  /CODING → SUSPEND {2}service_unavailable/,
  /SUSPEND → CODING {2}service_restored/,
  /CODING → ERROR {2}failed_unrecoverably/,
  /ASSIGNED → READY {2}story_requeued/,
  /REQUEST → ESCALATED {2}escalated \(To how many decimal places/,
  /ESCALATED → REQUEST {2}human_answered/,
]

test('the demo shows everything, and its merged repository passes its tests', async () => {
  const { code, stdout, stderr } = await slipwayAt(makeVisitor(home), 'demo', '--json')
  const data = JSON.parse(stdout)
  expect(code).toBe(0)
  for (const line of SHOWN) expect(stderr).toMatch(line)
  expect(data).toMatchObject({ status: 'done', isComplete: true })
  expect(data.evidence.criteria).toHaveLength(7)
  expect(data.commits).toHaveLength(8)
  expect(data.spent.microdollars).toBeGreaterThan(0)
  const clone = join(dirname(data.repository), 'clone')
  plainGit(data.repository, 'clone', '-q', '-b', 'main', '.slipway/git/mirror.git', clone)
  execFileSync(process.execPath, ['--test'], { cwd: clone, stdio: 'ignore' })
}, 120_000)

/** Begins a demo and ends it while a coder is at work; gives its folder, and what it said. */
async function leaveDemo(how: 'SIGINT' | 'SIGKILL') {
  const visitor = makeVisitor(home)
  const { child, ended, said } = begin(visitor, 'demo')
  await vi.waitFor(() => expect(said()).toContain('→ CODING'), { timeout: 30_000 })
  child.kill(how)
  await ended
  const repository = /repository, (.*)$/m.exec(said())?.[1] ?? ''
  return { desk: { ...visitor, repository }, said: said() }
}

test('a demo that was left goes on by its own script, and without a model', async () => {
  const { desk, said } = await leaveDemo('SIGINT')
  expect(said).toMatch(/cd \S+tally && .* resume --foreground$/m)
  const asks = await slipwayAt(desk, 'resume', '--foreground')
  expect([asks.code, asks.stderr]).toEqual([3, expect.stringContaining('slipway answer')])
  try {
    expect(await slipwayAt(desk, 'answer', 'one decimal place')).toMatchObject({ code: 0 })
    const refused = await slipwayAt(desk, 'task', 'Something else')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('demo')])
    expect(await slipwayAt(desk, 'watch')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('shown'),
    })
  } finally {
    endEngine(desk.repository)
  }
}, 120_000)

test('so does one that was killed', async () => {
  const { desk } = await leaveDemo('SIGKILL')
  expect((await slipwayAt(desk, 'status')).stderr).toContain('slipway resume demo goes on with it')
  try {
    expect(await slipwayAt(desk, 'resume', 'demo')).toMatchObject({ code: 0 })
    await vi.waitFor(
      async () => expect((await slipwayAt(desk, 'logs')).stdout).toContain('→ MERGED'),
      { timeout: 30_000 },
    )
  } finally {
    endEngine(desk.repository)
  }
}, 120_000)

function endEngine(repository: string): void {
  const address = readFileSync(join(repository, '.slipway', 'engine.json'), 'utf8')
  process.kill(JSON.parse(address).pid, 'SIGKILL')
}

test('the demo calls no tool that needs a program beside node and git', () => {
  const script = readFileSync('src/cli/demo/scenario.yaml', 'utf8')
  const called = new Set([...script.matchAll(/call: (\w+)/g)].map(([, tool]) => tool))
  for (const tool of ['search_text', 'find_files', 'shell']) expect(called).not.toContain(tool)
})
