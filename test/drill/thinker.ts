import { SPENDING_GRANTED } from '../../src/agents/ledger-keeper.ts'
import { type AgentView, EFFECT_FINISHED } from '../../src/agents/role.ts'
import type { Assignment, Mind } from '../../src/agents/thinking/assignment.ts'
import type { Thought } from '../../src/agents/thinking/outcomes.ts'
import {
  beginThinking,
  continueThinking,
  type ThinkingStep,
} from '../../src/agents/thinking/thinking.ts'
import type { AgentId, Json, JsonObject } from '../../src/agents/values.ts'
import type { Amounts } from '../../src/ledger/amounts.ts'

export const ASSIGNMENT: Assignment = {
  task: 'coder/coding',
  withheld: [],
  state: 'CODING',
  story: 's1',
  workspace: { run: 'r', story: 's1' },
  variables: { story: 'x'.repeat(300) },
  turnsMax: 3,
}
export const MIND: Mind = {
  brain: 'model',
  contextTokens: 50_000,
  outputTokensMax: 1_000,
  price: { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 },
  ledger: 'ledger' as AgentId,
}
export const BLOB = { sha256: 'b', bytes: 900 }
export const THOUGHT: Thought = {
  transcript: { tail: BLOB, travelling: [], parts: 2, bytes: 1_800 },
  calls: [],
  finish: 'stop',
  failure: null,
  tokens: { input: 600, cached: 0, output: 10 },
  contextTokens: 610,
  isUsageKnown: true,
  microdollars: 700,
  model: 'm',
  said: '',
}
export const call = (id: string, isReadOnly: boolean, key = id) => ({
  id,
  name: 't',
  isReadOnly,
  key,
})

interface Told {
  readonly type: string
  readonly payload: { readonly amounts: Amounts; readonly least?: Amounts }
}

/** An agent's thinking, told one event after the other. */
export class Thinker {
  agent: AgentView = {
    id: 'a' as AgentId,
    state: 'CODING',
    origin: null,
    data: {},
    generation: 1,
    seq: 0,
  }
  last: ThinkingStep

  constructor(assignment = ASSIGNMENT, mind = MIND) {
    this.last = beginThinking(this.agent, assignment, mind)
    this.#apply(this.last)
  }

  #apply({ decision }: ThinkingStep): void {
    const data: JsonObject = { ...this.agent.data, ...decision.set }
    this.agent = { ...this.agent, data, seq: this.agent.seq + 1 }
  }

  tell(type: string, payload: Json = null): ThinkingStep | undefined {
    const step = continueThinking(this.agent, { id: 'e', type, payload, atMs: 0 })
    if (step === undefined) return undefined
    this.#apply(step)
    this.last = step
    return step
  }

  grant = (isLast = false, call = this.last.thinking.call) =>
    this.tell(SPENDING_GRANTED, { call, isLast })

  finish(
    kind: string,
    value: unknown,
    effect = this.last.thinking.awaits,
  ): ThinkingStep | undefined {
    return this.tell(EFFECT_FINISHED, { effect, kind, result: { ok: true, value } } as Json)
  }

  think(thought: Partial<Thought>): ThinkingStep | undefined {
    this.grant()
    return this.finish('think', { ...THOUGHT, ...thought })
  }

  use(ids: readonly string[], given: object = {}): ThinkingStep | undefined {
    const transcript = { tail: BLOB, travelling: [], parts: 3, bytes: 2_700 }
    const answers = ids.map((id) => ({
      id,
      isError: false,
      result: 'same',
      mayHaveChanged: false,
      ends: null,
      ...given,
    }))
    return this.finish('use_tools', { transcript, answers })
  }

  effects = () => this.last.decision.effects ?? []
  /** What the ledger is told. */
  sent = () => (this.last.decision.send ?? []) as unknown as readonly Told[]
  input = () => this.effects()[0]?.input as unknown as Record<string, unknown>
}
