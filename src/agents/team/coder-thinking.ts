import type { Exhausted } from '../../ledger/limits.ts'
import type { Decision } from '../role.ts'
import { type Spent, type ThinkingStep, turnsUsed } from '../thinking/thinking.ts'
import type { Json } from '../values.ts'
import { type CoderCase, fail, request } from './coder-case.ts'
import { asData, bounded, fieldOf } from './coder-work.ts'
import { describeSpent, type MoveTo } from './decisions.ts'
import type { Ask } from './protocol.ts'

export function afterThinking(c: CoderCase, step: ThinkingStep): Decision {
  const { decision } = step
  if (step.kind === 'going') return decision
  if (step.kind === 'spent') {
    const what = nameSpent(step)
    const cause = causeForHuman(step.what)
    return c.agent.state === 'PLANNING'
      ? planningOver(c, decision, what, cause)
      : reviewBudget(c, decision, what, cause)
  }
  if (step.kind === 'failed') {
    const reason = `${step.code}: ${step.message}`
    if (c.agent.state === 'PLANNING') return planningStuck(c, decision, reason)
    return fail(c, { event: 'failed_unrecoverably', to: 'ERROR' }, reason, decision)
  }
  return takeEnding(c, decision, step.tool, step.input)
}

/** In a word or two, unless a provider has said more. */
function nameSpent(spent: Spent): string {
  const { what, said } = spent
  if (typeof what !== 'string') return `${what.scope} ${what.what}`
  return said === undefined ? what : describeSpent(spent)
}

/** Other limits are in the architect's way as well, who then asks; its own model may have a price. */
function causeForHuman(what: 'turns' | 'context' | Exhausted): Exhausted | undefined {
  return typeof what !== 'string' && what.what === 'unpriced' ? what : undefined
}

function takeEnding(c: CoderCase, decision: Decision, tool: string, input: Json): Decision {
  const text = (name: string) => String(fieldOf(input, name) ?? '')
  switch (tool) {
    case 'submit_plan':
      return submitPlan(c, decision, text('plan'), '')
    case 'mark_story_complete': {
      const evidence = bounded(text('evidence'))
      const ask: Ask = { kind: 'completion', evidence, earlier: c.work.earlier.plan }
      return request(c, decision, c.rules.claim ?? undefined, ask)
    }
    case 'ask_question': {
      const ask = { kind: 'question', question: text('question'), tried: text('tried') } as const
      const move: MoveTo = { event: 'question_asked', to: 'QUESTION' }
      const reason = bounded(ask.question, 500)
      const { plan, work } = c.work
      return request(c, { ...decision, reason }, move, { ...ask, plan, spec: work.spec ?? null })
    }
    case 'done': {
      const { story, settings } = c.work.work
      const message = `${story.title}\n\n${bounded(text('summary'), 2_000)}`
      const input = { run: settings.run, story: story.id, message }
      const move: MoveTo = { event: 'code_completed', to: 'TESTING' }
      return { ...decision, move, effects: [{ kind: 'checkpoint', input }] }
    }
    default:
      return fail(
        c,
        { event: 'failed_unrecoverably', to: 'ERROR' },
        `blocked: ${text('reason')}`,
        decision,
      )
  }
}

function submitPlan(
  c: CoderCase,
  decision: Decision,
  plan: string,
  note: string,
  cause?: Exhausted,
): Decision {
  const { counts, earlier } = c.work
  const round = counts.planRounds + 1
  const ask: Ask = { kind: 'plan', plan, round, note, earlier: earlier.plan }
  const move: MoveTo = { event: 'plan_submitted', to: 'PLAN_REVIEW' }
  return request(c, { ...decision, set: { ...decision.set, plan } }, move, ask, cause)
}

/** A spent budget asks for a review where the table has one; else the best plan so far goes in. */
function planningOver(c: CoderCase, decision: Decision, what: string, cause?: Exhausted): Decision {
  if (c.rules.planningSpent.to === 'BUDGET_REVIEW') return reviewBudget(c, decision, what, cause)
  return submitPlan(c, decision, bestPlan(c), `the planning budget is spent: ${what}`, cause)
}

/** The first time somebody may know what to do about it; after that only a decision helps. */
function planningStuck(c: CoderCase, before: Decision, reason: string): Decision {
  const move = c.rules.planningStuck
  if (move.to !== 'QUESTION') return submitPlan(c, before, bestPlan(c), reason)
  const { counts, work } = c.work
  if (counts.stuck > 0) return planningOver(c, before, `planning cannot go on: ${reason}`)
  const set = { ...before.set, ...asData({ counts: { ...counts, stuck: counts.stuck + 1 } }) }
  const question = `Planning cannot go on: ${reason}`
  const decision = { ...before, set, reason: bounded(question, 500) }
  const ask: Ask = { kind: 'question', question, tried: '', plan: '', spec: work.spec ?? null }
  return request(c, decision, move, ask)
}

function bestPlan(c: CoderCase): string {
  const { plan, work } = c.work
  return plan === '' ? `No plan was finished. The story is: ${work.story.description}` : plan
}

export function reviewBudget(
  c: CoderCase,
  decision: Decision,
  spent: string,
  cause?: Exhausted,
): Decision {
  const { counts, plan, tests, diff } = c.work
  const state = c.agent.state ?? ''
  const ask: Ask = {
    kind: 'budget_review',
    state,
    used: spent,
    grants: counts.grants,
    history: historyOf(c),
    decisions: c.rules.decisions,
    plan,
    failures: tests,
    diff: diff ?? null,
  }
  const move: MoveTo = { event: 'budget_exhausted', to: 'BUDGET_REVIEW' }
  const told = { ...decision, set: { ...decision.set, spent }, reason: bounded(spent, 500) }
  return request(c, told, move, ask, cause)
}

/** How far a story came, by what its coder has counted. */
function historyOf({ agent, work: { counts } }: CoderCase): string {
  const { used, most } = turnsUsed(agent)
  const times = (what: string, count: number) =>
    count === 0 ? '' : `${what} ${count === 1 ? 'once' : `${count} times`}.`
  return [
    `The last conversation took ${used} of ${most} turns.`,
    times('The plan was sent back', counts.planRounds),
    times('The code was sent back', counts.codeRounds),
    times('The merge came back', counts.mergeRounds),
  ]
    .filter((part) => part !== '')
    .join(' ')
}
