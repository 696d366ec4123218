import type { AgentEvent, AgentView } from '../../src/agents/role.ts'
import { DEFAULT_LIMITS } from '../../src/agents/team/protocol.ts'
import type { AgentId, Json, JsonObject } from '../../src/agents/values.ts'

/** Who thinks for an agent of the run `run`, where nobody is asked. */
export const MIND = {
  brain: 'model',
  contextTokens: 100_000,
  outputTokensMax: 4_096,
  price: null,
  ledger: 'run/ledger' as AgentId,
}

/** What a team of that run goes by. */
export const SETTINGS = {
  run: 'run',
  target: 'main',
  minds: { pm: MIND, architect: MIND, coder: MIND },
  limits: DEFAULT_LIMITS,
  planReview: 'model',
  tests: {},
}

/** An agent of that run, as its role sees it. */
export function agentIn(
  place: string,
  state: string,
  data: object = {},
  origin: string | null = null,
): AgentView {
  const id = `run/${place}` as AgentId
  return { id, state, origin, data: data as JsonObject, generation: 1, seq: 7 }
}

/** An event, as a role sees it. */
export function eventOf(type: string, payload: unknown): AgentEvent {
  return { id: 'e', type, payload: payload as Json, atMs: 0 }
}
