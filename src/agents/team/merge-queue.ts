import { mergeQueue1 } from '../../machines/tables/merge-queue-1.ts'
import {
  type AgentEvent,
  type AgentView,
  type Decision,
  type FinishedEffect,
  finishedEffect,
  type Message,
  type Role,
} from '../role.ts'
import type { EffectError, Json, JsonObject } from '../values.ts'
import { bounded, describeRun, fieldOf } from './coder-work.ts'
import {
  MERGE_FINISHED,
  MERGE_WANTED,
  type MergeFinished,
  type MergeWanted,
  type ResponseMessage,
} from './protocol.ts'

/** What waits to be merged; the first is being merged. */
type QueueData = { readonly queue: readonly MergeWanted[] }

/** Said by a queue to itself. */
const MERGE_NEXT = 'merge_next'

const HUNK_CHARS_MAX = 1_500
const HUNKS_CHARS_MAX = 16_000

/** One merge after the other: each one starts from what the one before left. */
export const mergeQueueRole: Role = {
  name: 'merge-queue',
  machine: mergeQueue1,
  recycles: false,
  initialData: { queue: [] },
  handle,
}

function handle(agent: AgentView, event: AgentEvent): Decision {
  const { queue } = agent.data as unknown as QueueData
  if (event.type === MERGE_WANTED) {
    const all = [...queue, event.payload as unknown as MergeWanted]
    return agent.state === 'WAITING' ? start(all, event) : { set: stored(all) }
  }
  const isNext = event.type === MERGE_NEXT || event.type === 'suspension_timed_out'
  if (isNext && agent.state === 'ERROR') {
    return { move: { event: 'recovered', to: 'WAITING' }, send: sendNext(agent, queue) }
  }
  if (isNext) return agent.state === 'WAITING' ? start(queue, event) : { reason: 'merging' }
  const finished = finishedEffect(event)
  if (finished?.kind !== 'merge' || agent.state !== 'MERGING') {
    return { reason: `not for a merge queue: ${event.type}` }
  }
  return finish(agent, queue, finished)
}

function start(queue: readonly MergeWanted[], { atMs }: AgentEvent): Decision {
  const [first] = queue
  if (first === undefined) return {}
  return {
    move: { event: 'merge_started', to: 'MERGING' },
    set: stored(queue),
    effects: [{ kind: 'merge', input: { ...first.merge, atMs } }],
  }
}

function finish(
  agent: AgentView,
  [first, ...rest]: readonly MergeWanted[],
  { result }: FinishedEffect,
): Decision {
  const set = stored(rest)
  if (first === undefined) return { move: { event: 'merge_ended', to: 'WAITING' }, set }
  const response: ResponseMessage = result.ok
    ? describe(first.request, result.value)
    : { request: first.request, status: 'REJECTED', feedback: describeFailure(result.error) }
  const payload = { request: first.request, response } satisfies MergeFinished
  const told = { to: first.from, type: MERGE_FINISHED, payload: payload as unknown as Json }
  if (result.ok) {
    return {
      move: { event: 'merge_ended', to: 'WAITING' },
      set,
      send: [told, ...sendNext(agent, rest)],
    }
  }
  const recovery: Message = { to: agent.id, type: MERGE_NEXT, payload: null }
  return { move: { event: 'merge_failed', to: 'ERROR' }, set, send: [told, recovery] }
}

/** What is out is waited for by the runtime, and does not come here; no change of the code helps this. */
function describeFailure({ code, message }: EffectError): string {
  return `it could not be carried out (${code}: ${message}). This is no conflict, and no test failed.`
}

/** The next merge begins with an event of its own, since a queue that rests has to move first. */
function sendNext({ id }: AgentView, queue: readonly MergeWanted[]): readonly Message[] {
  return queue.length === 0 ? [] : [{ to: id, type: MERGE_NEXT, payload: null }]
}

/** What a merge came to, as the coder is told. */
function describe(request: string, outcome: Json): ResponseMessage {
  const text = (name: string) => String(fieldOf(outcome, name) ?? '')
  const base = text('onto')
  switch (text('kind')) {
    case 'merged':
      return { request, status: 'APPROVED', feedback: remarkOn(outcome), merged: text('commit') }
    case 'already_merged': {
      const commit = text('commit')
      const feedback = `The story is on the target already, as ${commit}, from the head ${text('head')}. What was handed in since was not merged.`
      return { request, status: 'APPROVED', feedback, merged: commit }
    }
    case 'conflicted': {
      const conflict = { text: describeConflicts(outcome), content: text('content'), base }
      return { request, status: 'NEEDS_CHANGES', feedback: 'conflicts with the target', conflict }
    }
    case 'gate_failed': {
      const tests = describeRun(fieldOf(outcome, 'gate')).text
      const feedback = `Merged with the target, the tests fail:\n${tests}`
      const conflict = { text: bounded(feedback), content: text('content'), base }
      return { request, status: 'NEEDS_CHANGES', feedback: 'the gate is red', conflict }
    }
    case 'nothing_to_merge':
      return { request, status: 'REJECTED', feedback: 'there is nothing to merge' }
    default:
      return { request, status: 'REJECTED', feedback: text('reason') }
  }
}

/** What is to be said of a merge besides that it happened. */
function remarkOn(outcome: Json): string {
  const asLeft = (fieldOf(outcome, 'asLeft') ?? []) as readonly string[]
  const tests = describeRun(fieldOf(outcome, 'gate')).text
  const remarks = [
    ...(asLeft.length > 0
      ? [`Handed in twice as git had left them in a conflict, and merged so: ${asLeft.join(', ')}`]
      : []),
    // Its tree was tested only when it was the target already.
    ...(fieldOf(outcome, 'asTested') === false
      ? [`The target moved while this was merged; tested afterwards:\n${tests}`]
      : []),
  ]
  return bounded(remarks.join('\n'))
}

/** Names every file that conflicts, then shows as many hunks as fit and counts the others. */
function describeConflicts(outcome: Json): string {
  const conflicts = (fieldOf(outcome, 'conflicts') ?? []) as readonly JsonObject[]
  const further = fieldOf(outcome, 'further') ?? {}
  const paths = (fieldOf(further, 'paths') ?? []) as readonly string[]
  const unnamed = Number(fieldOf(further, 'count') ?? 0) - paths.length
  const names = [
    ...conflicts.map(({ path, kind, message }) => `${path}: ${kind}. ${message}`),
    ...paths,
    ...(unnamed > 0 ? [`and ${unnamed} more, whose names do not fit here`] : []),
  ]
  const shown: string[] = []
  let room = HUNKS_CHARS_MAX
  let leftOut = Number(fieldOf(further, 'hunks') ?? 0)
  for (const { path, hunks, hunksLeftOut } of conflicts) {
    leftOut += Number(hunksLeftOut ?? 0)
    for (const hunk of (hunks ?? []) as readonly JsonObject[]) {
      const text = describeHunk(String(path), hunk)
      room -= text.length
      if (room < 0) leftOut += 1
      else shown.push(text)
    }
  }
  const rest =
    leftOut > 0 ? [`${leftOut} more places are not shown here; the files have them, marked.`] : []
  return [names.join('\n'), ...shown, ...rest].join('\n\n')
}

function describeHunk(path: string, { line, target, story, cut }: JsonObject): string {
  const side = (text: Json | undefined) => bounded(String(text), HUNK_CHARS_MAX)
  const part = cut === true ? ', the beginning of each side; the file has all of it' : ''
  return `${path} at line ${line}${part}\n<<< on the target\n${side(target)}=== in the story\n${side(story)}>>>`
}

function stored(queue: readonly MergeWanted[]): JsonObject {
  return { queue: queue as unknown as Json }
}
