import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { AgentRecord, RunRecord, StoredRow } from '../../runtime/records.ts'
import type { Health } from '../../runtime/runtime.ts'
import { followRun } from './follow.ts'
import type { RunSource } from './run-source.ts'

const run = { id: 'r', status: 'running', createdMs: 0, config: {} } as unknown as RunRecord
const PAUSED: RunRecord = { ...run, status: 'paused' }
const agent = (place: string, state: string) =>
  ({
    key: 1,
    id: `r/${place}`,
    role: place,
    state,
    data: {},
    generation: 1,
  }) as unknown as AgentRecord
const row = (seq: number, move: string) =>
  ({
    seq,
    kind: 'moved',
    agentId: 'r/pm',
    from: 'A',
    to: 'B',
    move,
    body: {},
    atMs: 0,
  }) as unknown as StoredRow

/** A run as it is stored, and nothing happens in it. */
function source(agents: readonly AgentRecord[], moves: readonly string[]): RunSource {
  const rows = moves.map((move, i) => row(i + 1, move))
  return {
    runs: async () => [run],
    agents: async () => agents,
    effects: async () => [],
    lastMs: async () => null,
    rows: async (_, afterSeq) => rows.filter(({ seq }) => seq > afterSeq),
  }
}

const follow = (
  from: RunSource,
  isUnattended: boolean,
  signal: AbortSignal = AbortSignal.timeout(500),
) => {
  const out = new PassThrough().resume() as unknown as NodeJS.WriteStream
  return followRun(from, 'r', { as: 'lines', out, hint: '', signal, isUnattended })
}

const SUSPENDED = [agent('pm', 'SUSPEND')]

test('services that were waited for in vain end it, where nobody is there', async () => {
  const waiting = AbortSignal.timeout(20_000)
  const seen = await follow(source(SUSPENDED, ['suspension_timed_out']), true, waiting)
  expect([seen.isOut, waiting.aborted]).toEqual([true, false])
})

test.each([
  ['somebody is suspended', SUSPENDED, 1],
  ['nobody is', [agent('pm', 'DRAFTING')], 0],
])('how long a service is waited for is told once, where %s', async (_, agents, times) => {
  const said: string[] = []
  const out = new PassThrough().on('data', (text) => said.push(String(text)))
  await followRun(source(agents, []), 'r', {
    as: 'lines',
    out: out as unknown as NodeJS.WriteStream,
    hint: '',
    signal: AbortSignal.timeout(500),
    describeOutage: async ({ run }) => `${run} waits`,
  })
  expect(said.filter((text) => text === 'r waits\n')).toHaveLength(times)
})

test.each([
  ['somebody watches', SUSPENDED, ['suspension_timed_out'], false],
  ['they are waited for', SUSPENDED, ['service_unavailable'], true],
  ['they came back', SUSPENDED, ['suspension_timed_out', 'service_restored'], true],
  ['nobody needs them', [agent('pm', 'DRAFTING')], ['suspension_timed_out'], true],
] as const)('it goes on when %s', async (_, agents, moves, isUnattended) => {
  const startedMs = performance.now()
  await follow(source(agents, moves), isUnattended)
  expect(performance.now() - startedMs).toBeGreaterThan(450)
})

test('agents are read when something has happened, and not otherwise', async () => {
  let reads = 0
  let isPaused = false
  const still = source([agent('pm', 'DRAFTING')], ['spec_written'])
  const counted: RunSource = {
    ...still,
    runs: async () => [{ ...run, status: isPaused ? 'paused' : 'running' }],
    agents: async (id) => {
      reads += 1
      return still.agents(id)
    },
  }
  const seen: string[] = []
  const out = new PassThrough().resume() as unknown as NodeJS.WriteStream
  await followRun(counted, 'r', {
    as: 'silent',
    out,
    hint: '',
    signal: AbortSignal.timeout(900),
    onView: ({ status }) => {
      seen.push(status)
      isPaused = seen.length > 3
    },
  })
  expect(new Set(seen)).toEqual(new Set(['running', 'paused']))
  expect(seen.length).toBeGreaterThan(4)
  expect(reads).toBe(2)
})

test.each([
  ['ends', false],
  ['waits for its resume', true],
])('who follows a paused run %s, where work here is %s', async (_, isWorkHere) => {
  const paused = { ...source([agent('pm', 'DRAFTING')], []), runs: async () => [PAUSED] }
  const out = new PassThrough().resume() as unknown as NodeJS.WriteStream
  const signal = AbortSignal.timeout(isWorkHere ? 4_000 : 30_000)
  const seen = await followRun(paused, 'r', { as: 'lines', out, hint: '', signal, isWorkHere })
  expect(seen.status).toBe('paused')
  expect(signal.aborted, 'somebody else ended it').toBe(isWorkHere)
})

test('the board does not rest for the time that an answer was typed', async () => {
  let views = 0
  const out = new PassThrough().resume() as unknown as NodeJS.WriteStream
  const seenEnough = new AbortController()
  // Ten times as long as the typing takes would be longer than this.
  const tooLate = AbortSignal.timeout(8_000)
  await followRun(source([agent('pm', 'DRAFTING')], []), 'r', {
    as: 'board',
    out,
    hint: '',
    signal: AbortSignal.any([seenEnough.signal, tooLate]),
    attend: async () => {
      views += 1
      if (views === 3) seenEnough.abort()
      if (views > 1) return false
      await new Promise((typed) => setTimeout(typed, 1_000))
      return true
    },
  })
  expect(tooLate.aborted).toBe(false)
})

test('in a terminal that tells no size the board is drawn all the same', async () => {
  const said: string[] = []
  const out = new PassThrough().on('data', (text) => said.push(String(text)))
  await followRun(source([agent('pm', 'DRAFTING')], []), 'r', {
    as: 'board',
    out: Object.assign(out, { columns: 0, rows: 0 }) as unknown as NodeJS.WriteStream,
    hint: 'q leaves the board',
    signal: AbortSignal.timeout(300),
  })
  expect(said[0]).toMatch(/r {2}running .*spec under review/)
  expect(said[0]).toMatch(/pm +DRAFTING/)
  expect(said[0]).toContain('q leaves the board')
})

const FULL = { state: 'waiting_for_journal', error: 'the disk is full' } as const
const FAILED = { state: 'failed', error: 'the disk is gone' } as const
const WELL = { state: 'well' } as const

test.each<[string, (Health | null)[], string[]]>([
  // What is over by the next look is nothing to tell of.
  [
    'goes on is told of once, and so is the end of that',
    [FULL, WELL, FULL, FULL, null, FULL, FULL, WELL, WELL],
    ['It waits: the disk is full\n', 'It waits no longer, and goes on.\n'],
  ],
  ['has failed since does not go on', [FULL, FULL, FAILED], ['It waits: the disk is full\n']],
])(
  'who waits for a disk and %s',
  async (_, seen, told) => {
    const said: string[] = []
    const out = new PassThrough().on('data', (text) => said.push(String(text)))
    const leaving = new AbortController()
    await followRun(source([agent('pm', 'DRAFTING')], []), 'r', {
      as: 'lines',
      out: out as unknown as NodeJS.WriteStream,
      hint: '',
      signal: leaving.signal,
      async readHealth() {
        if (seen.length === 1) leaving.abort()
        return seen.shift() ?? null
      },
    })
    expect(said).toEqual(told)
  },
  20_000,
)
