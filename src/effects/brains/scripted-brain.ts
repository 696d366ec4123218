import { type Clock, sleepUntil, systemClock } from '../../runtime/clock.ts'
import type { Brain, BrainEvent, BrainFailure, Message, ToolCall, Turn } from './brain.ts'
import type { Scenario, ScenarioReply, ScenarioStep } from './scenario.ts'

type When = ScenarioReply['when']

const MESSAGE_CHARS_MAX = 2_000

/**
 * A brain that plays a scenario. What it answers depends on the turn alone, so that a run which was
 * killed and is resumed gets the answers that it would have got. A turn that nobody expected fails,
 * and the failure says what was expected.
 */
export function openScriptedBrain(scenario: Scenario, clock: Clock = systemClock): Brain {
  return {
    name: 'scripted',
    async *think(turn, signal) {
      const reply = scenario.replies.find((candidate) => fits(candidate, turn))
      if (reply === undefined) {
        yield { type: 'failed', failure: unexpected(scenario, turn) }
        return
      }
      yield* play(reply, turn, signal, clock)
    },
  }
}

async function* play(
  reply: ScenarioReply,
  turn: Turn,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<BrainEvent> {
  const calls: ToolCall[] = []
  for (const step of reply.do) {
    await pass(step, signal, clock)
    if (signal.aborted) {
      yield { type: 'failed', failure: { kind: 'aborted', message: 'the turn was given up' } }
      return
    }
    if (step.fail !== undefined) {
      yield { type: 'failed', failure: failureOf(step) }
      return
    }
    if (step.call !== undefined) {
      // The same at every try, and another one in every turn of a conversation.
      const id = `call_${turn.messages.length}_${calls.length + 1}`
      calls.push({ id, name: step.call, input: step.input === undefined ? {} : step.input })
    }
    yield* tell(step)
  }
  for (const call of calls) yield { type: 'tool_call', call }
  const reason = reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  yield { type: 'finished', reason, model: 'scripted' }
}

/** Takes the time that a step takes. */
async function pass(step: ScenarioStep, signal: AbortSignal, clock: Clock): Promise<void> {
  if (step.wait_ms !== undefined) await sleepUntil(clock, clock.nowMs() + step.wait_ms, signal)
  if (step.hang === undefined || signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

function* tell({ text, reasoning, usage }: ScenarioStep): Generator<BrainEvent> {
  if (text !== undefined) yield { type: 'text', text }
  if (reasoning !== undefined) yield { type: 'reasoning', text: reasoning }
  if (usage === undefined) return
  yield {
    type: 'usage',
    usage: {
      inputTokens: usage.input ?? null,
      cachedTokens: usage.cached ?? null,
      cacheWriteTokens: usage.cache_write ?? null,
      outputTokens: usage.output ?? null,
    },
  }
}

function failureOf({ fail, message, retry_after_ms: retryAfterMs }: ScenarioStep): BrainFailure {
  const kind = fail ?? 'rejected'
  const failure = { kind, message: message ?? `the scenario says ${kind}` }
  return retryAfterMs === undefined ? failure : { ...failure, retryAfterMs }
}

/** A turn that forces a tool is answered by a reply that calls it, or that was written for it. */
function fits({ when, do: steps }: ScenarioReply, turn: Turn): boolean {
  const { forcedTool } = turn
  const isForced =
    forcedTool === undefined ||
    when.forced === forcedTool ||
    steps.some(({ call, fail }) => call === forcedTool || fail !== undefined)
  return (
    isForced &&
    (when.forced === undefined || when.forced === forcedTool) &&
    isAmong(when.role, turn.role) &&
    isAmong(when.task, turn.task ?? null) &&
    isAmong(when.state, turn.state) &&
    isAmong(when.story, turn.story) &&
    isWithin(when.turn, turn.number) &&
    isWithin(when.attempt, turn.attempt ?? 1) &&
    (when.contains === undefined || textOf(turn.messages.at(-1)).includes(when.contains))
  )
}

function isAmong(wanted: When['story'], actual: string | null): boolean {
  if (wanted === undefined || wanted === null) return wanted === undefined || actual === null
  return actual !== null && (Array.isArray(wanted) ? wanted.includes(actual) : wanted === actual)
}

function isWithin(wanted: When['turn'], actual: number): boolean {
  if (wanted === undefined) return true
  if (typeof wanted === 'number') return wanted === actual
  return actual >= wanted.from && actual <= (wanted.to ?? Infinity)
}

function textOf(message: Message | undefined): string {
  if (message === undefined) return ''
  if (message.role !== 'tool') return message.text
  return message.results.map(({ text }) => text).join('\n')
}

function unexpected({ replies }: Scenario, turn: Turn): BrainFailure {
  const { role, task, state, story, number, attempt = 1, forcedTool } = turn
  const forced = forcedTool === undefined ? '' : `, with ${forcedTool} forced`
  const last = textOf(turn.messages.at(-1)).slice(0, 80)
  const near = replies.filter(({ when }) => isAmong(when.role, role) && isAmong(when.state, state))
  const expected = (near.length > 0 ? near : replies).map(describe).join('; ')
  const message =
    `nothing is scripted for ${task ?? role} in ${state}, story ${story ?? 'none'}, turn ${number}, ` +
    `attempt ${attempt}${forced}, after ${JSON.stringify(last)}. Expected was: ${expected}`
  return { kind: 'rejected', message: message.slice(0, MESSAGE_CHARS_MAX) }
}

function describe({ when, do: steps }: ScenarioReply): string {
  const conditions = Object.entries(when).map(([key, value]) => `${key} ${JSON.stringify(value)}`)
  const calls = steps.flatMap(({ call }) => call ?? [])
  const calling = calls.length === 0 ? '' : ` (calls ${calls.join(', ')})`
  return `${conditions.join(', ') || 'any turn'}${calling}`
}
