import { hash } from 'node:crypto'
import type { Brain, BrainEvent, BrainFailure, ToolCall, Turn, Usage } from '../brains/brain.ts'

/** Everything that a brain said in one turn. */
export interface Reply {
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly usage: Usage | null
  readonly finish: 'stop' | 'tool_calls' | 'length' | 'failed'
  readonly failure: BrainFailure | null
  readonly model: string
  readonly opaque: unknown
  /** Whether anything was said, be it a thought. */
  readonly hasBegun: boolean
}

/** Events that are paid for. */
const SAYING: readonly BrainEvent['type'][] = ['text', 'reasoning', 'tool_call']

/** Lets a brain think for one turn, and puts together what it said. */
export async function collectReply(
  brain: Brain,
  turn: Turn,
  signal: AbortSignal,
  onEvent: ((event: BrainEvent) => void) | undefined,
): Promise<Reply> {
  const texts: string[] = []
  const calls: ToolCall[] = []
  let usage: Usage | null = null
  let hasBegun = false
  let end: Extract<BrainEvent, { type: 'finished' | 'failed' }> | undefined
  for await (const event of brain.think(turn, signal)) {
    onEvent?.(event)
    hasBegun ||= SAYING.includes(event.type)
    if (event.type === 'text') texts.push(event.text)
    else if (event.type === 'tool_call') calls.push(event.call)
    else if (event.type === 'usage') usage = event.usage
    else if (event.type !== 'reasoning') end = event
  }
  const said = { text: texts.join(''), usage, hasBegun }
  if (end?.type === 'finished') {
    const { reason, model, opaque } = end
    return { ...said, calls, finish: reason, failure: null, model, opaque }
  }
  const failure: BrainFailure = end?.failure ?? { kind: 'network', message: 'it said no end' }
  return { ...said, calls: [], finish: 'failed', failure, model: brain.name, opaque: undefined }
}

/** The same for the same tool with the same input, whatever the order of its keys. */
export function callKey({ name, input }: ToolCall): string {
  return fingerprint(`${name}\n${JSON.stringify(input, sortKeys) ?? ''}`)
}

/** A short name for a text. */
export function fingerprint(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16)
}

function sortKeys(_: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
