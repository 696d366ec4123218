import { pathToFileURL } from 'node:url'
import { bundle } from '../bundle.ts'
import { makeFolder, removeFolder } from '../disk.ts'
import { buildBetterSqlite3 } from '../peers/better-sqlite3.ts'
import { atLeast, type BenchmarkCase, type Effort, type Measurements } from '../report.ts'
import { type Rounds, takeTurns } from '../rounds.ts'

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
 * One delivery at a time is the latency that a lone agent has; nothing can be faster there than
 * the disk's sync. Sixteen in flight from each agent fill a commit: at 100 agents 1, 4, 16 and 64
 * gave 17,000, 23,000, 25,000 and 26,000 transitions a second, with four times the latency at 64.
 */
const LOADS: readonly Load[] = [
  { name: '1 agent', agents: 1, window: 1, goalTimes: 3 },
  { name: '1 agent, 16 in flight', agents: 1, window: 16 },
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
    const { results, rowsPerCommit } = await compare(load, quick)
    for (const [name, result] of Object.entries(results)) {
      const subject = `${load.name}: ${name}`
      rows.push({ subject, metric: 'transitions', value: result.perSecond, unit: '1/s' })
      // Of many steps a call, nobody waits for a single one.
      if (name === MANY_STEPS) continue
      rows.push({ subject, metric: 'latency p50', value: result.p50Ms, unit: 'ms' })
      rows.push({ subject, metric: 'latency p99', value: result.p99Ms, unit: 'ms' })
    }
    const subject = `${load.name}: slipway`
    rows.push({ subject, metric: 'rows per commit', value: rowsPerCommit, unit: '' })
    goals.push(...goalsOf(load, results))
  }
  return { rows, goals, versions: { xstate: xstateVersion, langgraph: langgraphVersion } }
}

type Subject = 'slipway' | 'raw SQLite' | 'XState' | 'LangGraph' | typeof MANY_STEPS

function goalsOf({ name, goalTimes }: Load, results: Record<Subject, Rounds>) {
  if (goalTimes === undefined) return []
  const rate = (subject: Subject) => results[subject].perSecond
  const slipway = rate('slipway')
  const langgraph = Math.max(rate('LangGraph'), rate(MANY_STEPS))
  return [
    ...(name === '100 agents'
      ? [atLeast(`${name}, share of raw SQLite`, GOAL_SHARE_OF_RAW, slipway / rate('raw SQLite'))]
      : []),
    atLeast(`${name}, times XState`, goalTimes, slipway / rate('XState')),
    atLeast(`${name}, times LangGraph at its best`, goalTimes, slipway / langgraph),
  ]
}

/** Runs every subject under one load, each on a folder of its own on the same disk. */
async function compare({ agents, window }: Load, quick: boolean) {
  const [rounds, roundMs] = quick ? [1, 50] : [5, 1_500]
  const { openLanggraph } = await import('../peers/langgraph-sqlite.ts')
  const { openXstate } = await import('../peers/xstate-sqlite.ts')
  const file = bundle(new URL('../subjects/durable.ts', import.meta.url))
  const { openSlipway, openRawSqlite }: typeof import('../subjects/durable.ts') = await import(
    pathToFileURL(file).href
  )

  const folders: string[] = []
  const folder = (name: string) => {
    folders.push(makeFolder(name))
    return folders.at(-1) ?? ''
  }
  const slipway = await openSlipway(folder('slipway'), agents, window)
  // The first round warms up, and shows how large the commits are that raw SQLite is to make.
  await slipway.run(roundMs)
  const batchSize = Math.max(1, Math.round(slipway.rowsPerCommit()))
  const subjects = {
    slipway,
    'raw SQLite': await openRawSqlite(folder('raw'), agents, batchSize),
    XState: await openXstate(folder('xstate'), agents),
    LangGraph: await openLanggraph(folder('langgraph'), agents, 1),
    [MANY_STEPS]: await openLanggraph(folder('langgraph-steps'), agents, STEPS_PER_CALL),
  }
  try {
    const results = await takeTurns(subjects, rounds, roundMs)
    return { results, rowsPerCommit: slipway.rowsPerCommit() }
  } finally {
    for (const subject of Object.values(subjects)) await subject.close()
    for (const path of folders) removeFolder(path)
  }
}
