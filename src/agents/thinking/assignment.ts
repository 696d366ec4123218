import type { PriceCard } from '../../ledger/price-card.ts'
import type { AgentId, BlobRef } from '../values.ts'

/** What a role has a brain think about in one state. Plain data: it is stored with the agent. */
export type Assignment = {
  /** Which prompt and which tools, such as `coder/planning`. */
  readonly task: string
  readonly state: string
  readonly story: string | null
  /** Whose workspace the tools see; null where there is none. */
  readonly workspace: { readonly run: string; readonly story: string } | null
  /** What the prompt is filled in with; what is large is a blob. */
  readonly variables: Readonly<Record<string, string | BlobRef>>
  /** Tools of the task that this agent has no use for, because its machine lacks the row. */
  readonly withheld: readonly string[]
  /** How many turns there are; in the last one the tool that ends the state is forced. */
  readonly turnsMax: number
  /** Whether a refused key is for the agent to know, and not to be waited out. */
  readonly isToldOfRefusal?: true
}

/** Who thinks, and what is known about it. */
export type Mind = {
  /** The name under which the brain is configured. */
  readonly brain: string
  /** How much a conversation may hold, reply included. */
  readonly contextTokens: number
  readonly outputTokensMax: number
  /** Of an agent, which asks its model as often as it likes: what is set aside for one turn. */
  readonly sessionTokensMax?: number
  /** Null where nobody knows what it costs. */
  readonly price: PriceCard | null
  /** The agent that keeps the books of the run. */
  readonly ledger: AgentId
}
