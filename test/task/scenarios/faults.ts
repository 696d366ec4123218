import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import type { Brain } from '../../../src/effects/brains/brain.ts'
import {
  APPROVAL,
  APPROVES,
  BUILDS,
  BUILDS_WRONG,
  building,
  call,
  changes,
  DONE,
  MENDS,
  PLAIN,
  planOf,
  reviewing,
  TESTS,
  testing,
  write,
} from '../replies.ts'
import { BOTH, NEW, scenario } from '../scenario.ts'

// What went wrong in the older system of this kind; each of these shows that it cannot happen here.

/** Says that it is done and dies before its reply is whole, with work on the disk. */
const KILLED: Brain = {
  name: 'killed',
  async *think() {
    yield { type: 'text', text: 'All done, everything passes, exit code 0.' }
    yield { type: 'failed', failure: { kind: 'network', message: 'killed by SIGKILL' } }
  },
}

scenario('a provider that is killed is no success', BOTH, async (open, revision) => {
  const world = await open({
    replies: PLAIN,
    brains: { coder: KILLED },
    isUp: () => false,
    suspensionMs: 100,
  })
  const outcome = revision === '2' ? 'provider_network_error' : 'max_iterations_reached'
  expect(await world.outcome()).toBe(outcome)
  expect(await world.moves()).not.toContain('build start_reviewer review')
})

scenario('a reviewer or a tester that is killed approves nothing', NEW, async (open) => {
  for (const who of ['reviewer', 'tester']) {
    const world = await open({
      replies: PLAIN,
      brains: { [who]: KILLED },
      isUp: () => false,
      suspensionMs: 100,
    })
    expect(await world.outcome()).toBe('provider_network_error')
  }
})

scenario('a test command that is killed is no pass', NEW, async (open) => {
  const suicide = write('tests/double.sh', 'echo "1 passed"\nkill -9 $$\n')
  const world = await open({
    limits: { taskRounds: 1 },
    replies: [building({ turn: 1 }, write('double.sh', 'x\n'), suicide), DONE, APPROVES, TESTS],
  })
  expect(await world.outcome()).toBe('test_failed')
})

scenario('the word author is nothing about authentication', NEW, async (open) => {
  const message = 'the author of this commit is unauthorised to authenticate as an author'
  const world = await open({
    replies: [building({}, { fail: 'network', message })],
    isUp: () => false,
    suspensionMs: 100,
  })
  expect(await world.outcome()).toBe('provider_network_error')
  // And in what a model says it is not even a failure.
  const said = await open({
    replies: [
      building(
        { turn: 1 },
        { text: 'The author gets a 401 unauthorized.' },
        call('done', { summary: 'x' }),
      ),
      ...PLAIN,
    ],
  })
  expect(await said.outcome()).toBe('max_iterations_reached')
  expect(await said.work()).toMatchObject({ why: 'the coder changed nothing' })
})

scenario('a command is an argument list: & starts nothing', NEW, async (open) => {
  for (const command of [
    ['node', '--test', 'x', '&', 'touch', 'f'],
    ['sh', '-ce', 'node --test x & touch f'],
    ['timeout', '9', 'bash', '-e', '-c', 'node --test x & touch f'],
  ]) {
    const world = await open({
      limits: { taskRounds: 1 },
      replies: [BUILDS, DONE, APPROVES, testing(call('submit_test_plan', planOf(command)))],
    })
    expect(await world.outcome()).toBe('tester_schema_invalid')
    const { place } = await world.work()
    expect(existsSync(`${place?.folder}/f`)).toBe(false)
    // The tester was told why.
    const last = world.told.findLast(({ who }) => who === 'tester')
    expect(last?.text).toMatch(/is not run/)
  }
})

scenario('operators that reach a program are names to it', NEW, async (open) => {
  // Configured by the user, so not held against what a tester may name.
  const world = await open({
    isolation: 'bubblewrap',
    limits: { taskRounds: 1 },
    tests: { commands: [{ argv: ['sh', 'tests/double.sh', '&', 'touch', 'f'] }] },
    replies: [BUILDS, DONE, APPROVES, TESTS],
  })
  expect(await world.outcome()).toBe('approved')
  const { place } = await world.work()
  expect(existsSync(`${place?.folder}/f`)).toBe(false)
})

scenario('no command, or none that tests anything, is no pass', NEW, async (open) => {
  for (const commands of [[], [['echo', 'all tests passed']]]) {
    const plan = { test_plan: 'Fine.', commands, expected_results: [] }
    const world = await open({
      limits: { taskRounds: 1 },
      tests: {},
      files: { 'sum.sh': 'echo $(($1 + $2))\n' },
      replies: [BUILDS, DONE, APPROVES, testing(call('submit_test_plan', plan))],
    })
    expect(await world.outcome()).toBe('tester_schema_invalid')
  }
})

scenario('commands that succeed without a test are no pass', NEW, async (open) => {
  const plan = planOf(['node', '-e', '0'], ['git', 'status'])
  const world = await open({
    limits: { taskRounds: 1 },
    tests: {},
    files: { 'sum.sh': 'echo $(($1 + $2))\n' },
    replies: [BUILDS, DONE, APPROVES, testing(call('submit_test_plan', plan))],
  })
  expect(await world.outcome()).toBe('test_failed')
  expect((await world.work()).why).toContain('Nothing shows that a test was run')
  expect((await world.rounds())[0]?.tests).toContain('$ git status: passed')
})

scenario(
  'where a repository has no tests, a runner that reports some is a pass',
  NEW,
  async (open) => {
    const world = await open({
      tests: {},
      files: { 'sum.js': 'export const sum = (a, b) => a + b\n' },
      replies: [
        building(
          { turn: 1 },
          write('sum.test.mjs', "import { test } from 'node:test'\ntest('it is', () => {})\n"),
        ),
        DONE,
        APPROVES,
        testing(call('submit_test_plan', planOf(['timeout', '20', 'node', '--test']))),
      ],
    })
    expect(await world.outcome()).toBe('approved')
  },
)

/** Fails in a clean checkout, and passes from then on. */
const SECOND_TIME_LUCKY = '[ -e stamp ] && exit 0; touch stamp; echo "no stamp"; exit 1\n'

scenario(
  'what an earlier run left behind makes no pass, and is not committed',
  BOTH,
  async (open) => {
    for (const ignored of ['', 'stamp\n']) {
      const world = await open({
        limits: { taskRounds: 2 },
        files: { 'test.sh': SECOND_TIME_LUCKY, 'sum.sh': 'echo\n', '.gitignore': ignored },
        replies: [
          BUILDS,
          MENDS,
          DONE,
          APPROVES,
          testing(call('submit_test_plan', planOf(['sh', 'test.sh']))),
        ],
      })
      expect(await world.outcome()).toBe('test_failed')
      expect((await world.work()).why).toContain('no stamp')
      expect((await world.rounds()).map(({ cameTo }) => cameTo)).toEqual([
        'tests_failed',
        'tests_failed',
      ])
      expect(world.branch('double.sh')).toBeDefined()
      expect(world.branch('stamp')).toBeUndefined()
    }
  },
)

scenario('two answers that differ approve nothing', NEW, async (open) => {
  const objection = changes('It squares.')
  for (const steps of [
    [call('submit_review', APPROVAL), call('submit_review', objection)],
    [{ text: JSON.stringify(objection) }, call('submit_review', APPROVAL)],
  ]) {
    const world = await open({ replies: [BUILDS, DONE, reviewing(...steps), TESTS] })
    expect(await world.outcome()).toBe('review_schema_invalid')
    expect(world.told.findLast(({ who }) => who === 'reviewer')?.text).toContain(
      'more than one way',
    )
  }
})

scenario("red tests of the repository's own outweigh a tester's green ones", NEW, async (open) => {
  const harmless = testing(call('submit_test_plan', planOf(['sh', 'tests/sum.sh'])))
  const world = await open({
    limits: { taskRounds: 1 },
    replies: [BUILDS_WRONG, DONE, APPROVES, harmless],
  })
  expect(await world.outcome()).toBe('test_failed')
  expect((await world.rounds())[0]?.tests).toContain('$ sh tests/sum.sh: passed')
})

scenario(
  'the reviewer sees the task, the diff and the tests, and not what the coder says',
  BOTH,
  async (open) => {
    const world = await open({
      replies: [
        BUILDS_WRONG,
        building({}, call('done', { summary: 'Trust me: it is perfect.' })),
        reviewing(call('submit_review', changes('It squares.'))),
      ],
      limits: { taskRounds: 1 },
    })
    expect(await world.outcome()).toBe('max_iterations_reached')
    const asked = world.told.find(({ who }) => who === 'reviewer')
    expect(asked?.text).toContain('Add a function that doubles a number.')
    expect(asked?.text).toContain('diff --git a/double.sh b/double.sh')
    expect(asked?.text).toContain('+echo $(($1 * $1))')
    expect(asked?.text).toContain('$ sh test.sh: failed')
    expect(asked?.text).toContain('got 16, not 8')
    expect(asked?.text).not.toContain('Trust me')
  },
)

scenario(
  'an approval with something to fix, or in other words, approves nothing',
  NEW,
  async (open) => {
    for (const answer of [
      call('submit_review', { ...APPROVAL, must_fix: ['but it is wrong'] }),
      call('submit_review', { decision: 'approve' }),
      call('submit_review', { ...APPROVAL, decision: 'APPROVE' }),
      { text: `I would say ${JSON.stringify(APPROVAL)}, if the tests were green.` },
    ]) {
      const world = await open({ replies: [BUILDS, DONE, reviewing(answer), TESTS] })
      expect(await world.outcome()).toBe('review_schema_invalid')
    }
  },
)

scenario('an answer in words that is just the required form is taken', NEW, async (open) => {
  const fenced = (value: object) => ({
    text: `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``,
  })
  const world = await open({
    replies: [
      BUILDS,
      DONE,
      reviewing(fenced(APPROVAL)),
      testing({ text: JSON.stringify(planOf(['sh', 'tests/double.sh'])) }),
    ],
  })
  expect(await world.outcome()).toBe('approved')
})

scenario('a state is where it was after its process was closed', BOTH, async (open) => {
  const world = await open({ replies: [BUILDS, DONE, reviewing({ hang: true })] })
  await world.untilIn('review')
  const before = await world.rounds()
  await world.reopen({ replies: PLAIN })
  expect(await world.outcome()).toBe('approved')
  expect((await world.rounds())[0]).toMatchObject({
    ...before[0],
    cameTo: 'approved',
    endedMs: expect.any(Number),
  })
})
