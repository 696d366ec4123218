/**
 * A real process in which one agent thinks, to be killed at any moment. Each turn of coding appends
 * its number to a file by the shell tool. `node worker.mjs <scratch> <base> <turns>`
 */
import { appendFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Brain } from '../../src/effects/brains/brain.ts'
import { openGit } from '../../src/effects/git/git.ts'
import { openRepositories } from '../../src/effects/git/repositories.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openWorkspaces } from '../../src/effects/workspace/workspaces.ts'
import { openThinkingOn, scripted } from './world.ts'

const [scratch = '', base = '', turns = '0'] = process.argv.slice(2)
const state = join(scratch, 'state')
const processes = openProcesses(state)
await processes.endOrphans()
const git = openGit(processes)
const repositories = await openRepositories(git, state)
const workspaces = openWorkspaces(git, repositories, state)
const place = { scratch, user: join(scratch, 'user'), state, processes, git, repositories }

const script = scripted(
  {
    when: { state: 'PLANNING' },
    do: [{ call: 'submit_plan', input: { plan: 'Count.', confidence: 'high' } }],
  },
  ...Array.from({ length: Number(turns) }, (_, i) => ({
    when: { turn: i + 1 },
    do: [
      { call: 'shell', input: { command: `echo ${i + 1}a >> count.txt` } },
      { call: 'shell', input: { command: `echo ${i + 1}b >> count.txt` } },
    ],
  })),
  { do: [{ call: 'done', input: { summary: 'Counted.' } }] },
)

/** Says on disk which turns were asked for. */
const brain: Brain = {
  name: 'counting',
  async *think(turn, signal) {
    const results = turn.messages.filter(({ role }) => role === 'tool').length
    appendFileSync(join(scratch, 'asked.txt'), `${turn.state} ${turn.number} ${results}\n`)
    yield* script.think(turn, signal)
  },
}

const world = await openThinkingOn(
  { ...place, workspaces, base, close: () => processes.close() },
  // Every turn twice at the most, and room for the last.
  { brain, limits: { run: { iterationsMax: 2 * Number(turns) + 4 } } },
)
writeSync(1, 'ready\n')
const agent = await world.start('s1', { turnsMax: Number(turns) + 1 })
const { data } = await world.reach(agent, 'TESTING', 'BUDGET_REVIEW', 'ERROR')
writeSync(
  1,
  `${JSON.stringify({ outcome: data.outcome, books: await world.dataOf('ledger' as never) })}\n`,
)
await world.close()
