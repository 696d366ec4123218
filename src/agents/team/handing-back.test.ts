import { expect, test } from 'vitest'
import {
  agentIn as agent,
  eventOf as event,
  MIND,
  SETTINGS,
} from '../../../test/team/agent-data.ts'
import { NO_AMOUNTS } from '../../ledger/amounts.ts'
import { SETTLE_SPENDING, SPENDING_GRANTED } from '../ledger-keeper.ts'
import { OUTAGE } from '../role.ts'
import type { Assignment } from '../thinking/assignment.ts'
import { beginThinking, continueThinking } from '../thinking/thinking.ts'
import { architect } from './architect.ts'
import { coder } from './coder.ts'
import { pmRole } from './pm.ts'
import { REQUEST, STORY } from './protocol.ts'

const settings = { ...SETTINGS, planReview: 'auto' }
const request = (id: string) => ({
  id,
  from: 'run/coder-1',
  story: null,
  settings,
  ask: { kind: 'plan', plan: 'Write it.', round: 1, note: '', earlier: '' },
})

test.each(['I', 'D'] as const)(
  'architect@%s at work has a further request go to somebody else',
  (revision) => {
    const { handle } = architect(revision)
    const busy = agent('architect-1', 'REQUEST', { request: request('first') })
    const waiting = { request: 'second', from: 'run/coder-1' }
    expect(handle(busy, event(REQUEST, request('second')))).toMatchObject({
      send: [{ to: 'run/dispatcher', type: 'request_waiting', payload: waiting }],
    })
    expect(handle(busy, event(REQUEST, request('first'))).send).toBeUndefined()
  },
)

test.each(['I', 'D'] as const)(
  'architect@%s that waits for a human says so, and again to who brings a further request',
  (revision) => {
    const { handle } = architect(revision)
    const told = {
      to: 'run/dispatcher',
      type: 'architect_escalated',
      payload: { agent: 'run/architect-1' },
    }
    const judged = { ...request('first'), settings: { ...settings, planReview: 'human' } }
    const asking = agent('architect-1', 'REQUEST', { request: judged })
    expect(handle(asking, event('go_on', null))).toMatchObject({
      move: { event: 'escalated', to: 'ESCALATED' },
      send: [told],
    })
    const waiting = agent('architect-1', 'ESCALATED', { request: judged })
    const { send } = handle(waiting, event(REQUEST, request('second')))
    expect(send).toMatchObject([told, { type: 'request_waiting' }])
  },
)

test.each(['I', 'D'] as const)(
  'architect@%s takes a request up that came while it recovered',
  (revision) => {
    const { handle } = architect(revision)
    const { set } = handle(agent('architect-1', 'ERROR'), event(REQUEST, request('first')))
    expect(set).toMatchObject({ request: { id: 'first' } })
    const recovered = handle(agent('architect-1', 'ERROR', set), event('go_on', null))
    expect(recovered).toMatchObject({
      move: { event: 'recovered', to: 'WAITING' },
      send: [{ to: 'run/architect-1', type: REQUEST, payload: { id: 'first' } }],
    })
  },
)

test.each(['D', 'F'] as const)(
  'coder@%s at work has a further story go to somebody else, and no attempt counts',
  (revision) => {
    const { handle } = coder(revision)
    const story = { id: 'b', title: 'B', description: '', criteria: [], dependsOn: [] }
    const work = { story, attempt: 1, lessons: [], settings }
    const decision = handle(agent('coder-1', 'SETUP'), event(STORY, work))
    expect(decision.send).toMatchObject([
      {
        to: 'run/story/b',
        type: 'story_ended',
        payload: { coder: 'run/coder-1', end: { kind: 'failed', isCharged: false } },
      },
    ])
    expect(decision.move).toBeUndefined()
  },
)

test.each([
  ['architect-1', architect('I')],
  ['coder-1', coder('F')],
  ['pm', pmRole],
] as const)('%s pays nothing for a call that an outage refused', (place, { handle }) => {
  const begun = agent(place, 'ERROR')
  const assignment: Assignment = {
    task: 'coder/coding',
    withheld: [],
    state: 'CODING',
    story: 'b',
    workspace: null,
    variables: {},
    turnsMax: 3,
  }
  const { decision, thinking } = beginThinking(begun, assignment, MIND)
  const asking = { ...begun, data: decision.set ?? {} }
  const leave = { call: thinking.call, isLast: false }
  const granted = continueThinking(asking, event(SPENDING_GRANTED, leave))
  const story = { id: 'b', title: 'B', description: '', criteria: [], dependsOn: [] }
  const work = { work: { story, attempt: 1, lessons: [], settings }, isAtWork: true }
  const outage = { [OUTAGE]: { reason: 'auth: 401', tries: 5 } }
  const data = { ...asking.data, ...granted?.decision.set, ...work, ...outage }
  const { send } = handle(agent(place, 'ERROR', data), event('suspension_timed_out', null))
  const settled = { agent: `run/${place}`, amounts: NO_AMOUNTS }
  expect(send).toContainEqual({ to: 'run/ledger', type: SETTLE_SPENDING, payload: settled })
})
