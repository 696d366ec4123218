import { expect, test } from 'vitest'
import type { Story } from '../../stories/story.ts'
import type { AgentView, Role } from '../role.ts'
import type { AgentId, Json } from '../values.ts'
import { dispatcherRole } from './dispatcher.ts'
import { DEFAULT_LIMITS } from './protocol.ts'
import { CUT_STORY, storyRole } from './story-agent.ts'

/** A dispatcher and its stories; coders take a story, and merge it when they are told to. */
function run(coders: number) {
  const agents = new Map<string, { role: Role; view: AgentView }>()
  const busy = new Map<string, string>()
  let largest = 0
  const make = (id: string, role: Role) => {
    const state = role.machine.initial
    const view = {
      id: id as AgentId,
      state,
      origin: null,
      data: role.initialData,
      generation: 1,
      seq: 0,
    }
    agents.set(id, { role, view })
  }
  const tell = (to: string, type: string, payload: unknown = null) => {
    const mail = [{ to, type, payload }]
    for (let next = mail.shift(); next !== undefined; next = mail.shift()) {
      if (next.type === 'story') {
        busy.set(next.to, (next.payload as { story: Story }).story.id)
        continue
      }
      const agent = agents.get(next.to)
      if (agent === undefined) continue
      const event = { id: 'e', type: next.type, payload: next.payload as Json, atMs: 0 }
      const { move, set = {}, send = [] } = agent.role.handle(agent.view, event)
      const { view } = agent
      const data = Object.entries({ ...view.data, ...set }).filter(([, value]) => value !== null)
      const state = move?.to ?? view.state
      agent.view = { ...view, data: Object.fromEntries(data), state, seq: view.seq + 1 }
      largest = Math.max(largest, JSON.stringify(agent.view.data).length)
      mail.push(...send)
    }
  }
  make('r/dispatcher', dispatcherRole)
  for (let i = 0; i < coders; i += 1) tell('r/dispatcher', 'coder_idle', { agent: `r/coder-${i}` })
  return {
    tell,
    busy,
    largest: () => largest,
    stateOf: (id: string) => agents.get(id)?.view.state,
    load(count: number, given: (i: number) => Partial<Story> = () => ({})) {
      tell('r/dispatcher', 'stories_loaded', { count })
      for (let i = 0; i < count; i += 1) {
        make(`r/story/${i}`, storyRole)
        const story = {
          id: String(i),
          title: '',
          description: '',
          criteria: [],
          dependsOn: [],
          expectedFiles: [],
          kind: 'app',
          estimate: 'small',
          ...given(i),
        }
        const settings = { run: 'r', limits: DEFAULT_LIMITS }
        tell(`r/story/${i}`, 'story_loaded', { story, dependents: [], settings })
      }
    },
    /** Lets every coder who has one merge its story, once. */
    merge() {
      for (const [coder, story] of [...busy]) {
        busy.delete(coder)
        const end = { kind: 'merged', commit: 'c' }
        tell(`r/story/${story}`, 'story_ended', { coder, end })
        tell('r/dispatcher', 'coder_idle', { agent: coder })
      }
    },
  }
}

test.each([1, 63, 64, 65, 200, 1_000])(
  '%i stories that are ready at once are all merged',
  (count) => {
    const team = run(4)
    team.load(count)
    for (let i = 0; i < count && team.busy.size > 0; i += 1) team.merge()
    const states = Array.from({ length: count }, (_, i) => team.stateOf(`r/story/${i}`))
    expect(new Set(states)).toEqual(new Set(['MERGED']))
    expect(team.stateOf('r/dispatcher')).toBe('CLOSED')
  },
)

test('a further spec without a further story leaves a run at its end', () => {
  const team = run(1)
  team.load(1)
  team.merge()
  team.load(0)
  expect(team.stateOf('r/dispatcher')).toBe('CLOSED')
})

test('what the dispatcher holds does not grow with the stories', () => {
  const sizes = [200, 2_000].map((count) => {
    const team = run(1)
    team.load(count)
    return team.largest()
  })
  expect(sizes[1]).toBeLessThan((sizes[0] ?? 0) * 1.2)
})

test('stories that were cut while they stood in line are passed over', () => {
  const team = run(1)
  team.load(150)
  for (let i = 60; i < 140; i += 2) team.tell(`r/story/${i}`, CUT_STORY)
  for (let i = 0; i < 150 && team.busy.size > 0; i += 1) team.merge()
  const states = Array.from({ length: 150 }, (_, i) => team.stateOf(`r/story/${i}`))
  expect(states.filter((state) => state === 'CUT')).toHaveLength(40)
  expect(states.filter((state) => state === 'MERGED')).toHaveLength(110)
  expect(team.stateOf('r/dispatcher')).toBe('CLOSED')
})

test('one at a time works on a file, and devops work comes first', () => {
  const team = run(3)
  team.load(3, (i) => ({ expectedFiles: i === 2 ? ['b.ts'] : ['a.ts'] }))
  expect([...team.busy.values()].sort()).toEqual(['0', '2'])
  team.merge()
  expect([...team.busy.values()]).toEqual(['1'])
  const other = run(0)
  other.load(3, (i) => ({ kind: i === 2 ? 'devops' : 'app' }))
  other.tell('r/dispatcher', 'coder_idle', { agent: 'r/coder-9' })
  expect([...other.busy.values()]).toEqual(['2'])
})

/** A dispatcher alone: who was brought together, and which architects it asked for. */
function requests(stored = dispatcherRole.initialData) {
  const given: string[] = []
  const further: Json[] = []
  let data = stored
  const tell = (type: string, payload: Json) => {
    const view = {
      id: 'r/dispatcher' as AgentId,
      state: 'OPEN',
      origin: null,
      data,
      generation: 1,
      seq: 0,
    }
    const event = { id: 'e', type, payload, atMs: 0 }
    const { set = {}, send = [], effects = [] } = dispatcherRole.handle(view, event)
    data = { ...data, ...set }
    for (const { payload: free } of send) given.push(JSON.stringify(free))
    further.push(...effects.map(({ input }) => input))
  }
  return {
    given,
    further,
    tell,
    idle: (i: number) => tell('architect_idle', { agent: `r/architect-${i}` }),
    escalated: (i: number) => tell('architect_escalated', { agent: `r/architect-${i}` }),
    waiting: (i: number) => tell('request_waiting', { request: `${i}`, from: `r/coder-${i}` }),
  }
}

test('every request gets an architect, in order, and each of them one at a time', () => {
  const { given, further, idle, waiting } = requests()
  waiting(1)
  waiting(2)
  idle(1)
  idle(2)
  idle(2)
  waiting(3)
  expect(given).toEqual([
    '{"request":"1","architect":"r/architect-1"}',
    '{"request":"2","architect":"r/architect-2"}',
    '{"request":"3","architect":"r/architect-2"}',
  ])
  expect(further).toEqual([])
})

const NOT_ADDED = {
  effect: 'r/dispatcher:1.0',
  kind: 'add_architect',
  result: { ok: false, error: { code: 'crashed', message: 'no' } },
}
const FURTHER = { agent: 'r/architect-3', like: 'r/architect-1' }

/** Two architects, both at a request, of whom one waits for a human. */
function oneEscalated() {
  const team = requests()
  for (const i of [1, 2]) team.idle(i)
  for (const i of [1, 2]) team.waiting(i)
  team.escalated(1)
  return team
}

test('a request that only humans hold up gets a further architect', () => {
  const { given, further, idle, escalated, waiting } = oneEscalated()
  waiting(3)
  // The second is about to be free.
  expect(further).toEqual([])
  escalated(2)
  waiting(4)
  expect(further).toEqual([FURTHER])
  idle(3)
  idle(3)
  expect(given.slice(2)).toEqual([
    '{"request":"3","architect":"r/architect-3"}',
    '{"request":"4","architect":"r/architect-3"}',
  ])
})

test('where nothing is asked, nobody is added, and whoever is back stays', () => {
  const { given, further, idle, escalated, waiting } = oneEscalated()
  escalated(2)
  expect(further).toEqual([])
  waiting(3)
  idle(3)
  idle(1)
  idle(2)
  for (const i of [1, 2]) waiting(i)
  for (const i of [1, 2]) escalated(i)
  waiting(4)
  // The third is at request 3, and there are no more than ever had to be.
  expect(further).toEqual([FURTHER])
  idle(3)
  expect(given.at(-1)).toBe('{"request":"4","architect":"r/architect-3"}')
})

test('an architect that could not be added is asked for again', () => {
  const { further, tell, escalated, waiting } = oneEscalated()
  escalated(2)
  waiting(3)
  tell('effect_finished', NOT_ADDED)
  waiting(4)
  expect(further).toEqual([FURTHER, FURTHER])
})

test('an architect who joins while another cannot be added stays in the team', () => {
  const { further, tell, idle, escalated, waiting } = oneEscalated()
  escalated(2)
  waiting(3)
  idle(7)
  tell('effect_finished', NOT_ADDED)
  waiting(4)
  // The seventh is at request 3, and about to be free.
  expect(further).toEqual([FURTHER])
  escalated(7)
  expect(further).toEqual([FURTHER, FURTHER])
})

test('a team that a former version has not kept is not asked for anew', () => {
  const { team: _, escalated: __, making: ___, ...former } = dispatcherRole.initialData
  const { further, escalated, waiting } = requests(former)
  escalated(2)
  waiting(1)
  // The first is there, and has not been heard of; to ask for it again changes nothing.
  expect(further).toEqual([{ agent: 'r/architect-1', like: 'r/architect-2' }])
  escalated(1)
  expect(further.slice(1)).toEqual([{ agent: 'r/architect-3', like: 'r/architect-2' }])
})
