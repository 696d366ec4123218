import { expect } from 'vitest'
import { FILES } from '../parts.ts'
import {
  APPROVE,
  CODE_REVIEW,
  CONFLICTED,
  call,
  DONE,
  judges,
  once,
  PLAIN,
  PLAN,
  PLAN_REVIEW,
  REVIEWED,
  reply,
  story,
  submit,
  TESTS_FAIL,
  working,
  write,
  writes,
} from '../replies.ts'
import { ALL, BOTH, NEW, scenario } from '../scenario.ts'

scenario('a spec becomes merged code', ALL, async (open) => {
  const stories = [story('hello'), story('bye', { criteria: ['2'], depends_on: ['hello'] })]
  const world = await open({
    replies: [submit(...stories), writes('hello'), writes('bye'), ...PLAIN],
    coders: 2,
  })
  const agents = await world.untilOver()
  expect(world.log()).toEqual(['Add bye', 'Add hello', 'init'])
  expect(world.target('hello.sh')).toBe('echo hello')
  expect(agents.get('pm')?.state).toBe('DONE')
  for (const name of ['hello', 'bye']) expect(agents.get(`story/${name}`)?.state).toBe('MERGED')
})

scenario('a coder works in a sandbox', NEW, async (open) => {
  const world = await open({
    replies: [
      submit(story('hello', { criteria: ['1', '2'] })),
      writes('hello', call('shell', { command: 'sh hello.sh > hello.txt' })),
      ...PLAIN,
    ],
    isolation: 'bubblewrap',
  })
  await world.untilOver()
  expect(world.target('hello.txt')).toBe('hello')
})

/** Each needs a clone, so that many of them take their time: only when they are asked for. */
const CROWD = Number(process.env.SLIPWAY_STORIES ?? 0)

scenario(`${CROWD} stories that are ready at once are done`, CROWD > 0 ? NEW : [], async (open) => {
  const names = Array.from({ length: CROWD }, (_, i) => `s${i}`)
  const world = await open({
    replies: [
      submit(...names.map((name) => story(name, { criteria: ['1', '2'] }))),
      ...names.map((name) => working({ story: name, turn: 1 }, write(`${name}.txt`, `${name}\n`))),
      ...PLAIN,
    ],
    coders: 50,
    architects: 4,
  })
  const agents = await world.untilOver()
  for (const name of names) {
    expect(agents.get(`story/${name}`)?.state).toBe('MERGED')
    expect(world.target(`${name}.txt`)).toBe(name)
  }
  expect(world.log()).toHaveLength(CROWD + 1)
  expect(agents.get('dispatcher')?.data.counts).toEqual({ total: CROWD, left: 0, failed: 0 })
})

const two = [story('a'), story('b', { criteria: ['2'] })]
/** Both stories begin before one of them is merged. */
const both = (text: (name: string) => readonly object[]) =>
  ['a', 'b'].map((name) =>
    reply(
      { role: 'coder', state: 'CODING', story: name, turn: 1, contains: 'Implement this' },
      ...text(name),
    ),
  )

scenario('two stories that change the same line are brought together', ALL, async (open) => {
  const mended = [write('list.txt', 'a\nb\n'), write('tests/list.sh', 'grep -q a list.txt\n')]
  const world = await open({
    replies: [
      submit(...two),
      ...both((name) => [write('list.txt', `${name}\n`), { wait_ms: 300 }]),
      working({ ...CONFLICTED, turn: 1 }, ...mended),
      ...PLAIN,
    ],
    coders: 2,
  })
  await world.untilOver()
  expect(world.target('list.txt')).toBe('a\nb')
  expect(world.log().toSorted()).toEqual(['Add a', 'Add b', 'init'])
  const moves = [...(await world.moves('coder-1')), ...(await world.moves('coder-2'))]
  expect(moves.filter((move) => move.includes('merge_conflicted'))).toHaveLength(1)
})

scenario('a conflict that comes back with its marks is told again', NEW, async (open) => {
  const world = await open({
    replies: [
      submit(...two),
      ...both((name) => [write('list.txt', `${name}\n`), { wait_ms: 300 }]),
      working({ contains: 'list.txt: unsettled.', turn: 1 }, write('list.txt', 'a\nb\n')),
      working({ ...CONFLICTED, turn: 1 }, write('notes.txt', 'The conflict can stay.\n')),
      ...PLAIN,
    ],
    coders: 2,
  })
  await world.untilOver()
  expect(world.target('list.txt')).toBe('a\nb')
  expect(world.log().toSorted()).toEqual(['Add a', 'Add b', 'init'])
  const moves = [...(await world.moves('coder-1')), ...(await world.moves('coder-2'))]
  expect(moves.filter((move) => move.includes('merge_conflicted'))).toHaveLength(2)
})

scenario('two stories that are green alone and red together are mended', BOTH, async (open) => {
  const other = { a: 'b', b: 'a' } as Readonly<Record<string, string>>
  const world = await open({
    replies: [
      submit(...two),
      ...both((name) => [
        write(`${name}.sh`, 'true\n'),
        write(`tests/${name}.sh`, `test ! -e ${other[name]}.sh\n`),
        { wait_ms: 300 },
      ]),
      working(
        { contains: 'Merged with the target, the tests fail', turn: 1 },
        ...['a', 'b'].map((name) => write(`tests/${name}.sh`, 'true\n')),
      ),
      ...PLAIN,
    ],
    coders: 2,
  })
  await world.untilOver()
  expect(world.log().toSorted()).toEqual(['Add a', 'Add b', 'init'])
  for (const name of ['a', 'b']) expect(world.target(`tests/${name}.sh`)).toBe('true')
})

scenario(
  'what the tests write is not merged, also where they failed at first',
  BOTH,
  async (open) => {
    const traces = 'echo ran >> counter.txt; mkdir -p coverage; echo x > coverage/out.txt\n'
    const world = await open({
      replies: [
        submit(story('hello', { criteria: ['1', '2'] })),
        writes('hello', write('tests/1.sh', 'false\n')),
        working({ ...TESTS_FAIL, turn: 1 }, write('tests/1.sh', 'true\n')),
        ...PLAIN,
      ],
      files: { ...FILES, 'test.sh': `${traces}${FILES['test.sh']}`, 'counter.txt': 'none\n' },
      tests: { commands: [{ argv: ['sh', 'test.sh'] }] },
    })
    await world.untilOver()
    expect(world.log()).toEqual(['Add hello', 'init'])
    expect(world.target('tests/1.sh')).toBe('true')
    expect(world.target('counter.txt')).toBe('none')
    expect(world.target('coverage/out.txt')).toBeUndefined()
  },
)

scenario('no test is a failure, however green the exit code', BOTH, async (open, { coder }) => {
  const world = await open({
    replies: [
      submit(story('hello', { criteria: ['1', '2'] })),
      writes('hello'),
      working({ ...TESTS_FAIL, turn: 1 }, write('test.sh', 'echo 1..1; echo "ok 1 - it greets"\n')),
      PLAN,
      DONE,
      APPROVE,
    ],
    files: { ...FILES, 'test.sh': 'true\n' },
    tests: { commands: [{ argv: ['sh', 'test.sh'] }], requireReport: true },
  })
  await world.untilOver()
  const mending = coder === 'F' ? 'FIXING' : 'CODING'
  expect(await world.moves('coder-1')).toContain(`TESTING tests_failed ${mending}`)
  expect(world.log()).toEqual(['Add hello', 'init'])
})

scenario('a plan and code that are sent back are mended', ALL, async (open) => {
  const better = write('hello.sh', 'echo hello # in English\n')
  const world = await open({
    replies: [
      submit(story('hello', { criteria: ['1', '2'] })),
      once(judges(PLAN_REVIEW, 'needs_changes', 'Name the language.')),
      reply({ role: 'coder', state: 'PLANNING', contains: 'Name the language.' }, ...PLAN.do),
      writes('hello'),
      once(judges(CODE_REVIEW, 'needs_changes', 'Say that it is English.')),
      working({ ...REVIEWED, turn: 1 }, better),
      ...PLAIN,
    ],
    planReview: 'model',
  })
  await world.untilOver()
  expect(world.target('hello.sh')).toBe('echo hello # in English')
})

scenario('devops stories come first', BOTH, async (open) => {
  const stories = [story('a'), story('b', { criteria: ['2'] }), story('image', { kind: 'devops' })]
  const world = await open({
    replies: [submit(...stories), writes('a'), writes('b'), writes('image'), ...PLAIN],
  })
  await world.untilOver()
  expect(world.log()).toEqual(['Add b', 'Add a', 'Add image', 'init'])
})

scenario('stories that expect the same files are kept apart', BOTH, async (open) => {
  const shared = { expected_files: ['list.txt'] }
  const world = await open({
    replies: [
      submit(story('a', shared), story('b', { ...shared, criteria: ['2'] })),
      ...both((name) => [write('list.txt', `${name}\n`), write(`tests/${name}.sh`, 'true\n')]),
      ...PLAIN,
    ],
    coders: 2,
  })
  await world.untilOver()
  expect(world.log()).toEqual(['Add b', 'Add a', 'init'])
  const moves = [...(await world.moves('coder-1')), ...(await world.moves('coder-2'))]
  expect(moves.filter((move) => move.includes('merge_conflicted'))).toEqual([])
})
