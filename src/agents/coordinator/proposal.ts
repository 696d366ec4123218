import type { Decision } from '../role.ts'
import { fieldOf } from '../team/coder-work.ts'
import { joined } from '../team/decisions.ts'
import type { Json } from '../values.ts'
import { PROPOSAL_CONFIRMED } from './protocol.ts'
import { beginRound, discussionOf, finalize, inRound, type TaskCase, think } from './task-case.ts'
import { asTaskData, roundOf } from './task-work.ts'

/** The coder proposes; nobody in this mode has a tool that writes. */
export function propose(c: TaskCase): Decision {
  const variables = { discussion: discussionOf(c) }
  const move = { event: 'draft_proposal', to: 'plan' } as const
  return think(c, 'coder', 'coordinator/propose', move, variables, beginRound(c, 'discussion'))
}

/** The reviewer says what it thinks of the proposal. */
export function discussReview(c: TaskCase, decision: Decision, input: Json): Decision {
  const proposal = String(fieldOf(input, 'proposal') ?? '')
  const set = { ...asTaskData({ proposal }), ...inRound(c, { proposal }) }
  const move = { event: 'roundtable_reviewer', to: 'review' } as const
  const variables = { proposal, discussion: discussionOf(c) }
  const next = think(c, 'reviewer', 'coordinator/discuss-review', move, variables, set)
  return joined(decision, next)
}

/** The tester says how it would be tested. */
export function discussTests(c: TaskCase, decision: Decision, input: Json): Decision {
  const opinion = String(fieldOf(input, 'opinion') ?? '')
  const move = { event: 'roundtable_tester', to: 'test' } as const
  const variables = { proposal: c.work.proposal, opinion, discussion: discussionOf(c) }
  const set = inRound(c, { reviewerSays: opinion })
  const next = think(c, 'tester', 'coordinator/discuss-tests', move, variables, set)
  return joined(decision, next)
}

/** Everybody was heard: the operator decides, or has decided beforehand. */
export function endDiscussion(c: TaskCase, before: Decision, input: Json): Decision {
  const testerSays = String(fieldOf(input, 'opinion') ?? '')
  const round = roundOf(c.agent, c.work.rounds)
  const outcome = c.rules.discussed
  const heard = round && inRound(c, { testerSays, cameTo: outcome, endedMs: c.atMs })
  const decision = joined(before, { set: heard ?? {} })
  const end = finalize(c, decision, 'await_operator_confirm', { outcome, why: '' })
  if (!c.work.isConfirmed) return end
  return joined(end, { send: [{ to: c.agent.id, type: PROPOSAL_CONFIRMED, payload: null }] })
}
