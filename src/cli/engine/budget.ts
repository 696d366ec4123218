import { OPEN_BOOKS } from '../../agents/ledger-keeper.ts'
import { AGAIN, ledgerOf } from '../../agents/team/protocol.ts'
import type { EventId, Json, JsonObject, RunId } from '../../agents/values.ts'
import { changeLimits, type LimitsChange } from '../../ledger/change-limits.ts'
import type { LedgerLimits } from '../../ledger/ledger.ts'
import type { Team } from './team.ts'

/** What became of a change: the limits that hold now, and how many went on because of it. */
export type BudgetChanged = { readonly limits: LedgerLimits; readonly resumed: number }

/** Changes what a run may spend, and has those go on who could not for want of it. */
export async function changeBudget(
  { runtime, journal }: Pick<Team, 'runtime' | 'journal'>,
  run: string,
  change: LimitsChange,
): Promise<BudgetChanged> {
  const agents = await journal.readAgents(run as RunId)
  const ledger = agents.find(({ id }) => id === ledgerOf(run))
  if (ledger === undefined) throw new Error(`the run ${run} has no ledger`)
  const before = ledger.data.limits as unknown as LedgerLimits
  const limits = changeLimits(before, change)
  await runtime.deliver({
    id: `${run}:${OPEN_BOOKS}:${crypto.randomUUID()}` as EventId,
    agent: ledger.id,
    type: OPEN_BOOKS,
    payload: limits as unknown as Json,
  })
  const asked = (await journal.readEffects(run as RunId)).filter(
    ({ kind, input }) => kind === 'ask_human' && (input as JsonObject).cause !== undefined,
  )
  const answers = await Promise.all(
    asked.map(({ id }) => runtime.answer(id, { choice: AGAIN, text: AGAIN })),
  )
  return { limits, resumed: answers.filter((answer) => answer === 'accepted').length }
}
