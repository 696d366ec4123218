import { expect } from 'vitest'
import type { Forge, ForgeError } from '../../../src/effects/forge/forge.ts'
import { notStarted } from '../../../src/effects/process/command.ts'
import type { Isolation, SandboxCommand } from '../../../src/effects/sandbox/sandbox.ts'
import {
  call,
  OUT,
  once,
  PLAIN,
  reply,
  story,
  submit,
  TESTS_FAIL,
  working,
  write,
  writes,
  writing,
} from '../replies.ts'
import { BOTH, NEW, scenario } from '../scenario.ts'

const HELLO = submit(story('hello', { criteria: ['1', '2'] }))
const WRONG = [...writing('hello'), write('hello.sh', 'echo wrong\n')]
/** Every turn is tried twice, because the first time the provider is out. */
const EVERY_FIRST_TRY = reply({ attempt: 1 }, OUT)

scenario('an outage in every turn of everybody is waited out', BOTH, async (open, { coder }) => {
  const world = await open({
    replies: [
      EVERY_FIRST_TRY,
      HELLO,
      working({ contains: 'Implement this story.', turn: 1 }, ...WRONG),
      working({ ...TESTS_FAIL, turn: 1 }, write('hello.sh', 'echo hello\n')),
      ...PLAIN,
    ],
  })
  const agents = await world.untilOver()
  expect(world.target('hello.sh')).toBe('echo hello')
  expect(agents.get('story/hello')?.data.attempts).toBe(0)
  const back = (await world.moves('coder-1')).filter((move) => move.includes('service_restored'))
  const states = new Set(back.map((move) => move.split(' ')[2]))
  expect([...states]).toEqual(
    coder === 'F' ? ['PLANNING', 'CODING', 'FIXING'] : ['PLANNING', 'CODING'],
  )
})

scenario(
  'a coder whose provider stays away gives its story back, uncharged',
  BOTH,
  async (open) => {
    let isUp = false
    const world = await open({
      replies: [
        HELLO,
        once(reply({ role: 'coder', state: 'CODING' }, OUT)),
        writes('hello'),
        ...PLAIN,
      ],
      isUp: () => isUp,
      suspensionMs: 200,
    })
    await world.until((found) => (found.get('story/hello')?.data.lessons as unknown[])?.length > 0)
    isUp = true
    const agents = await world.untilOver()
    expect(await world.moves('coder-1')).toContain('SUSPEND suspension_timed_out ERROR')
    expect(agents.get('story/hello')?.data.attempts).toBe(0)
    expect(world.log()).toEqual(['Add hello', 'init'])
  },
)

scenario('an architect whose provider stays away gives its request back', BOTH, async (open) => {
  let isUp = false
  const world = await open({
    replies: [once(reply({ role: 'architect' }, OUT)), HELLO, writes('hello'), ...PLAIN],
    isUp: () => isUp,
    suspensionMs: 200,
  })
  await world.until(
    (found) =>
      (found.get('architect-1')?.seq ?? 0) > 0 && found.get('architect-1')?.state === 'SUSPEND',
  )
  await world.until((found) => found.get('architect-1')?.state !== 'SUSPEND')
  isUp = true
  await world.untilOver()
  expect(await world.moves('architect-1')).toContain('SUSPEND suspension_timed_out ERROR')
  expect(world.log()).toEqual(['Add hello', 'init'])
})

const NETWORK: ForgeError = { code: 'network', message: 'no route', retry: 'later' }
const failed = { ok: false, error: NETWORK } as const

/** A forge elsewhere, whose calls fail so often before each one that succeeds. */
function flaky(local: Forge, failures: { readTarget: number; publish: number }): Forge {
  // The run itself looks once, as it is started, and does not wait.
  const left = { ...failures, readTarget: failures.readTarget + 1 }
  const isOut = (call: 'readTarget' | 'publish') => {
    left[call] = left[call] === 0 ? failures[call] : left[call] - 1
    return left[call] !== failures[call]
  }
  return {
    ...local,
    kind: 'github',
    readTarget: async (target) => (isOut('readTarget') ? failed : local.readTarget(target)),
    publish: async (branch) => (isOut('publish') ? failed : local.publish(branch)),
  }
}

scenario(
  'an outage of the forge is waited out wherever it is asked',
  BOTH,
  async (open, { architect }) => {
    const world = await open({
      replies: [HELLO, writes('hello'), ...PLAIN],
      // As often as each effect is tried before its agent is suspended.
      forge: (local) => flaky(local, { readTarget: 3, publish: 5 }),
    })
    await world.untilOver()
    expect(world.log()).toEqual(['Add hello', 'init'])
    const restored = 'SUSPEND service_restored'
    expect(await world.moves('coder-1')).toEqual(
      expect.arrayContaining([`${restored} SETUP`, `${restored} AWAIT_MERGE`]),
    )
    expect(await world.moves('merge-queue')).toContain(`${restored} MERGING`)
    if (architect === 'I') expect(await world.moves('architect-1')).toContain(`${restored} SETUP`)
  },
)

scenario('a merge goes on after a forge that stayed away', NEW, async (open) => {
  let isUp = true
  let hasFailed = false
  const world = await open({
    replies: [HELLO, writes('hello'), ...PLAIN],
    forge: (local) => ({
      ...local,
      kind: 'github',
      async merge(request) {
        if (hasFailed && isUp) return local.merge(request)
        hasFailed = true
        isUp = false
        return failed
      },
    }),
    isUp: () => isUp,
    suspensionMs: 200,
  })
  await world.untilIn('merge-queue', 'SUSPEND')
  await world.until((found) => found.get('merge-queue')?.state !== 'SUSPEND')
  isUp = true
  await world.untilOver()
  expect(await world.moves('merge-queue')).toContain('SUSPEND suspension_timed_out ERROR')
  expect(world.log()).toEqual(['Add hello', 'init'])
})

/** A machine that starts nothing while it is out, as it is from the first command of each kind on. */
function failing(kinds: readonly ('shell' | 'tests' | 'gate')[]) {
  const machine = { isOut: false }
  const left = new Set<string>(kinds)
  const kindOf = (workspace: string, { argv: [program, option] }: SandboxCommand) => {
    if (program !== 'sh') return ''
    if (option === '-c') return 'shell'
    return workspace.includes('/gate/') ? 'gate' : 'tests'
  }
  const isolate = (isolation: Isolation): Isolation => ({
    ...isolation,
    async open(settings) {
      const sandbox = await isolation.open(settings)
      const run = async (command: SandboxCommand) => {
        machine.isOut ||= left.delete(kindOf(settings.workspace, command))
        return machine.isOut ? notStarted('Creating new namespace failed') : sandbox.run(command)
      }
      return { level: sandbox.level, run, close: () => sandbox.close() }
    },
  })
  return { machine, isolate }
}

scenario('a machine that starts no command is waited for', BOTH, async (open, { coder }) => {
  const { machine, isolate } = failing(['shell', 'tests', 'gate'])
  const world = await open({
    replies: [HELLO, writes('hello', call('shell', { command: 'sh hello.sh' })), ...PLAIN],
    isolate,
  })
  for (const place of ['coder-1', 'coder-1', 'merge-queue']) {
    const found = await world.untilIn(place, 'SUSPEND')
    expect(found.get(place)?.data.$outage).toMatchObject({
      reason: expect.stringMatching(/^sandbox_\w+: no command can be started: Creating new name/),
    })
    machine.isOut = false
    await world.until((agents) => agents.get(place)?.state !== 'SUSPEND')
  }
  const agents = await world.untilOver()
  expect(world.log()).toEqual(['Add hello', 'init'])
  expect(agents.get('story/hello')?.data.attempts).toBe(0)
  const moves = await world.moves('coder-1')
  const restored = 'SUSPEND service_restored'
  expect(moves).toEqual(expect.arrayContaining([`${restored} CODING`, `${restored} TESTING`]))
  expect(await world.moves('merge-queue')).toContain(`${restored} MERGING`)
  const mended = coder === 'F' ? /FIXING$/ : /(?:tests_failed|merge_failed) \w+$/
  expect(moves.filter((move) => mended.test(move))).toEqual([])
})

scenario('a story whose machine stays out is given back, uncharged', NEW, async (open) => {
  const { machine, isolate } = failing(['tests'])
  const world = await open({
    replies: [HELLO, writes('hello'), ...PLAIN],
    isolate,
    suspensionMs: 200,
  })
  await world.until((found) => (found.get('story/hello')?.data.lessons as unknown[])?.length > 0)
  machine.isOut = false
  const agents = await world.untilOver()
  expect(await world.moves('coder-1')).toContain('SUSPEND suspension_timed_out ERROR')
  expect(agents.get('story/hello')?.data.attempts).toBe(0)
  expect(world.log()).toEqual(['Add hello', 'init'])
})
