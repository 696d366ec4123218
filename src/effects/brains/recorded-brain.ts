import { appendFile } from 'node:fs/promises'
import type { Brain, BrainEvent, BrainFailure, Turn } from './brain.ts'
import { printOf, type Take, type TurnPrint, writeTake } from './cassette.ts'

export interface RecordingOptions {
  /** Is made when it is not there, for its owner alone, and added to. */
  readonly file: string
  /** Values that must not be in the file; outside of calls, neither is what looks like a secret. */
  readonly secrets?: readonly string[]
}

/**
 * Lets another brain think and writes down what came, before it tells the end of it. A turn that
 * was given up is not written down. One that cannot be written down fails.
 */
export function openRecordingBrain(brain: Brain, options: RecordingOptions): Brain {
  const { file, secrets = [] } = options
  return {
    name: brain.name,
    async *think(turn, signal) {
      const events: BrainEvent[] = []
      for await (const event of brain.think(turn, signal)) {
        events.push(event)
        if (event.type !== 'finished' && event.type !== 'failed') {
          yield event
          continue
        }
        const isGivenUp = event.type === 'failed' && event.failure.kind === 'aborted'
        const problem = isGivenUp
          ? undefined
          : await append(file, () => writeTake(turn, events, secrets))
        yield problem === undefined ? event : { type: 'failed', failure: rejected(problem) }
        return
      }
    },
  }
}

/** A brain that says what is on a cassette. A turn that is not on it fails, and is told apart. */
export function openPlayingBrain(takes: readonly Take[], secrets: readonly string[] = []): Brain {
  return {
    name: 'recorded',
    async *think(turn, signal) {
      const take =
        findTake(takes, printOf(turn, secrets)) ?? findTake(takes, printOf(turn, secrets, 'words'))
      if (signal.aborted) {
        yield { type: 'failed', failure: { kind: 'aborted', message: 'the turn was given up' } }
      } else if (take === undefined) {
        yield { type: 'failed', failure: rejected(explainMiss(takes, turn, secrets)) }
      } else {
        yield* take.events as readonly BrainEvent[]
      }
    },
  }
}

async function append(file: string, write: () => string): Promise<string | undefined> {
  try {
    await appendFile(file, write(), { mode: 0o600 })
    return undefined
  } catch (error) {
    return `the cassette cannot be written: ${error}`
  }
}

function rejected(message: string): BrainFailure {
  return { kind: 'rejected', message }
}

/** Of several takes the last counts: it is the one that the recorded run went on with. */
function findTake(takes: readonly Take[], print: TurnPrint): Take | undefined {
  const wanted = JSON.stringify(print)
  return takes.findLast(({ turn }) => JSON.stringify(turn) === wanted)
}

function explainMiss(takes: readonly Take[], turn: Turn, secrets: readonly string[]): string {
  const { role, state, story, number, attempt = 1 } = turn
  const asked = `${role} in ${state}, story ${story ?? 'none'}, turn ${number}, attempt ${attempt}`
  const near = takes
    .map(({ turn }) => turn)
    .findLast(
      (turn) =>
        turn.role === role &&
        turn.state === state &&
        turn.story === story &&
        turn.number === number,
    )
  if (near === undefined) {
    const known = takes.map(({ turn }) => `${turn.role} in ${turn.state} turn ${turn.number}`)
    const list = [...new Set(known)].join('; ') || 'nothing'
    return `the cassette has no turn of ${asked}. It has: ${list}`
  }
  const prints = [printOf(turn, secrets), printOf(turn, secrets, 'words')] as const
  return `the cassette has ${asked} otherwise: ${differenceOf(near, prints)}`
}

/** Of a turn's two prints, the one that is like the known one for longer tells what differs. */
function differenceOf(known: TurnPrint, prints: readonly [TurnPrint, TurnPrint]): string {
  const [print] = prints
  if (known.system !== print.system) return 'the system prompt differs'
  if (known.tools !== print.tools) return 'the tools differ'
  const at = Math.max(...prints.map(({ messages }) => countSame(messages, known.messages)))
  if (at < Math.min(print.messages.length, known.messages.length)) {
    return `message ${at + 1} differs`
  }
  if (known.messages.length !== print.messages.length) {
    return `it has ${known.messages.length} messages, not ${print.messages.length}`
  }
  return `it has attempt ${known.attempt}`
}

/** How many hashes are the same from the beginning. */
function countSame(hashes: readonly string[], known: readonly string[]): number {
  const at = hashes.findIndex((hash, index) => known[index] !== hash)
  return at === -1 ? hashes.length : at
}
