import {
  type AgentEvent,
  type Decision,
  type FinishedEffect,
  finishedEffect,
  OUTAGE,
  type Outage,
  type Role,
} from '../role.ts'
import { bounded, fieldOf } from '../team/coder-work.ts'
import { describeSpent, joined } from '../team/decisions.ts'
import { continueThinking, type ThinkingStep } from '../thinking/thinking.ts'
import type { Json } from '../values.ts'
import { type Cause, COORDINATOR_REVISIONS, forgeCauseOf, lossOf } from './coordinator-revision.ts'
import {
  build,
  commit,
  confirm,
  goRound,
  iterate,
  judgeTests,
  review,
  runPlan,
  takeReview,
  testCommit,
} from './implementation.ts'
import { atLastTurn, isMalformed, MALFORMED_MAX } from './malformed.ts'
import { discussReview, discussTests, endDiscussion, propose } from './proposal.ts'
import {
  ABORT_WANTED,
  awaitsOperator,
  type Brought,
  FOLLOW_UP_BROUGHT,
  PROPOSAL_CONFIRMED,
  TASK_BROUGHT,
  TASK_STORY,
  type TaskBrought,
  type TaskSettings,
} from './protocol.ts'
import { abandoned, ask, finalize, GO_ON, giveUp, type TaskCase } from './task-case.ts'
import { asTaskData, type Delivery, type TaskWork, taskWorkOf } from './task-work.ts'

/** The behaviour of a coordinator under one revision of its document. */
export function coordinator(revision: keyof typeof COORDINATOR_REVISIONS): Role {
  const rules = COORDINATOR_REVISIONS[revision]
  return {
    name: `coordinator@${revision}`,
    machine: rules.machine,
    recycles: false,
    initialData: {},
    urgent: [ABORT_WANTED],
    handle(agent, event) {
      const work = taskWorkOf(agent)
      return decide({ rules, agent, work, atMs: event.atMs }, event)
    },
  }
}

function decide(c: TaskCase, event: AgentEvent): Decision {
  const { type, payload } = event
  if (type === TASK_BROUGHT) return takeTask(c, payload as unknown as TaskBrought)
  if (c.agent.state === null) return { reason: `no task for ${type}` }
  if (type === ABORT_WANTED) return abort(c)
  if (type === FOLLOW_UP_BROUGHT) return takeFollowUp(c, payload as unknown as Brought)
  if (type === PROPOSAL_CONFIRMED) return takeConfirmation(c)
  if (type === 'suspension_timed_out') return endSuspension(c)
  if (type === GO_ON) return takeStep(c)
  const isAmiss = isMalformed(c.agent, event)
  const malformed = c.work.malformed + (isAmiss ? 1 : 0)
  const view = malformed >= MALFORMED_MAX ? atLastTurn(c.agent) : c.agent
  const step = continueThinking(view, event)
  if (step !== undefined) {
    const counted = { ...c, work: { ...c.work, malformed } }
    return afterThinking(counted, event, isAmiss ? counting(step, malformed) : step)
  }
  const finished = finishedEffect(event)
  return finished?.effect === c.work.awaits
    ? takeOutcome(c, finished)
    : { reason: `not for a coordinator in ${c.agent.state}: ${type}` }
}

function counting(step: ThinkingStep, malformed: number): ThinkingStep {
  const decision = joined(step.decision, { set: asTaskData({ malformed }) })
  return { ...step, decision }
}

function takeTask(c: TaskCase, { settings, text, mode, isConfirmed }: TaskBrought): Decision {
  if (c.agent.state !== null) return { reason: 'it has a task' }
  const set = asTaskData({ settings, task: text, mode, isConfirmed })
  return intake(c, settings, { move: { event: 'task_received', to: 'intake' }, set })
}

/** Whatever is done next is done in the task's workspace. */
function intake(c: TaskCase, { run, target }: TaskSettings, decision: Decision): Decision {
  const input = { run, story: TASK_STORY, target }
  return ask(c, decision, { kind: 'prepare_workspace', input })
}

const isOver = ({ agent, work }: TaskCase) => agent.state === 'finalize' && work.awaits === null

function takeFollowUp(c: TaskCase, { text, mode, isConfirmed }: Brought): Decision {
  if (!isOver(c)) return { reason: 'the task is under way' }
  const followUps = [...c.work.followUps, text]
  return again(c, { followUps, mode, isConfirmed })
}

function takeConfirmation(c: TaskCase): Decision {
  if (!isOver(c) || !awaitsOperator(c.work.outcome)) return { reason: 'nothing to confirm' }
  return again(c, { mode: 'implementation', isConfirmed: false })
}

function again(c: TaskCase, changed: Partial<TaskWork>): Decision {
  const over = { outcome: null, why: null, isSpent: null, cause: null, delivery: null }
  const set = { ...asTaskData(changed), ...over, [OUTAGE]: null }
  const move = { event: 'task_followup_received', to: 'intake' } as const
  return intake(c, c.work.settings, { move, set })
}

/** Where a state has nothing to wait for. */
function takeStep(c: TaskCase): Decision {
  if (c.agent.state === 'plan') return build(c)
  if (c.agent.state === 'iterate') return goRound(c)
  return { reason: 'it went on already' }
}

/** Gives up whatever is under way. What is finished and handed in stays finished. */
function abort(c: TaskCase): Decision {
  if (isOver(c) && !awaitsOperator(c.work.outcome)) return { reason: 'the task is over' }
  const end = { outcome: 'canceled', why: 'the operator stopped it' } as const
  return finalize(c, abandoned(c), 'aborted_by_operator', end)
}

function takeOutcome(c: TaskCase, { kind, result }: FinishedEffect): Decision {
  const { state } = c.agent
  if (kind === 'prepare_workspace') return setUp(c, result)
  if (kind === 'checkpoint') return testCommit(c, result)
  if (kind === 'run_tests') return state === 'build' ? review(c, result) : judgeTests(c, result)
  return { set: asTaskData({ awaits: null, delivery: deliveryOf(result) }) }
}

function deliveryOf(result: FinishedEffect['result']): Delivery {
  if (!result.ok) {
    return { error: result.error.message, cause: forgeCauseOf(result.error.code) ?? null }
  }
  const url = fieldOf(result.value, 'url') as string | null
  return { number: Number(fieldOf(result.value, 'number')), url }
}

function setUp(c: TaskCase, result: FinishedEffect['result']): Decision {
  if (!result.ok) {
    const cause = forgeCauseOf(result.error.code)
    const what = cause === undefined ? 'there is no workspace' : 'the forge'
    return giveUp(c, {}, `${what}: ${result.error.message}`, { cause })
  }
  const set = { place: result.value, awaits: null }
  return joined({ set }, c.work.mode === 'proposal' ? propose(c) : confirm(c))
}

function afterThinking(c: TaskCase, event: AgentEvent, step: ThinkingStep): Decision {
  const { decision } = step
  switch (step.kind) {
    case 'going':
      return decision
    case 'ended':
      return takeEnding(c, decision, step.tool, step.input)
    case 'spent': {
      const { what, said } = step
      if (typeof what !== 'string')
        return giveUp(c, decision, describeSpent(step), { isSpent: true })
      const why = said === undefined ? SPENT[what] : `${SPENT[what]}: ${said}`
      return notAnswered(c, decision, why, true)
    }
    case 'failed': {
      if (step.code === 'refused') {
        return notAnswered(c, decision, `refused: ${step.message}`, false)
      }
      const { code, message } = step
      // A tool that took too long is no provider that did.
      const isProvider = finishedEffect(event)?.kind === 'think'
      return isProvider
        ? loseProvider(c, decision, { code, message, tries: 1 })
        : giveUp(c, decision, `${code}: ${message}`)
    }
  }
}

/** What was used up, in words. */
const SPENT = { turns: 'the turns are spent', context: 'the context window is full' } as const

function takeEnding(c: TaskCase, decision: Decision, tool: string, input: Json): Decision {
  switch (tool) {
    case 'submit_proposal':
      return discussReview(c, decision, input)
    case 'submit_opinion':
      return c.agent.state === 'review'
        ? discussTests(c, decision, input)
        : endDiscussion(c, decision, input)
    case 'done':
      return commit(c, decision, input)
    case 'submit_review':
      return takeReview(c, decision, input)
    case 'submit_test_plan':
      return runPlan(c, decision, input)
    default: {
      const why = `the coder is blocked: ${fieldOf(input, 'reason')}`
      return giveUp(c, decision, why)
    }
  }
}

/** Somebody did not answer, or not in the required form. It never counts as a yes. */
function notAnswered(c: TaskCase, decision: Decision, why: string, isSpent: boolean): Decision {
  const { agent, work } = c
  const said = work.malformed > 0 ? `${work.malformed} answers were not in the required form` : why
  const retry = { count: work.malformed, reason: bounded(said, 500) }
  if (agent.state === 'review') {
    const end = { outcome: 'review_schema_invalid', why: `the reviewer: ${said}`, retry } as const
    return finalize(c, decision, 'review_schema_invalid', end)
  }
  if (agent.state === 'test' && work.mode === 'implementation') {
    const mustFix = `No test commands were named for this change (${said}). Make it plain how the change is tested: tests that the repository's own command runs.`
    return iterate(c, decision, 'tester_schema_invalid', mustFix, {}, retry)
  }
  return giveUp(c, decision, `nobody answered in ${agent.state}: ${why}`, { isSpent })
}

interface Lost {
  readonly code: string
  readonly message: string
  readonly tries: number
}

/** A provider that is lost for good ends the task, by a row of its own where there is one. */
function loseProvider(c: TaskCase, decision: Decision, { code, message, tries }: Lost): Decision {
  const why = `${code}: ${message}`
  const loss = lossOf(code)
  if (loss === undefined || !c.rules.knowsLosses) return giveUp(c, decision, why, { cause: loss })
  const retry = { count: tries, reason: why }
  return finalize(c, decision, loss, { outcome: loss, why, retry })
}

/** In ERROR, because no service came back in time. */
function endSuspension(c: TaskCase): Decision {
  if (c.agent.state !== 'ERROR') return { reason: 'it went on already' }
  const { reason = '', tries = 1 } = (c.agent.data[OUTAGE] ?? {}) as unknown as Partial<Outage>
  const [code = '', ...rest] = reason.split(': ')
  // Besides thinking, nothing but the forge needs a service.
  if (c.work.awaits !== null) return loseForge(c, reason, forgeCauseOf(code) ?? 'forge_lost')
  const known = lossOf(code) === undefined ? 'network' : code
  return loseProvider(c, abandoned(c), {
    code: known,
    message: rest.length === 0 ? reason : rest.join(': '),
    tries,
  })
}

/** What was approved stays approved, though the forge could not be told. */
function loseForge(c: TaskCase, reason: string, cause: Cause): Decision {
  const { outcome, why, isSpent } = c.work
  const lost = giveUp(c, abandoned(c), `the forge: ${reason}`, { cause })
  if (outcome === null) return lost
  const delivery = { error: reason, cause }
  const set = asTaskData({ outcome, why, isSpent, cause: null, delivery })
  return joined(lost, { set, reason: bounded(`${outcome}, but not handed in: ${reason}`, 500) })
}
