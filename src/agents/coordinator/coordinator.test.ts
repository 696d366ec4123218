import { describe, expect, test } from 'vitest'
import { findMachine } from '../../machines/catalog.ts'
import { step } from '../../machines/step.ts'
import { type AgentView, EFFECT_FINISHED, OUTAGE } from '../role.ts'
import type { AgentId, Json, JsonObject } from '../values.ts'
import { coordinator } from './coordinator.ts'
import { lossOf } from './coordinator-revision.ts'
import { ABORT_WANTED, FOLLOW_UP_BROUGHT, type TaskSettings } from './protocol.ts'
import { GO_ON } from './task-case.ts'

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
const MORE = { text: 'More.', mode: 'implementation', isConfirmed: false }
const EFFECT = { effect: 'e1' }
const finished = (kind: string, value: Json | object) =>
  event(EFFECT_FINISHED, { ...EFFECT, kind, result: { ok: true, value } } as never)
const failed = (kind: string, code: string) => {
  const error = { code, message: '401: bad credentials' }
  return event(EFFECT_FINISHED, { ...EFFECT, kind, result: { ok: false, error } })
}
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
    const { move, set, effects, cancel } = role.handle(
      agentIn(state, { awaits: 'e1' }),
      event(ABORT_WANTED),
    )
    expect(cancel).toEqual(['e1'])
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
    const { move, set } = role.handle(old, event(FOLLOW_UP_BROUGHT, MORE))
    expect(move).toEqual({ event: 'task_followup_received', to: 'intake' })
    expect(set).toMatchObject({ followUps: ['More.'], outcome: null })
  })

  test('a follow-up forgets how the task had ended, and has its own count of rounds', () => {
    const delivery = { error: 'no route', cause: 'forge_lost' }
    const end = { outcome: 'approved', why: 'x', isSpent: true, cause: 'forge_lost', delivery }
    const { set } = role.handle(agentIn('finalize', end), event(FOLLOW_UP_BROUGHT, MORE))
    const nothing = { outcome: null, why: null, isSpent: null, cause: null, delivery: null }
    expect(set).toMatchObject({ ...nothing, [OUTAGE]: null })
    const left = { awaits: 'e1', tries: 3, mustFix: '- it squares', failure: 'f', sameFailures: 2 }
    const place = { folder: '/w', branch: 'b', base: 'c' }
    const begun = role.handle(agentIn('intake', left), finished('prepare_workspace', place))
    expect(begun.move).toMatchObject({ event: 'implementation_confirmed' })
    expect(begun.set).toMatchObject({ tries: 0, failure: null, sameFailures: 0 })
    // What was to be put right is told to the next coder.
    expect(begun.set).not.toHaveProperty('mustFix')
  })

  test.each([
    ['unauthorized', 'forge_refused'],
    ['server_error', 'forge_lost'],
    ['workspace_failed', null],
  ])('without a workspace, because of %s, the cause is kept: %s', (code, cause) => {
    const { move, set } = role.handle(
      agentIn('intake', { awaits: 'e1' }),
      failed('prepare_workspace', code),
    )
    expect(move).toEqual({ event: 'max_iterations_reached', to: 'finalize' })
    expect(set).toMatchObject({ isSpent: false, cause, why: expect.stringContaining('401') })
  })

  test.each([
    ['unauthorized', 'forge_refused'],
    ['head_moved', null],
  ])('work that could not be handed in, because of %s, has its cause: %s', (code, cause) => {
    const { set } = role.handle(
      agentIn('finalize', { awaits: 'e1', outcome: 'approved' }),
      failed('open_pull_request', code),
    )
    expect(set).toEqual({ awaits: null, delivery: { error: '401: bad credentials', cause } })
  })

  test('a forge that stays away before there is a workspace is no provider', () => {
    const outage = { reason: 'network: no route', tries: 5 }
    const agent = agentIn('ERROR', { awaits: 'e1', [OUTAGE]: outage })
    const { move, set, cancel } = role.handle(agent, event('suspension_timed_out'))
    expect(move).toEqual({ event: 'max_iterations_reached', to: 'finalize' })
    expect(set).toMatchObject({ cause: 'forge_lost', isSpent: false })
    expect(cancel).toEqual(['e1'])
  })

  test.each([
    [19_000, { sha256: 'd', bytes: 19_000 }],
    [150_000, expect.stringMatching(/has 150000 bytes.*git status/)],
  ])('a coder is shown a change of %i bytes as %j', (bytes, shown) => {
    const agent = agentIn('iterate', { diff: { sha256: 'd', bytes }, mustFix: 'x' })
    const { set } = role.handle(agent, event(GO_ON))
    const { ground } = set as unknown as { ground: { assignment: { variables: object } } }
    expect(ground.assignment.variables).toMatchObject({ diff: shown })
  })

  describe('tests that passed', () => {
    const run = (...commands: readonly object[]) => ({ verdict: 'passed', message: 'm', commands })
    const own = { argv: ['sh', 'test.sh'], cwd: null, evidence: 'exit_code' }
    const other = { argv: ['node', '-e', '0'], cwd: null, evidence: 'exit_code' }
    const judged = (value: object, data: JsonObject) =>
      role.handle(
        agentIn('test', { awaits: 'e1', head: 'h', ...data }),
        finished('run_tests', value),
      ).move?.event
    const known = { known: [{ argv: ['sh', 'test.sh'] }] }

    test.each([
      ['tests_failed', 'nobody says that it tests anything', run(other), {}],
      ['tests_failed', 'nothing ran', run(), known],
      ['tests_passed', 'a runner has counted', run(other, { ...other, evidence: 'counted' }), {}],
      ['tests_passed', 'a runner has reported', run({ ...other, evidence: 'reported' }), {}],
      ['tests_passed', "it is the repository's own", run(other, own), known],
      ['tests_failed', 'it is the same in another place', run({ ...own, cwd: 'a' }), known],
    ] as const)('are %s where %s', (expected, _, value, data) => {
      expect(judged(value, data as JsonObject)).toBe(expected)
    })

    test('are no pass of a commit that its own tests failed on before', () => {
      const red = { head: 'h', fingerprint: 'f', text: 'no stamp' }
      expect(judged(run(own), { ...known, red })).toBe('tests_failed')
      expect(judged(run(own), { ...known, red: { ...red, head: 'another' } })).toBe('tests_passed')
    })

    test('what was configured is run in the end where nobody could look before', () => {
      const tests = { commands: [{ argv: ['npm', 'test'] }] }
      const agent = agentIn('build', {
        awaits: 'e1',
        head: 'h',
        diff: { sha256: 'd', bytes: 1 },
        settings: { ...settings, tests } as unknown as Json,
      })
      const { set } = role.handle(agent, failed('run_tests', 'sandbox_failed'))
      expect(set).toMatchObject({ known: tests.commands, red: null })
    })
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
    // The older table has no name for it; the cause says it.
    else expect(set).toMatchObject({ cause: loss })
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
