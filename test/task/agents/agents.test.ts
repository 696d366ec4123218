import { readdirSync, readlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type AgentWorld, openAgentWorld, playScene } from '../../agents/agent-world.ts'
import { REAL_AGENTS } from '../../agents/real-agents.ts'
import { calls } from '../../providers/answer.ts'
import { APPROVES, call, planOf, testing } from '../replies.ts'
import { openTaskWorld } from '../world.ts'

/** One that speaks the protocol, and one that is run without a terminal. */
const KILLED = REAL_AGENTS.filter(({ agent }) => agent === 'claude')

const TIMEOUT_MS = 180_000

/** What the agents' models are asked to do, and a test that fails until it is done. */
const FILES = { 'a.txt': 'one\n', 'test.sh': 'grep -qx two a.txt\n' }
const TASK = 'Replace one by two in a.txt.'

let agents: AgentWorld

beforeAll(async () => {
  agents = await openAgentWorld()
})

afterAll(() => agents.close())

describe.concurrent.each(REAL_AGENTS)('$agent by $mode', { timeout: TIMEOUT_MS }, (real) => {
  test('does a task as its coder', async ({ expect }) => {
    const answers = [real.edit, calls(real.done, { summary: 'Replaced.' })]
    await playScene(agents, real, { answers }, async ({ brain, loopRequests }) => {
      const world = await openTaskWorld({
        revision: '2',
        isolation: 'bubblewrap',
        text: TASK,
        files: FILES,
        brains: { coder: brain },
        isAgent: true,
        replies: [APPROVES, testing(call('submit_test_plan', planOf(['sh', 'test.sh'])))],
      })
      try {
        expect(await world.outcome()).toBe('approved')
        expect(world.branch('a.txt')).toBe('two')
        expect(loopRequests()).toHaveLength(2)
        const asked = world.told.find(({ who }) => who === 'reviewer')
        expect(asked?.text).toContain('+two')
      } finally {
        await world.close()
      }
    })
  })
})

describe.concurrent.each(KILLED)('$agent by $mode, killed', { timeout: TIMEOUT_MS }, (real) => {
  test('is no coder that is done, though it exited', async ({ expect }) => {
    const answers = [real.edit, { broken: 'silent' } as const]
    await playScene(agents, real, { answers }, async ({ brain, loopRequests }) => {
      const world = await openTaskWorld({
        revision: '2',
        isolation: 'bubblewrap',
        text: TASK,
        files: FILES,
        brains: { coder: brain },
        isAgent: true,
        replies: [APPROVES],
        isUp: () => false,
        suspensionMs: 100,
      })
      try {
        // It has changed the file by then, and hangs; so does every further try.
        let killed = 1
        while ((await world.agent()).state !== 'finalize') {
          const asked = loopRequests().length
          if (asked > killed) killIn(`${world.git.state}/workspaces`)
          killed = Math.max(killed, asked)
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
        expect((await world.work()).why).not.toBe('')
        expect(await world.outcome()).toMatch(/^provider_/)
        expect(await world.moves()).not.toContain('build start_reviewer review')
      } finally {
        await world.close()
      }
    })
  })
})

/** Kills everything that works below a folder, and was started by us. */
function killIn(folder: string): void {
  for (const name of readdirSync('/proc')) {
    try {
      if (readlinkSync(`/proc/${name}/cwd`).startsWith(folder))
        process.kill(Number(name), 'SIGKILL')
    } catch {
      // It is gone already.
    }
  }
}
