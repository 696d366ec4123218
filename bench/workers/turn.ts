/**
 * `node turn.mjs <url> <folder> <turns> <opening> <tools>`: one conversation of the product with the
 * model at that address, durable and sandboxed as it always is, with those tools of a coder, or all.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ledgerKeeper } from '../../src/agents/ledger-keeper.ts'
import type { Assignment, Mind } from '../../src/agents/thinking/assignment.ts'
import type { AgentId, EventId, Json, RunId } from '../../src/agents/values.ts'
import { compileBeforeFirstCall } from '../../src/cli/engine/baseline-code.ts'
import { openApiBrain } from '../../src/effects/brains/api-brain.ts'
import { openGit } from '../../src/effects/git/git.ts'
import { changeRefs } from '../../src/effects/git/refs.ts'
import { openRepositories, updateMirror } from '../../src/effects/git/repositories.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import { openThinking } from '../../src/effects/thinking/thinking-effects.ts'
import { toolboxOf } from '../../src/effects/tools/toolbox.ts'
import { openWorkspaces } from '../../src/effects/workspace/workspaces.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { openEmbeddedRuntime } from '../../src/runtime/embedded-runtime.ts'
import { thinker } from '../subjects/thinker.ts'

const TASK = 'coder/coding'
const OWNER = { run: 'run-1' as RunId, story: 'turn' }
const AGENT = 'coder-1' as AgentId
const LEDGER = 'ledger' as AgentId
const TIMEOUTS = { firstTokenMs: 60_000, idleMs: 60_000, totalMs: 120_000 }

const SHORT = {
  story: 'Run what you are asked to run, one command after another.',
  criteria: '1. Everything was run.',
  plan: 'Run it.',
}

/** As long as those of real stories. */
const STORY = {
  story: lines('What the story is about', 15),
  criteria: lines('A criterion', 8),
  plan: lines('A step of the plan, with the files that it changes', 25),
}

function lines(of: string, count: number): string {
  const text = 'in a sentence as long as people write them when they want to be understood'
  return Array.from({ length: count }, (_, i) => `${i + 1}. ${of}, ${text}.\n`).join('')
}

const [url = '', folder = '', turns = '0', opening = 'short', tools = ''] = process.argv.slice(2)

/** A small repository with a workspace on it, as a story has one. */
async function openGround(state: string) {
  const source = join(folder, 'source')
  mkdirSync(source, { recursive: true })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
      cwd: source,
      encoding: 'utf8',
    }).trim()
  git('init', '-q', '-b', 'main')
  writeFileSync(join(source, 'a.txt'), 'one\n')
  if (opening === 'story') writeFileSync(join(source, 'AGENTS.md'), lines('A convention', 40))
  git('add', '-A')
  git('commit', '-qm', 'init')
  const base = git('rev-parse', 'HEAD')
  const processes = openProcesses(state)
  const ours = openGit(processes)
  const repositories = await openRepositories(ours, state)
  await updateMirror(ours, repositories, source)
  await changeRefs(ours, repositories.mirror, [{ ref: 'refs/heads/main', to: base }])
  const workspaces = openWorkspaces(ours, repositories, state)
  await workspaces.prepare(OWNER, base)
  return { processes, git: ours, repositories, workspaces }
}

async function open(state: string) {
  const ground = await openGround(state)
  const isolation = await openBubblewrap(ground.processes, { stateFolder: state })
  const brain = openApiBrain({
    provider: 'anthropic',
    baseUrl: `${url}/v1`,
    model: 'test-model',
    apiKey: 'none',
    timeouts: TIMEOUTS,
  })
  const brains = { model: { brain, service: 'model', priceOf: async () => null } }
  const thinking = openThinking({
    ...ground,
    stateFolder: state,
    isolation,
    brains,
    secrets: [],
    testTimeoutMs: 60_000,
  })
  const journal = await openSqliteJournal(state)
  const runtime = await openEmbeddedRuntime({
    journal,
    blobs: openBlobFiles(join(state, 'blobs')),
    roles: [thinker, ledgerKeeper],
    handlers: thinking.handlers,
    services: { model: { probe: async () => true } },
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    random: Math.random,
  })
  const close = async () => {
    await runtime.close()
    await thinking.close()
    await journal.close()
    await ground.processes.close()
  }
  return { runtime, journal, close }
}

function start() {
  const offered = toolboxOf(TASK).tools.map(({ name }) => name)
  const wanted = tools === '' ? offered : tools.split(',')
  const assignment: Assignment = {
    task: TASK,
    state: 'CODING',
    story: OWNER.story,
    workspace: OWNER,
    variables: { ...(opening === 'story' ? STORY : SHORT), turns },
    withheld: offered.filter((name) => !wanted.includes(name)),
    turnsMax: Number(turns),
  }
  const mind: Mind = {
    brain: 'model',
    contextTokens: 200_000,
    outputTokensMax: 4_096,
    price: null,
    ledger: LEDGER,
  }
  return { assignment, mind } as unknown as Json
}

// As an engine does.
compileBeforeFirstCall()
const { runtime, journal, close } = await open(join(folder, 'state'))
await runtime.createRun(OWNER.run, {})
await runtime.createAgent({ id: LEDGER, run: OWNER.run, role: 'ledger' })
await runtime.createAgent({ id: AGENT, run: OWNER.run, role: thinker.name })
await runtime.deliver({ id: 'start' as EventId, agent: AGENT, type: 'onward', payload: start() })
await runtime.idle()
const [agent] = await journal.loadAgents([AGENT])
const how = agent?.record.data.how
if (agent?.record.halted) throw new Error('the agent is halted')
if (how !== 'ended') throw new Error(String(how))
await close()
process.stdout.write('null')
