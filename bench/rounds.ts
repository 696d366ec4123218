import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './rate.ts'

const PAUSE_MS = 200

/** How much shorter than a round the work before it is, which does not count. */
const WARM_UP_SHARE = 5

/** What one round of a subject came to. */
export interface Round {
  readonly transitions: number
  readonly elapsedMs: number
  /** From the delivery of each event until it was durable. */
  readonly latenciesMs: readonly number[]
  /** Rows in a commit, on average so far, where the subject chooses. */
  readonly rowsPerCommit?: number
}

/** Makes durable transitions for about so long, and says how many and how long each took. */
export interface DurableSubject {
  run(roundMs: number): Promise<Round>
  close(): Promise<void>
}

/** What all rounds of a subject came to. */
export interface Rounds {
  readonly perSecond: number
  /** The rate of each round, in order. */
  readonly rates: readonly number[]
  readonly p50Ms: number
  readonly p99Ms: number
  readonly rowsPerCommit: number | undefined
}

/**
 * Runs subjects in turn, so that a busy machine slows all of them, after a round to warm up that
 * does not count. Every other round goes backwards: what one leaves the disk to do slows the next,
 * and that is not always the same. Rates are medians of rounds.
 */
export async function takeTurns<Name extends string>(
  subjects: Readonly<Record<Name, DurableSubject>>,
  rounds: number,
  roundMs: number,
): Promise<Record<Name, Rounds>> {
  const names = Object.keys(subjects) as Name[]
  const results = new Map<Name, Round[]>(names.map((name) => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      // What the one before still does in the background is not this one's.
      await sleep(PAUSE_MS)
      // A process that has waited for the others is slower at first, whatever it is.
      await subjects[name].run(roundMs / WARM_UP_SHARE)
      const result = await subjects[name].run(roundMs)
      if (round > 0) results.get(name)?.push(result)
    }
  }
  return Object.fromEntries(
    names.map((name) => [name, summarise(results.get(name) ?? [])]),
  ) as Record<Name, Rounds>
}

/** Keeps one delivery outstanding in each lane; the time counts until the last is acknowledged. */
export async function keepDelivering(
  lanes: number,
  roundMs: number,
  deliver: (lane: number) => Promise<unknown>,
): Promise<Round> {
  const latenciesMs: number[] = []
  const startedMs = performance.now()
  const endMs = startedMs + roundMs
  const runLane = async (lane: number) => {
    let nowMs = performance.now()
    while (nowMs < endMs) {
      const deliveredMs = nowMs
      await deliver(lane)
      nowMs = performance.now()
      latenciesMs.push(nowMs - deliveredMs)
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(lane)))
  const elapsedMs = performance.now() - startedMs
  return { transitions: latenciesMs.length, elapsedMs, latenciesMs }
}

/** Does synchronous work again and again; each time is one latency for all its transitions. */
export function keepWorking(roundMs: number, transitionsEach: number, work: () => void): Round {
  const latenciesMs: number[] = []
  const startedMs = performance.now()
  let nowMs = startedMs
  while (nowMs - startedMs < roundMs) {
    const begunMs = nowMs
    work()
    nowMs = performance.now()
    for (let i = 0; i < transitionsEach; i += 1) latenciesMs.push(nowMs - begunMs)
  }
  return { transitions: latenciesMs.length, elapsedMs: nowMs - startedMs, latenciesMs }
}

/** How many times as fast one subject is: the median over rounds, which were taken side by side. */
export function timesAsFast(subject: Rounds, other: Rounds): number {
  return median(subject.rates.map((rate, round) => rate / (other.rates[round] ?? Number.NaN)))
}

function summarise(rounds: readonly Round[]): Rounds {
  const latenciesMs = Float64Array.from(rounds.flatMap((round) => round.latenciesMs)).sort()
  const quantile = (share: number) =>
    latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? Number.NaN
  const rates = rounds.map((round) => (round.transitions * 1000) / round.elapsedMs)
  return {
    perSecond: median(rates),
    rates,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    rowsPerCommit: rounds.at(-1)?.rowsPerCommit,
  }
}
