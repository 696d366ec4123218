import { type AgentEvent, type AgentView, finishedEffect } from '../role.ts'
import type { Thought, ThoughtCall, ToolsUsed } from '../thinking/outcomes.ts'

/** The tasks whose answer has a required form, with the tool that takes it. */
const FORMS: Readonly<Record<string, string>> = {
  'coordinator/review': 'submit_review',
  'coordinator/test': 'submit_test_plan',
}

/** How many answers in a row may be in another form. */
export const MALFORMED_MAX = 3

interface Thinking {
  readonly thinking?: { readonly turn: number; readonly calls: readonly ThoughtCall[] }
  readonly ground?: { readonly assignment: { readonly task: string } }
}

/** Whether an event brings an answer that is not in the form that its task requires. */
export function isMalformed({ data }: AgentView, event: AgentEvent): boolean {
  const { thinking, ground } = data as unknown as Thinking
  const form = FORMS[ground?.assignment.task ?? '']
  const finished = finishedEffect(event)
  if (form === undefined || finished === undefined || !finished.result.ok) return false
  if (finished.kind === 'think') {
    const { failure, calls } = finished.result.value as unknown as Thought
    return failure === null ? calls.length === 0 : failure.kind === 'invalid_output'
  }
  if (finished.kind !== 'use_tools') return false
  const { answers } = finished.result.value as unknown as ToolsUsed
  const isAnswer = (id: string) => thinking?.calls.find((call) => call.id === id)?.name === form
  return answers.some(({ id, isError }) => isError && isAnswer(id))
}

/** The agent as if the turn under way were its last. */
export function atLastTurn(agent: AgentView): AgentView {
  const { thinking, ground } = agent.data as unknown as Thinking
  if (thinking === undefined || ground === undefined) return agent
  const assignment = { ...ground.assignment, turnsMax: thinking.turn }
  const data = { ...agent.data, ground: { ...ground, assignment } } as AgentView['data']
  return { ...agent, data }
}
