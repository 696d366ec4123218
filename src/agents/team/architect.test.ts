import { expect, test } from 'vitest'
import { agentIn, eventOf, MIND } from '../../../test/team/agent-data.ts'
import { type AgentView, EFFECT_FINISHED } from '../role.ts'
import { beginThinking } from '../thinking/thinking.ts'
import type { AgentId, Json, JsonObject } from '../values.ts'
import { architect } from './architect.ts'
import { loadStories } from './architect-case.ts'
import { ARCHITECT_REVISIONS, architectWorkOf } from './architect-work.ts'
import { DEFAULT_LIMITS, REQUEST } from './protocol.ts'

const assignment = {
  task: 'architect/scoping',
  withheld: [],
  state: 'REQUEST',
  story: null,
  workspace: null,
  variables: {},
  turnsMax: 30,
}
const request = (id: string) => ({
  id,
  from: 'run/pm',
  story: null,
  settings: { run: 'run', limits: DEFAULT_LIMITS, minds: { architect: MIND } },
  ask: { kind: 'spec', spec: { title: 'T', body: 'B', criteria: [] }, problems: '' },
})

/** An architect that hands in stories; each time it is told what is wrong with them. */
function handingIn(revision: 'I' | 'D', state: string) {
  const { handle } = architect(revision)
  const fresh: AgentView = {
    id: 'run/architect-1' as AgentId,
    state,
    origin: null,
    data: {},
    generation: 1,
    seq: 1,
  }
  const begun = beginThinking(fresh, assignment, MIND).decision.set
  let agent = { ...fresh, data: { ...begun, request: request('q1') } as unknown as JsonObject }
  return {
    untaken: (...problems: string[]) => {
      const payload = {
        effect: 'e',
        kind: 'load_stories',
        result: { ok: true, value: { problems } },
      }
      const event = { id: 'e', type: EFFECT_FINISHED, payload: payload as Json, atMs: 0 }
      const decision = handle(agent, event)
      agent = { ...agent, data: { ...agent.data, ...decision.set }, seq: agent.seq + 1 }
      return decision.move?.to ?? 'goes on'
    },
    take: (id: string) => {
      agent = { ...agent, data: { ...agent.data, request: request(id) as unknown as Json } }
    },
  }
}

test.each([
  ['I', 'REQUEST', 'ESCALATED'],
  ['D', 'SCOPING', 'ERROR'],
] as const)(
  'architect@%s: stories with the same problems three times in a row are not asked for again',
  (revision, state, end) => {
    const { untaken } = handingIn(revision, state)
    const first = [untaken('a waits for itself'), untaken('a waits for itself')]
    expect(first).toEqual(['goes on', 'goes on'])
    // Something has changed, and so may go on changing.
    expect([untaken('no story b'), untaken('no story b')]).toEqual(['goes on', 'goes on'])
    expect(untaken('no story b')).toBe(end)
    // Whoever lets it try again does so with all tries.
    expect(untaken('no story b')).toBe('goes on')
  },
)

test('what was wrong with the stories of another request does not count', () => {
  const { untaken, take } = handingIn('I', 'REQUEST')
  untaken('a waits for itself')
  untaken('a waits for itself')
  take('q2')
  expect(untaken('a waits for itself')).toBe('goes on')
})

test('a long spec goes with its stories without its middle, and that is said', () => {
  const body = `first ${'x'.repeat(50_000)}`
  const spec = { title: 'T', body, criteria: [{ id: '1', text: 'It is last.' }] }
  const data = { request: { ...request('q1'), ask: { kind: 'spec', spec } } }
  const agent = { data: data as unknown as JsonObject } as AgentView
  const c = { rules: ARCHITECT_REVISIONS.I, agent, work: architectWorkOf(agent), atMs: 0 }
  const [effect] = loadStories(c, {}, { stories: [] }).effects ?? []
  const told = String((effect?.input as JsonObject | undefined)?.spec)
  expect(told.length).toBeLessThan(21_000)
  expect(told).toMatch(
    /^T\n\nfirst x+\n\[.*left out.*\]\nx+\n\nAcceptance criteria:\n1. It is last\.$/,
  )
})

test('a further spec is thought about in a clone that is there, whatever became of the one before', () => {
  const { handle } = architect('I')
  const agent = agentIn('architect-1', 'MONITORING', { hasSpec: true })
  const taken = handle(agent, eventOf(REQUEST, request('q1')))
  expect(taken).toMatchObject({
    move: { to: 'REQUEST' },
    effects: [
      {
        kind: 'prepare_workspace',
        input: { run: 'run', story: 'architect-1.own', onto: 'target' },
      },
    ],
  })
  const preparing = { ...agent, state: 'REQUEST', data: { ...agent.data, ...taken.set } }
  const prepared = (result: object) =>
    handle(preparing, eventOf(EFFECT_FINISHED, { effect: 'e', kind: 'prepare_workspace', result }))
  expect(prepared({ ok: true, value: {} }).set).toMatchObject({
    ground: { assignment: { workspace: { run: 'run', story: 'architect-1.own' } } },
  })
  const failed = prepared({ ok: false, error: { code: 'no', message: 'no room', retry: 'never' } })
  expect(failed).toMatchObject({ move: { to: 'ERROR' }, reason: 'no room' })
})
