import { expect } from 'vitest'
import {
  APPROVAL,
  APPROVES,
  BUILDS,
  BUILDS_PACKAGE,
  BUILDS_WRONG,
  building,
  call,
  DISCUSSION,
  DONE,
  MENDS,
  OBJECTS,
  once,
  PLAIN,
  planOf,
  reviewing,
  TESTS,
  testing,
  write,
} from '../replies.ts'
import { BOTH, NEW, scenario } from '../scenario.ts'
import { PACKAGE } from '../world.ts'

scenario(
  'a proposal is discussed, confirmed, built, reviewed and tested',
  BOTH,
  async (open, revision) => {
    const world = await open({
      mode: 'proposal',
      isolation: 'bubblewrap',
      replies: [...DISCUSSION, ...PLAIN],
    })
    const discussed = revision === '1' ? 'await_operator_confirm' : 'discussion_complete'
    expect(await world.outcome()).toBe(discussed)
    expect(await world.moves()).toEqual([
      'null task_received intake',
      'intake draft_proposal plan',
      'plan roundtable_reviewer review',
      'review roundtable_tester test',
      'test await_operator_confirm finalize',
    ])
    // Nothing was written, by nobody, and nobody had a tool for it.
    expect(world.branch('double.sh')).toBeUndefined()
    expect((await world.work()).head).toBeNull()
    const writing = ['write_file', 'edit_file', 'shell', 'run_tests']
    expect(
      world.told.flatMap(({ tools }) => tools).filter((name) => writing.includes(name)),
    ).toEqual([])
    await world.confirm()
    expect(await world.outcome()).toBe('approved')
    expect((await world.moves()).slice(5)).toEqual([
      'finalize task_followup_received intake',
      'intake implementation_confirmed plan',
      'plan start_coder build',
      'build start_reviewer review',
      'review review_approved test',
      'test tests_passed finalize',
    ])
    expect(world.branch('double.sh')).toContain('sum.sh')
    const [discussion, implementation] = await world.rounds()
    expect(discussion).toMatchObject({ kind: 'discussion', cameTo: discussed })
    expect(implementation).toMatchObject({ kind: 'implementation', cameTo: 'approved' })
    expect(await world.work()).toMatchObject({ delivery: { number: 1 }, mustFix: '' })
    // What was agreed on is told to those who do it.
    const built = world.told.find(({ task }) => task === 'coordinator/build')
    expect(built?.text).toContain('Write double.sh on top of sum.sh')
    expect(built?.text).toContain('Test zero and negative numbers.')
  },
)

scenario('a package is tested by its own runner, found by looking at it', NEW, async (open) => {
  const world = await open({
    isolation: 'bubblewrap',
    files: PACKAGE,
    tests: {},
    replies: [
      BUILDS_PACKAGE,
      DONE,
      APPROVES,
      testing(call('submit_test_plan', planOf(['node', '--test', 'double.test.js']))),
    ],
  })
  expect(await world.outcome()).toBe('approved')
  const [round] = await world.rounds()
  expect(round?.ownTests).toContain('2 passed')
  // The tester's command, and after it the repository's own.
  expect(round?.tests).toMatch(/node --test double.test.js: passed[\s\S]*npm .*test.*: passed/)
})

scenario('with leave given beforehand a proposal is not waited on', NEW, async (open) => {
  const replies = [...DISCUSSION, ...PLAIN]
  const world = await open({ mode: 'proposal', isConfirmed: true, replies })
  await world.until(({ data }) => data.outcome === 'approved')
  expect(await world.outcome()).toBe('approved')
  expect(await world.moves()).toHaveLength(11)
})

scenario('what a reviewer and the tests object to goes to the next round', BOTH, async (open) => {
  const world = await open({
    replies: [
      once(BUILDS_WRONG),
      once(OBJECTS),
      // The second round mends nothing, and the reviewer does not notice.
      once(building({ turn: 1, contains: 'squares its input' }, write('note.txt', 'looked\n'))),
      once(reviewing(call('submit_review', { ...APPROVAL, tests: ['Try a negative number.'] }))),
      MENDS,
      ...PLAIN,
    ],
  })
  expect(await world.outcome()).toBe('approved')
  expect(await world.moves()).toEqual([
    'null task_received intake',
    'intake implementation_confirmed plan',
    'plan start_coder build',
    'build start_reviewer review',
    'review review_changes_requested iterate',
    'iterate start_coder build',
    'build start_reviewer review',
    'review review_approved test',
    'test tests_failed iterate',
    'iterate start_coder build',
    'build start_reviewer review',
    'review review_approved test',
    'test tests_passed finalize',
  ])
  const builds = world.told.filter(
    ({ task, number }) => task === 'coordinator/build' && number === 1,
  )
  expect(builds[1]?.text).toContain('double.sh:1 squares its input')
  // The command that failed, and what it printed.
  expect(builds[2]?.text).toContain('$ sh tests/double.sh: failed')
  expect(builds[2]?.text).toContain('got 16, not 8')
  const reviews = world.told.filter(({ task }) => task === 'coordinator/review')
  expect(reviews[0]?.text).not.toContain('double.sh:1 squares its input')
  expect(reviews[1]?.text).toContain('double.sh:1 squares its input')
  // The tester is told what the reviewer wants tested, and then what failed.
  const tests = world.told.filter(({ task }) => task === 'coordinator/test')
  expect(tests[0]?.text).toContain('- Try a negative number.')
  expect(tests[0]?.text).not.toContain('In the last round this failed')
  expect(tests[1]?.text).toMatch(/In the last round this failed.*got 16, not 8/)
  const again = (await world.rows()).filter(
    ({ move, from }) => move === 'start_coder' && from === 'iterate',
  )
  expect(again.map(({ body }) => body.retry)).toEqual([
    { count: 1, reason: 'review_changes_requested' },
    { count: 2, reason: 'tests_failed' },
  ])
})

scenario('a reviewer without the required form ends the task', BOTH, async (open) => {
  const world = await open({
    replies: [BUILDS, DONE, reviewing({ text: 'Looks good to me. Approved!' }), TESTS],
  })
  expect(await world.outcome()).toBe('review_schema_invalid')
  expect((await world.moves()).at(-1)).toBe('review review_schema_invalid finalize')
  const end = (await world.rows()).findLast(({ move }) => move === 'review_schema_invalid')
  expect(end?.body.retry).toMatchObject({ count: 3 })
  // Three times asked, and not as often as there are turns.
  expect(world.told.filter(({ who }) => who === 'reviewer')).toHaveLength(3)
})

scenario('a tester without the required form costs a round', BOTH, async (open) => {
  const world = await open({
    limits: { taskRounds: 2 },
    replies: [
      ...[1, 2, 3].map(() => once(testing({ text: 'Just run the tests.' }))),
      MENDS,
      ...PLAIN,
    ],
  })
  expect(await world.outcome()).toBe('approved')
  expect(await world.moves()).toContain('test tester_schema_invalid iterate')
  const end = (await world.rows()).find(({ move }) => move === 'tester_schema_invalid')
  expect(end?.body.retry).toMatchObject({ count: 3 })
})

scenario('a tester who never has the required form is what remains', BOTH, async (open) => {
  const world = await open({
    limits: { taskRounds: 2 },
    replies: [BUILDS, DONE, APPROVES, testing(call('submit_test_plan', { commands: [] }))],
  })
  expect(await world.outcome()).toBe('tester_schema_invalid')
  expect((await world.moves()).at(-1)).toBe('iterate max_iterations_reached finalize')
})

scenario('tests that stay red are what remains', BOTH, async (open) => {
  const world = await open({
    limits: { taskRounds: 2 },
    replies: [BUILDS_WRONG, DONE, APPROVES, TESTS],
  })
  expect(await world.outcome()).toBe('test_failed')
  expect(await world.work()).toMatchObject({ isSpent: true })
  expect((await world.work()).why).toContain('$ sh tests/double.sh: failed')
  expect((await world.work()).delivery).toBeNull()
})

scenario('the same failure again and again uses no further rounds', NEW, async (open) => {
  const world = await open({
    limits: { taskRounds: 9, sameFailures: 2 },
    replies: [BUILDS_WRONG, DONE, APPROVES, TESTS],
  })
  expect(await world.outcome()).toBe('test_failed')
  expect(await world.rounds()).toHaveLength(2)
})

scenario('a reviewer who is never content uses the rounds up', BOTH, async (open) => {
  const world = await open({ limits: { taskRounds: 2 }, replies: [BUILDS, DONE, OBJECTS] })
  expect(await world.outcome()).toBe('max_iterations_reached')
  expect(await world.rounds()).toHaveLength(2)
  // What there is stays on its branch.
  expect(world.branch('double.sh')).toContain('sum.sh')
})

scenario('a follow-up has its own rounds, and begins with what was left', BOTH, async (open) => {
  const world = await open({
    limits: { taskRounds: 1 },
    replies: [once(OBJECTS), BUILDS, DONE, APPROVES, TESTS],
  })
  expect(await world.outcome()).toBe('max_iterations_reached')
  await world.followUp('Go on.')
  await world.until(({ data }) => data.outcome === 'approved')
  expect(await world.outcome()).toBe('approved')
  for (const task of ['coordinator/build', 'coordinator/review']) {
    const asked = world.told.filter(({ task: each, number }) => each === task && number === 1)
    expect(asked.map(({ text }) => text.includes('double.sh:1 squares its input'))).toEqual([
      false,
      true,
    ])
  }
  const { tries, mustFix, why, isSpent } = await world.work()
  expect({ tries, mustFix, why, isSpent }).toEqual({
    tries: 1,
    mustFix: '',
    why: '',
    isSpent: false,
  })
})

scenario('a change that fills a window is not shown to its coder again', NEW, async (open) => {
  const table = call('shell', { command: 'seq 1000000 1040000 > table.txt' })
  const world = await open({
    replies: [
      once(OBJECTS),
      building({ turn: 1 }, table),
      DONE,
      APPROVES,
      testing(call('submit_test_plan', planOf(['sh', 'tests/sum.sh']))),
    ],
  })
  expect(await world.outcome()).toBe('approved')
  const [, second] = world.told.filter(
    ({ task, number }) => task === 'coordinator/build' && number === 1,
  )
  expect(second?.text).toMatch(/The diff has 3\d{5} bytes.*git status names the files/)
  // The reviewer has all of it.
  expect(world.told.find(({ who }) => who === 'reviewer')?.text).toContain('+1040000')
})

scenario('a spent budget ends the task where it is', NEW, async (open) => {
  const world = await open({ budget: { run: { iterationsMax: 2 } }, replies: PLAIN })
  expect(await world.outcome()).toBe('max_iterations_reached')
  expect(await world.work()).toMatchObject({
    isSpent: true,
    why: expect.stringContaining('iterations'),
  })
  expect((await world.moves()).at(-1)).toBe('review max_iterations_reached finalize')
})

scenario('a coder who is blocked, or changes nothing, is not taken for done', NEW, async (open) => {
  const blocked = await open({
    replies: [building({}, call('report_blocked', { reason: 'There is no compiler.' }))],
  })
  expect(await blocked.outcome()).toBe('max_iterations_reached')
  expect(await blocked.work()).toMatchObject({
    isSpent: false,
    why: expect.stringContaining('compiler'),
  })
  const idle = await open({ replies: [DONE] })
  expect(await idle.outcome()).toBe('max_iterations_reached')
  expect(await idle.work()).toMatchObject({ why: 'the coder changed nothing' })
  for (const world of [blocked, idle]) {
    expect((await world.moves()).at(-1)).toBe('build max_iterations_reached finalize')
    expect(world.told.some(({ who }) => who === 'reviewer')).toBe(false)
  }
})
