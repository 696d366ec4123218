import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { expect } from 'vitest'
import { followUpTask } from '../../../src/cli/engine/task.ts'
import {
  APPROVES,
  BUILDS,
  building,
  call,
  DISCUSSION,
  DONE,
  OBJECTS,
  PLAIN,
  PROPOSAL,
  planOf,
  reply,
  reviewing,
  TESTS,
  testing,
  write,
} from '../replies.ts'
import { BOTH, NEW, OLD, scenario } from '../scenario.ts'
import type { TaskWorld } from '../world.ts'

const HANGS = { hang: true }

/** A task that hangs in each state that something is waited for in. */
const HANGING = {
  plan: {
    revisions: OLD,
    mode: 'proposal',
    replies: [reply({ task: 'coordinator/propose' }, HANGS)],
  },
  build: { revisions: BOTH, mode: 'implementation', replies: [building({}, HANGS)] },
  review: { revisions: OLD, mode: 'implementation', replies: [BUILDS, DONE, reviewing(HANGS)] },
  test: {
    revisions: NEW,
    mode: 'implementation',
    replies: [BUILDS, DONE, APPROVES, testing(HANGS)],
  },
} as const

for (const [state, { revisions, ...settings }] of Object.entries(HANGING)) {
  scenario(
    `the operator stops a task in ${state}, and takes it up again`,
    revisions,
    async (open) => {
      const world = await open(settings)
      await world.until((agent) => agent.state === state && isThinking(agent.data.thinking))
      await world.abort()
      expect(await world.outcome()).toBe('canceled')
      expect((await world.moves()).at(-1)).toBe(`${state} aborted_by_operator finalize`)
      expect(await openEffects(world)).toEqual([])
      await world.reopen({ replies: PLAIN })
      expect(await world.outcome()).toBe('canceled')
      await world.followUp('Go on with it.')
      await world.until(({ data }) => data.outcome === 'approved')
      expect(world.branch('double.sh')).toBeDefined()
    },
  )
}

/** A task that comes through each state by itself. */
const COMING_THROUGH = {
  intake: { replies: [] },
  plan: { mode: 'proposal', replies: [] },
  build: { replies: [] },
  review: { replies: [BUILDS, DONE] },
  test: { replies: [BUILDS, DONE, APPROVES] },
  iterate: { replies: [BUILDS, DONE, OBJECTS] },
  finalize: { mode: 'proposal', replies: DISCUSSION },
  SUSPEND: { replies: [building({}, { fail: 'network' })], isUp: () => false },
  ERROR: {
    replies: [building({}, { fail: 'network' })],
    isUp: () => false,
    suspensionMs: 1,
  },
} as const

for (const [state, settings] of Object.entries(COMING_THROUGH)) {
  scenario(`a stop at the moment when a task comes into ${state} ends it`, BOTH, async (open) => {
    const world = await open({ ...settings, abortsIn: state })
    await world.until(({ data }) => data.outcome === 'canceled')
    expect(await world.outcome()).toBe('canceled')
    expect((await world.moves()).at(-1)).toBe(`${state} aborted_by_operator finalize`)
    expect(await openEffects(world)).toEqual([])
  })
}

/** Waits until it is given up. */
const waiting = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('given up')))
  })

scenario('a stop while a workspace is made or commands run gives both up', NEW, async (open) => {
  const making = await open({
    replies: PLAIN,
    forge: (local) => ({ ...local, readTarget: (_, signal) => waiting(signal) }),
  })
  await making.until(({ state }) => state === 'intake')
  await making.abort()
  expect(await making.outcome()).toBe('canceled')
  expect(await openEffects(making)).toEqual([])
  const slow = building({ turn: 1 }, write('slow.sh', 'echo $$ > pid\nexec sleep 4321\n'))
  const named = testing(call('submit_test_plan', planOf(['sh', 'slow.sh'])))
  const world = await open({ replies: [slow, DONE, APPROVES, named] })
  await world.until(() => existsSync(`${world.git.state}/workspaces/task-1/task/pid`))
  await world.abort()
  expect(await world.outcome()).toBe('canceled')
  expect((await world.moves()).at(-1)).toBe('test aborted_by_operator finalize')
  expect(await openEffects(world)).toEqual([])
  await world.until(() => processesIn(world).length === 0)
})

scenario('of two who take a task up as they saw it, one does', NEW, async (open) => {
  const world = await open({ replies: PLAIN })
  await world.outcome()
  const seen = [await world.agent()]
  const { runtime, git, repositories, journal } = world.team()
  const ground = {
    runtime,
    git,
    repositories,
    journal: { ...journal, readAgents: async () => seen },
  }
  const taking = ['More.', 'Less.'].map((text) =>
    followUpTask(ground as never, 'task-1', { text, mode: 'implementation', isConfirmed: false }),
  )
  const ended = await Promise.allSettled(taking)
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(ended[1]).toMatchObject({ reason: { message: expect.stringContaining('Somebody else') } })
  await world.until(({ data }) => data.outcome === 'approved')
  expect((await world.work()).followUps).toEqual(['More.'])
})

const isThinking = (thinking: unknown) =>
  typeof (thinking as { awaits?: unknown } | undefined)?.awaits === 'string' &&
  (thinking as { awaits: string }).awaits !== 'ledger'

async function openEffects(world: TaskWorld): Promise<readonly string[]> {
  await world.team().runtime.idle()
  const effects = await world.team().journal.readEffects('task-1' as never)
  return effects.map(({ kind }) => kind)
}

scenario('a proposal that is declined is canceled', NEW, async (open) => {
  const world = await open({ mode: 'proposal', replies: [...DISCUSSION, ...PLAIN] })
  await world.outcome()
  await world.abort()
  await world.until(({ data }) => data.outcome === 'canceled')
  expect((await world.moves()).at(-1)).toBe('finalize aborted_by_operator finalize')
  // What is canceled cannot be confirmed, and what is over cannot be stopped.
  await world.confirm()
  await world.abort()
  await world.team().runtime.idle()
  expect(await world.moves()).toHaveLength(6)
})

scenario('a stop ends every process that the task started', NEW, async (open) => {
  const command = 'sleep 1234 & setsid sleep 1234 & sleep 1234'
  const world = await open({
    isolation: 'bubblewrap',
    replies: [building({}, call('shell', { command }))],
  })
  await world.until(() => processesIn(world).length >= 3)
  await world.abort()
  expect(await world.outcome()).toBe('canceled')
  expect(await openEffects(world)).toEqual([])
  await world.until(() => processesIn(world).length === 0)
})

/** What works in the workspace of a task, seen from outside of every sandbox. */
function processesIn({ git }: TaskWorld): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return readlinkSync(`/proc/${name}/cwd`).startsWith(`${git.state}/workspaces`)
    } catch {
      return false
    }
  })
}

scenario('a follow-up is appended to what was done, and told to everybody', BOTH, async (open) => {
  const world = await open({ replies: PLAIN })
  expect(await world.outcome()).toBe('approved')
  const first = (await world.work()).head
  const more = building(
    { turn: 1, contains: 'Also write down how it is used.' },
    write('README.md', 'sh double.sh 4\n'),
  )
  await world.reopen({ replies: [more, DONE, APPROVES, TESTS] })
  await world.followUp('Also write down how it is used.')
  await world.until(({ data }) => data.outcome === 'approved' && data.head !== first)
  await world.outcome()
  expect(world.branch('README.md')).toBe('sh double.sh 4')
  for (const name of ['build', 'review', 'test']) {
    const asked = world.told.findLast(({ task }) => task === `coordinator/${name}`)
    expect(asked?.text).toContain('Also write down how it is used.')
  }
  expect(world.branch('double.sh')).toContain('sum.sh')
  expect(await world.rounds()).toHaveLength(2)
  expect((await world.work()).delivery).toMatchObject({ number: 1 })
})

scenario('a follow-up can be discussed again before anything is done', NEW, async (open) => {
  const world = await open({ replies: [...DISCUSSION, ...PLAIN] })
  await world.outcome()
  await world.followUp('Handle words too.', 'proposal')
  await world.until(({ data }) => data.mode === 'proposal' && data.outcome !== undefined)
  const asked = world.told.find(({ task }) => task === 'coordinator/propose')
  expect(asked?.text).toContain('Handle words too.')
})

scenario('what comes for a task that is under way changes nothing', NEW, async (open) => {
  const replies = [PROPOSAL, reply({ task: 'coordinator/discuss-review' }, HANGS)]
  const world = await open({ mode: 'proposal', replies })
  await world.until(({ state, data }) => state === 'review' && isThinking(data.thinking))
  const before = await world.moves()
  const { seq } = await world.agent()
  await world.followUp('Something else.')
  await world.confirm()
  await world.until((agent) => agent.seq >= seq + 2)
  expect(await world.moves()).toEqual(before)
  expect((await world.work()).followUps).toEqual([])
  await world.abort()
  expect(await world.outcome()).toBe('canceled')
})
