import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { plainGit } from '../git/world.ts'
import { runDemo } from './slipway.ts'

/** What the demo promises to show on its way. */
const SHOWN = [
  /PLAN_REVIEW → PLANNING {2}review_changes_requested/,
  /TESTING → FIXING {2}tests_failed/,
  /CODING → QUESTION {2}question_asked/,
  /QUESTION → CODING {2}question_answered/,
  /CODING → BUDGET_REVIEW {2}budget_exhausted/,
  /AWAIT_MERGE → FIXING {2}merge_conflicted/,
  /CODING → SUSPEND {2}service_unavailable/,
  /SUSPEND → CODING {2}service_restored/,
  /CODING → ERROR {2}failed_unrecoverably/,
  /ASSIGNED → READY {2}story_requeued/,
  /REQUEST → ESCALATED {2}escalated/,
  /ESCALATED → REQUEST {2}human_answered/,
]

test('the demo shows everything, and its merged repository passes its tests', async () => {
  const home = mkdtempSync(join(tmpdir(), 'slipway-home-'))
  const { code, stdout, stderr } = await runDemo(home)
  const data = JSON.parse(stdout)
  try {
    expect(code).toBe(0)
    for (const line of SHOWN) expect(stderr).toMatch(line)
    expect(data).toMatchObject({ status: 'done', isComplete: true })
    expect(data.evidence.criteria).toHaveLength(7)
    expect(data.commits).toHaveLength(8)
    expect(data.spent.microdollars).toBeGreaterThan(0)
    const clone = join(dirname(data.repository), 'clone')
    plainGit(data.repository, 'clone', '-q', '-b', 'main', '.slipway/git/mirror.git', clone)
    execFileSync(process.execPath, ['--test'], { cwd: clone, stdio: 'ignore' })
  } finally {
    rmSync(dirname(data.repository), { recursive: true, force: true })
    rmSync(home, { recursive: true, force: true })
  }
}, 120_000)

test('the demo calls no tool that needs a program beside node and git', () => {
  const script = readFileSync('src/cli/demo/scenario.yaml', 'utf8')
  const called = new Set([...script.matchAll(/call: (\w+)/g)].map(([, tool]) => tool))
  for (const tool of ['search_text', 'find_files', 'shell']) expect(called).not.toContain(tool)
})
