import { type FileHandle, open } from 'node:fs/promises'
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

/**
 * A brain that says what is on a cassette. A turn that is not on it fails, and is told apart. Where
 * several takes fit one turn, it remembers which it has played.
 */
export function openPlayingBrain(takes: readonly Take[], secrets: readonly string[] = []): Brain {
  // Of takes that differ in nothing the last counts: the recorded run went on with it.
  const distinct = [...new Map(takes.map((take) => [JSON.stringify(take.turn), take])).values()]
  const played = new Set<Take>()
  return {
    name: 'recorded',
    async *think(turn, signal) {
      if (signal.aborted) {
        yield { type: 'failed', failure: { kind: 'aborted', message: 'the turn was given up' } }
        return
      }
      const print = printOf(turn, secrets)
      const take = chooseTake(distinct, print, played)
      if (take === undefined) {
        yield { type: 'failed', failure: rejected(explainMiss(distinct, print)) }
        return
      }
      played.add(take)
      yield* take.events as readonly BrainEvent[]
    },
  }
}

async function append(file: string, write: () => string): Promise<string | undefined> {
  try {
    const line = write()
    const handle = await open(file, 'a+', 0o600)
    try {
      // Behind a line that was cut short this one would be lost too.
      await handle.appendFile((await isAtLineStart(handle)) ? line : `\n${line}`)
    } finally {
      await handle.close()
    }
    return undefined
  } catch (error) {
    return `the cassette cannot be written: ${error}`
  }
}

async function isAtLineStart(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat()
  if (size === 0) return true
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer.toString() === '\n'
}

function rejected(message: string): BrainFailure {
  return { kind: 'rejected', message }
}

/**
 * The take of a turn. Where only the words of programs tell several apart, such as two rounds of
 * tests that fail, it is the one with the most of these words, and of equals the first not yet played.
 */
function chooseTake(
  takes: readonly Take[],
  print: TurnPrint,
  played: ReadonlySet<Take>,
): Take | undefined {
  const wanted = knownBy(print)
  const fitting = takes.filter(({ turn }) => knownBy(turn) === wanted)
  const nearest = mostOf(
    fitting,
    ({ turn }) => turn.outputs.filter((hash, index) => hash === print.outputs[index]).length,
  )
  return nearest.find((take) => !played.has(take)) ?? nearest[0]
}

function knownBy({ outputs: _, ...print }: TurnPrint): string {
  return JSON.stringify(print)
}

/** The items that count the most, in their order. */
function mostOf<Item>(items: readonly Item[], countOf: (item: Item) => number): readonly Item[] {
  const most = Math.max(...items.map(countOf))
  return items.filter((item) => countOf(item) === most)
}

function explainMiss(takes: readonly Take[], print: TurnPrint): string {
  const { role, state, story, number, attempt } = print
  const asked = `${role} in ${state}, story ${story ?? 'none'}, turn ${number}, attempt ${attempt}`
  const near = takes
    .map(({ turn }) => turn)
    .filter(
      (turn) =>
        turn.role === role &&
        turn.state === state &&
        turn.story === story &&
        turn.number === number,
    )
  const nearest = mostOf(near, (turn) => likeness(turn, print)).at(-1)
  if (nearest === undefined) {
    const known = takes.map(({ turn }) => `${turn.role} in ${turn.state} turn ${turn.number}`)
    const list = [...new Set(known)].join('; ') || 'nothing'
    return `the cassette has no turn of ${asked}. It has: ${list}`
  }
  return `the cassette has ${asked} otherwise: ${differenceOf(nearest, print)}`
}

/** How far one gets with telling what differs. */
function likeness(known: TurnPrint, print: TurnPrint): number {
  if (known.system !== print.system) return 0
  return known.tools === print.tools ? 2 + countSame(print.messages, known.messages) : 1
}

function differenceOf(known: TurnPrint, print: TurnPrint): string {
  if (known.system !== print.system) return 'the system prompt differs'
  if (known.tools !== print.tools) return 'the tools differ'
  const at = countSame(print.messages, known.messages)
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
