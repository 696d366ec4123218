import { makeFolder, removeFolder } from '../disk.ts'
import { buildBetterSqlite3 } from '../peers/better-sqlite3.ts'
import { atLeast, type BenchmarkCase, type Effort, type Measurements } from '../report.ts'
import { type DurableSubject, type Rounds, takeTurns, timesAsFast } from '../rounds.ts'
import { openPeerProcess, openProductProcess } from '../subject-process.ts'

const GOAL_SHARE_OF_RAW = 0.7

interface Load {
  readonly name: string
  readonly agents: number
  /** Deliveries that each agent keeps outstanding. */
  readonly window: number
  /** The times by which each peer is to be outdone; absent where the load is for comparison. */
  readonly goalTimes?: number
}

/**
 * One event at a time costs everybody one sync of the disk, so nobody can be faster there than
 * raw SQLite is: that load shows latency and has no goal. With events waiting, which is what an
 * agent's inbox is for, a commit takes many in. At 100 agents windows of 1, 4, 16 and 64 differ
 * by half in rate, and 64 has four times the latency of 16.
 */
const LOADS: readonly Load[] = [
  { name: '1 agent, 1 event in flight', agents: 1, window: 1 },
  { name: '1 agent', agents: 1, window: 16, goalTimes: 3 },
  { name: '100 agents', agents: 100, window: 16, goalTimes: 30 },
]

const MANY_STEPS = 'LangGraph, many steps a call'

/** LangGraph steps that one call makes, where it need not be told each. */
const STEPS_PER_CALL = 20

/** Durable transitions per second and how long an event takes, beside SQLite itself and peers. */
export const journalRate: BenchmarkCase = {
  summary: 'durable transitions per second, beside raw SQLite, XState 5 and LangGraph JS',
  measure,
}

async function measure({ quick }: Effort): Promise<Measurements> {
  await buildBetterSqlite3()
  const { langgraphVersion } = await import('../peers/langgraph-sqlite.ts')
  const { xstateVersion } = await import('../peers/xstate.ts')
  const rows = []
  const goals = []
  for (const load of LOADS) {
    const results = await compare(load, quick)
    for (const [name, result] of Object.entries(results)) {
      const subject = `${load.name}: ${name}`
      rows.push({ subject, metric: 'transitions', value: result.perSecond, unit: '1/s' })
      // Of many steps a call, nobody waits for a single one.
      if (name === MANY_STEPS) continue
      rows.push({ subject, metric: 'latency p50', value: result.p50Ms, unit: 'ms' })
      rows.push({ subject, metric: 'latency p99', value: result.p99Ms, unit: 'ms' })
    }
    const subject = `${load.name}: slipway`
    const { rowsPerCommit = Number.NaN } = results.slipway
    rows.push({ subject, metric: 'rows per commit', value: rowsPerCommit, unit: '' })
    goals.push(...goalsOf(load, results))
  }
  return { rows, goals, versions: { xstate: xstateVersion, langgraph: langgraphVersion } }
}

type Subject = 'slipway' | 'raw SQLite' | 'XState' | 'LangGraph' | typeof MANY_STEPS

function goalsOf({ name, goalTimes }: Load, results: Record<Subject, Rounds>) {
  if (goalTimes === undefined) return []
  const times = (subject: Subject) => timesAsFast(results.slipway, results[subject])
  return [
    ...(name === '100 agents'
      ? [atLeast(`${name}, share of raw SQLite`, GOAL_SHARE_OF_RAW, times('raw SQLite'))]
      : []),
    atLeast(`${name}, times XState`, goalTimes, times('XState')),
    atLeast(
      `${name}, times LangGraph at its best`,
      goalTimes,
      Math.min(times('LangGraph'), times(MANY_STEPS)),
    ),
  ]
}

const DURABLE = new URL('../subjects/durable.ts', import.meta.url)
const XSTATE = new URL('../peers/xstate-sqlite.ts', import.meta.url)
const LANGGRAPH = new URL('../peers/langgraph-sqlite.ts', import.meta.url)

/** Runs every subject under one load, each in a process and on a folder of its own on the same disk. */
async function compare({ agents, window }: Load, quick: boolean) {
  const [rounds, roundMs] = quick ? [1, 50] : [7, 1_500]
  const folders: string[] = []
  const folder = (name: string) => {
    folders.push(makeFolder(name))
    return folders.at(-1) ?? ''
  }
  const openProduct = (name: string, ...args: (string | number)[]) =>
    openProductProcess({ module: DURABLE, name, args })
  const openPeer = (module: URL, name: string, ...args: (string | number)[]) =>
    openPeerProcess({ module, name, args })

  const slipway = await openProduct('openSlipway', folder('slipway'), agents, window)
  // The first round warms up, and shows how large the commits are that raw SQLite is to make.
  const { rowsPerCommit = 1 } = await slipway.run(roundMs)
  const batchSize = Math.max(1, Math.round(rowsPerCommit))
  const langgraph = (name: string, steps: number) =>
    openPeer(LANGGRAPH, 'openLanggraph', folder(name), agents, steps)
  const subjects: Record<Subject, DurableSubject> = {
    slipway,
    'raw SQLite': await openProduct('openRawSqlite', folder('raw'), agents, batchSize),
    XState: await openPeer(XSTATE, 'openXstate', folder('xstate'), agents),
    LangGraph: await langgraph('langgraph', 1),
    [MANY_STEPS]: await langgraph('langgraph-steps', STEPS_PER_CALL),
  }
  try {
    return await takeTurns(subjects, rounds, roundMs)
  } finally {
    for (const subject of Object.values(subjects)) await subject.close()
    for (const path of folders) removeFolder(path)
  }
}
