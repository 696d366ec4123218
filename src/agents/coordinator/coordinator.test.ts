import { describe, expect, test } from 'vitest'
import { findMachine } from '../../machines/catalog.ts'
import { step } from '../../machines/step.ts'
import { type AgentView, OUTAGE } from '../role.ts'
import type { AgentId, Json, JsonObject } from '../values.ts'
import { coordinator } from './coordinator.ts'
import { lossOf } from './coordinator-revision.ts'
import { ABORT_WANTED, FOLLOW_UP_BROUGHT, type TaskSettings } from './protocol.ts'

const AGENT = 't/coordinator' as AgentId
const mind = {
  brain: 'x',
  contextTokens: 1_000,
  outputTokensMax: 100,
  price: null,
  ledger: 't/ledger' as AgentId,
}
const settings: TaskSettings = {
  run: 't',
  target: 'main',
  minds: { coder: mind, reviewer: mind, tester: mind },
  limits: {
    planningTurns: 1,
    codingTurns: 1,
    fixingTurns: 1,
    reviewTurns: 1,
    taskRounds: 1,
    sameFailures: 1,
  },
  tests: {},
}

const agentIn = (state: string | null, data: JsonObject = {}): AgentView => ({
  id: AGENT,
  state,
  origin: null,
  data: { settings: settings as unknown as Json, task: 'Do it.', mode: 'implementation', ...data },
  generation: 1,
  seq: 7,
})
const event = (type: string, payload: Json = null) => ({ id: 'e', type, payload, atMs: 1_000 })

const STATES = [
  'intake',
  'plan',
  'build',
  'review',
  'test',
  'iterate',
  'finalize',
  'SUSPEND',
  'ERROR',
]

describe.each(['1', '2'] as const)('coordinator@%s', (revision) => {
  const role = coordinator(revision)

  test.each(STATES)('is stopped in %s by a row of its table', (state) => {
    const { move, set, effects } = role.handle(
      agentIn(state, { awaits: 'e1' }),
      event(ABORT_WANTED),
    )
    expect(move).toEqual({ event: 'aborted_by_operator', to: 'finalize' })
    expect(step(role.machine, state, 'aborted_by_operator')).toBe('finalize')
    expect(set).toMatchObject({ outcome: 'canceled', awaits: null })
    expect(effects?.map(({ kind }) => kind)).toEqual(['leave_workspace'])
  })

  test('is not stopped before it has a task, nor after it is over', () => {
    expect(role.handle(agentIn(null), event(ABORT_WANTED)).move).toBeUndefined()
    const over = agentIn('finalize', { outcome: 'approved' })
    expect(role.handle(over, event(ABORT_WANTED)).move).toBeUndefined()
  })

  test.each(STATES.slice(0, 6))('takes no follow-up in %s', (state) => {
    const brought = { text: 'More.', mode: 'implementation', isConfirmed: false }
    expect(role.handle(agentIn(state), event(FOLLOW_UP_BROUGHT, brought)).move).toBeUndefined()
  })

  test('an older task with an outcome that is no longer produced can be followed up', () => {
    const old = agentIn('finalize', { outcome: 'proposal_changes_requested' })
    const brought = { text: 'More.', mode: 'proposal', isConfirmed: false }
    const { move, set } = role.handle(old, event(FOLLOW_UP_BROUGHT, brought))
    expect(move).toEqual({ event: 'task_followup_received', to: 'intake' })
    expect(set).toMatchObject({ followUps: ['More.'], outcome: null })
  })

  test.each([
    ['network: connection reset', 'provider_network_error'],
    ['timeout: no answer', 'provider_timeout'],
    ['auth: 401', 'provider_auth_error'],
    ['model is out', 'provider_network_error'],
    ['network: the author: auth: timeout', 'provider_network_error'],
  ])('leaves ERROR by what the outage was: %s', (reason, loss) => {
    const agent = agentIn('ERROR', { [OUTAGE]: { reason, tries: 5 } })
    const { move, set, retry } = role.handle(agent, event('suspension_timed_out'))
    const outcome = revision === '1' ? 'max_iterations_reached' : loss
    expect(move).toEqual({ event: outcome, to: 'finalize' })
    expect(set).toMatchObject({ outcome })
    if (revision === '2') expect(retry).toMatchObject({ count: 5 })
  })
})

test('every outcome has a meaning in the table of its revision', () => {
  const { outcomes = {} } = findMachine('coordinator@2') ?? {}
  expect(Object.keys(outcomes)).toContain('proposal_changes_requested')
})

test.each(['author', 'unauthorised author', 'constructor', 'refused', 'rejected', ''])(
  '%j is no loss of a provider',
  (kind) => expect(lossOf(kind)).toBeUndefined(),
)

test.each([
  ['network', 'provider_network_error'],
  ['overloaded', 'provider_network_error'],
  ['rate_limited', 'provider_network_error'],
  ['timeout', 'provider_timeout'],
  ['stalled', 'provider_timeout'],
  ['auth', 'provider_auth_error'],
  ['quota', 'provider_auth_error'],
])('%s is %s', (kind, loss) => expect(lossOf(kind)).toBe(loss))
