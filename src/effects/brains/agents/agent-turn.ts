import { setTimeout as sleep } from 'node:timers/promises'
import {
  type BrainEvent,
  type BrainFailure,
  type ToolCall,
  type Turn,
  UNTOLD_USAGE,
} from '../brain.ts'
import { type TurnTimeouts, TurnWatch } from '../turn-watch.ts'
import type { AgentCommand, HeadlessCommand } from './agent.ts'
import { type AgentPlace, type AgentSettings, openAgentPlace } from './agent-place.ts'
import { type AgentBudget, TurnReport } from './turn-report.ts'

/** How long an agent may take to stop by itself before it is ended. */
const STOPPING_MS_MAX = 500

/** What every brain with an agent behind it is told. */
export interface AgentBrainOptions extends AgentSettings {
  /** The model that the agent is to ask; absent, the one of its own configuration. */
  readonly model?: string
  readonly timeouts: TurnTimeouts
  readonly budget: AgentBudget
}

/** How a conversation ended, by the agent's own account. */
export type AgentEnd =
  | { readonly how: 'stop' | 'length' }
  | { readonly how: 'failed'; readonly failure: BrainFailure }

/** A conversation with an agent that has been started. */
export interface Conversation {
  /** Settles when the agent says that it is through, or is gone. Never rejects. */
  readonly ended: Promise<AgentEnd>
  /** Asks it to stop. False when it does not understand that. */
  cancel(): boolean
}

/** What a conversation is about, and where what comes of it goes. */
export interface ConversationTask {
  readonly turn: Turn
  readonly place: AgentPlace
  readonly report: TurnReport
  readonly options: AgentBrainOptions
}

/** One way to talk with an agent. */
export interface AgentProtocol {
  readonly command: AgentCommand | HeadlessCommand
  begin(task: ConversationTask): Conversation
}

/** Lets an agent work for one turn. When the last event is told, nothing of it runs any more. */
export async function* thinkWithAgent(
  options: AgentBrainOptions,
  loadProtocol: () => Promise<AgentProtocol>,
  turn: Turn,
  signal: AbortSignal,
): AsyncGenerator<BrainEvent> {
  const watch = new TurnWatch(options.timeouts, signal)
  const report = new TurnReport(watch, options.budget, turn.tokensMax)
  const working = work({ options, turn, watch, report }, loadProtocol).finally(() => report.end())
  let outcome: Outcome
  try {
    yield* report.events()
  } finally {
    watch.close()
    outcome = await working
  }
  const usage = report.usage ?? (report.hasWorked ? UNTOLD_USAGE : undefined)
  if (usage !== undefined) yield { type: 'usage', usage }
  if ('failure' in outcome) {
    yield { type: 'failed', failure: outcome.failure }
    return
  }
  for (const call of outcome.calls) yield { type: 'tool_call', call }
  const reason = outcome.calls.length > 0 ? 'tool_calls' : outcome.reason
  const model = report.model ?? options.model ?? options.agent.name
  yield { type: 'finished', reason, model }
}

interface Work {
  readonly options: AgentBrainOptions
  readonly turn: Turn
  readonly watch: TurnWatch
  readonly report: TurnReport
}

type Outcome =
  | { readonly calls: readonly ToolCall[]; readonly reason: 'stop' | 'length' }
  | { readonly failure: BrainFailure }

/** Never rejects. */
async function work(
  { options, turn, watch, report }: Work,
  loadProtocol: () => Promise<AgentProtocol>,
): Promise<Outcome> {
  if (watch.verdict !== undefined) return { failure: watch.verdict }
  let place: AgentPlace | undefined
  try {
    const protocol = await loadProtocol()
    place = await openAgentPlace(options, protocol.command, turn)
    if (watch.verdict !== undefined) return { failure: watch.verdict }
    void place.tools.flooded.then((what) => report.flooded(what))
    const conversation = protocol.begin({ turn, place, report, options })
    const end = await firstEnd(conversation, place, watch)
    return judge(end, place.tools.calls, watch, report)
  } catch (error) {
    return { failure: watch.verdict ?? { kind: 'rejected', message: (error as Error).message } }
  } finally {
    // What came of the turn holds, also where something of its place cannot be removed.
    await place?.close().catch(() => {})
  }
}

/** Waits until the agent is through, has called a tool of ours, or has to be stopped. */
async function firstEnd(
  conversation: Conversation,
  { tools }: AgentPlace,
  watch: TurnWatch,
): Promise<AgentEnd | undefined> {
  const stopped = new Promise<undefined>((resolve) => {
    if (watch.signal.aborted) resolve(undefined)
    watch.signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const { ended } = conversation
  const end = await Promise.race([ended, tools.begun.then(() => undefined), stopped])
  if (end !== undefined) return end
  if (watch.verdict === undefined && tools.calls.length > 0) {
    // A tool was called: it has worked, and from here on no clock and no budget of the turn counts.
    watch.begin()
    watch.close()
    const whole = await Promise.race([ended, tools.called.then(() => undefined)])
    if (whole !== undefined) return whole
  }
  if (!conversation.cancel()) return undefined
  const enough = new AbortController()
  const patience = sleep(STOPPING_MS_MAX, undefined, { signal: enough.signal }).catch(
    () => undefined,
  )
  const late = await Promise.race([ended, patience])
  enough.abort()
  return late
}

/** What the turn came to: why it was stopped, unless it had called by then; then its own word. */
function judge(
  end: AgentEnd | undefined,
  calls: readonly ToolCall[],
  watch: TurnWatch,
  report: TurnReport,
): Outcome {
  if (watch.verdict !== undefined) return { failure: watch.verdict }
  if (calls.length > 0) return { calls, reason: 'stop' }
  if (end === undefined) return { failure: { kind: 'aborted', message: 'the turn was given up' } }
  if (end.how === 'failed') return { failure: end.failure }
  if (report.hasLastWord) return { calls, reason: end.how }
  const message = 'the agent ended its work without a word and without a call'
  return { failure: { kind: 'invalid_output', message } }
}
