import { join } from 'node:path'
import {
  agentIdOf,
  DEFAULT_LIMITS,
  dispatcherOf,
  ledgerOf,
  mergeQueueOf,
  type TeamSettings,
} from '../../src/agents/team/protocol.ts'
import type {
  ThinkInput,
  Thought,
  ToolsUsed,
  UseToolsInput,
} from '../../src/agents/thinking/outcomes.ts'
import type { AgentId, BlobRef, Json, RunId } from '../../src/agents/values.ts'
import { ROLES } from '../../src/cli/engine/team.ts'
import { loadStoriesHandler } from '../../src/effects/stories/load-stories-handler.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { Effect, EffectContext, EffectHandler } from '../../src/runtime/effect-handler.ts'
import { openEmbeddedRuntime } from '../../src/runtime/embedded-runtime.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'

const RUN = 'bench'
const TAIL: BlobRef = { sha256: '0'.repeat(64), bytes: 100 }
const TRANSCRIPT = { travelling: [], tail: TAIL, parts: 2, bytes: 200 }
const COMMIT = '0'.repeat(40)

/** What the model calls in each task, at once. */
const ENDS: Readonly<Record<string, readonly [string, Json]>> = {
  'coder/planning': ['submit_plan', { plan: 'x' }],
  'coder/coding': ['done', { summary: 'x' }],
  'architect/code-review': ['review_complete', { verdict: 'approved', feedback: '', must_fix: [] }],
}

/**
 * The whole team on a real journal, in which everything outside takes no time: what is left is what
 * it costs to dispatch, decide and record. Gives the milliseconds that all stories took.
 */
export async function runStories(folder: string, stories: number, coders: number): Promise<number> {
  const journal = await openSqliteJournal(folder)
  const blobs = openBlobFiles(join(folder, 'blobs'))
  const runtime: Runtime = await openEmbeddedRuntime({
    journal,
    blobs,
    roles: ROLES,
    handlers: handlers(journal, () => runtime),
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    random: Math.random,
    limits: { restartsMax: Infinity },
  })
  const run = RUN as RunId
  await runtime.createRun(run, {})
  const make = (id: AgentId, role: string) => runtime.createAgent({ id, run, role })
  await make(ledgerOf(RUN), 'ledger')
  await make(dispatcherOf(RUN), 'dispatcher')
  await make(mergeQueueOf(RUN), 'merge-queue')
  for (let i = 0; i < 4; i += 1) await make(agentIdOf(RUN, `architect-${i}`), 'architect@I')
  for (let i = 0; i < coders; i += 1) await make(agentIdOf(RUN, `coder-${i}`), 'coder@F')
  const load = handlers(journal, () => runtime).load_stories as EffectHandler
  const startedMs = performance.now()
  await load.run(loading(stories), { blobs } as unknown as EffectContext)
  for (;;) {
    await runtime.idle()
    const [dispatcher] = await journal.loadAgents([dispatcherOf(RUN)])
    if (dispatcher?.record.state === 'CLOSED') break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const tookMs = performance.now() - startedMs
  await runtime.close()
  await journal.close()
  return tookMs
}

/** A forest of stories: each of ten depends on the first of its ten. */
function loading(count: number): Effect {
  const mind = {
    brain: 'none',
    contextTokens: 100_000,
    outputTokensMax: 1_000,
    price: { inputPerMillion: 0, outputPerMillion: 0 },
    ledger: ledgerOf(RUN),
  }
  const settings: TeamSettings = {
    run: RUN,
    target: 'main',
    minds: { pm: mind, architect: mind, coder: mind },
    limits: DEFAULT_LIMITS,
    planReview: 'auto',
    tests: {},
  }
  const stories = Array.from({ length: count }, (_, i) => ({
    id: `s${i}`,
    title: `Story ${i}`,
    description: 'x'.repeat(500),
    criteria: ['1'],
    depends_on: i % 10 === 0 ? [] : [`s${i - (i % 10)}`],
    expected_files: [`src/${i}.ts`],
    kind: 'app',
    estimate: 'small',
  }))
  const criteria = [{ id: '1', text: 'It works.' }]
  const input = {
    run: RUN,
    spec: 'It works.',
    criteria: [...criteria, { id: '2', text: 'All.' }],
    settings,
    stories: stories.map((story, i) => (i === 0 ? { ...story, criteria: ['1', '2'] } : story)),
  }
  return {
    id: 'bench:1.0',
    agent: dispatcherOf(RUN),
    kind: 'load_stories',
    input,
  } as unknown as Effect
}

function handlers(
  journal: Awaited<ReturnType<typeof openSqliteJournal>>,
  runtime: () => Runtime,
): Readonly<Record<string, EffectHandler>> {
  const always = (value: unknown): EffectHandler => ({
    run: async () => ({ ok: true, value: value as Json }),
  })
  return {
    load_stories: loadStoriesHandler(runtime, journal),
    think: {
      run: async ({ input }) => ({ ok: true, value: thoughtOn(input as unknown as ThinkInput) }),
    },
    use_tools: {
      run: async ({ input }) => ({ ok: true, value: usedFor(input as unknown as UseToolsInput) }),
    },
    prepare_workspace: always({ folder: '/x', branch: 'b', base: COMMIT }),
    checkpoint: always({ commit: COMMIT, base: COMMIT, tree: COMMIT, head: COMMIT, diff: TAIL }),
    run_tests: always({ verdict: 'passed', message: 'passed', commands: [], counts: null }),
    open_pull_request: always({ number: 1, url: '', head: COMMIT, state: 'open' }),
    merge: always({ kind: 'merged', commit: COMMIT, onto: COMMIT, asTested: true, gate: null }),
    clean_up: always(null),
  }
}

function thoughtOn({ task }: ThinkInput): Json {
  const [name = ''] = ENDS[task] ?? []
  const thought: Thought = {
    transcript: TRANSCRIPT,
    calls: [{ id: '1', name, isReadOnly: false, key: 'k' }],
    finish: 'tool_calls',
    failure: null,
    tokens: { input: 100, cached: 0, output: 10 },
    contextTokens: 110,
    isUsageKnown: true,
    microdollars: 0,
    model: 'none',
    said: '',
  }
  return thought as unknown as Json
}

function usedFor({ task }: UseToolsInput): Json {
  const [tool = '', input = null] = ENDS[task] ?? []
  const used: ToolsUsed = {
    transcript: { ...TRANSCRIPT, parts: 3 },
    answers: [
      { id: '1', isError: false, result: 'r', mayHaveChanged: false, ends: { tool, input } },
    ],
  }
  return used as unknown as Json
}
