import { appendFile } from 'node:fs/promises'
import type { Brain, BrainEvent, BrainFailure } from './brain.ts'
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
      const print = printOf(turn, secrets)
      const take = takes.findLast(({ turn: known }) => isSame(known, print))
      if (signal.aborted) {
        yield { type: 'failed', failure: { kind: 'aborted', message: 'the turn was given up' } }
      } else if (take === undefined) {
        yield { type: 'failed', failure: rejected(explainMiss(takes, print)) }
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
function isSame(known: TurnPrint, print: TurnPrint): boolean {
  return JSON.stringify(known) === JSON.stringify(print)
}

function explainMiss(takes: readonly Take[], print: TurnPrint): string {
  const { role, state, story, number, attempt } = print
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
  return `the cassette has ${asked} otherwise: ${differenceOf(near, print)}`
}

function differenceOf(known: TurnPrint, print: TurnPrint): string {
  if (known.system !== print.system) return 'the system prompt differs'
  if (known.tools !== print.tools) return 'the tools differ'
  const at = print.messages.findIndex((hash, index) => known.messages[index] !== hash)
  if (at >= 0 && at < known.messages.length) return `message ${at + 1} differs`
  if (known.messages.length !== print.messages.length) {
    return `it has ${known.messages.length} messages, not ${print.messages.length}`
  }
  return `it has attempt ${known.attempt}`
}
