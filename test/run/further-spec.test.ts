import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { call, PLAIN, reply, story, submit, writes } from '../team/replies.ts'
import { HELLO, makeGreeter, SPEC, TESTS } from './greeter.ts'
import type { User } from './slipway.ts'

const QUIET_MS = 120_000

let user: User

beforeEach(async () => {
  user = await makeGreeter()
})

afterEach(() => user.close())

/** The only run, as `slipway status` sees it. */
const view = async () => JSON.parse((await user.slipway('status', '--json')).stdout)

test(
  'a further spec goes into the same run, and both are shown',
  async () => {
    const wave = submit(story('wave', { criteria: ['1'] }))
    const looks = call('read_file', { path: 'hello.sh' })
    await user.play(
      [
        reply({ role: 'architect', contains: 'Waver' }, looks),
        // It sees what the first spec has brought.
        reply({ role: 'architect', turn: 2, contains: 'echo hello' }, ...wave.do),
      ].concat(HELLO, writes('hello'), writes('wave'), PLAIN),
      { tests: TESTS },
    )
    expect((await user.slipway('run', '../spec.md')).code).toBe(0)
    const { run } = await view()
    // It goes where the run goes, whatever is checked out by now.
    await user.type('git checkout -q --detach')
    user.write('../more.md', '# Waver\n\n## Acceptance criteria\n\n1. It waves.\n')
    expect((await user.slipway('run', '../more.md', '--into', 'nothing')).code).toBe(2)
    const more = await user.slipway('run', '../more.md', '--into', run, '--json')
    expect(more.code).toBe(0)
    expect(JSON.parse(more.stdout)).toMatchObject({
      run,
      title: 'Greeter, Waver',
      isComplete: true,
      criteria: [
        { text: 'It greets.', stories: [{ id: 'hello' }] },
        { text: 'It says goodbye.', stories: [{ id: 'hello' }] },
        { text: 'It waves.', stories: [{ id: 'wave' }] },
      ],
    })
  },
  QUIET_MS,
)

test(
  'a further spec goes into a run that is over, also after its engine has ended',
  async () => {
    const replies = [HELLO, writes('hello'), writes('wave'), ...PLAIN]
    const judged = (...steps: object[]) => [
      reply({ role: 'architect', contains: 'Waver' }, ...steps),
      ...replies,
    ]
    await user.play(judged({ hang: true }), { tests: TESTS })
    expect((await user.slipway('run', '../spec.md')).code).toBe(0)
    const { run } = await view()
    user.killEngine()
    user.write('../more.md', '# Waver\n\n## Acceptance criteria\n\n1. It waves.\n')
    expect((await user.slipway('run', '../more.md', '--into', run, '--detach')).code).toBe(0)
    await vi.waitFor(async () => {
      const { agents } = await view()
      expect(agents).toContainEqual(expect.objectContaining({ state: 'REQUEST' }))
    }, 20_000)
    // There is no story of it yet, and somebody is at it.
    user.killEngine()
    const wave = submit(story('wave', { criteria: ['1'] }))
    user.write('../scenario.yaml', JSON.stringify({ replies: judged(...wave.do) }))
    expect(await user.slipway('watch')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('It waves.'),
    })
  },
  QUIET_MS,
)

test(
  'a story that a further spec has in common with an earlier one is not built again',
  async () => {
    const wave = story('wave', { criteria: ['3'], depends_on: ['hello'] })
    const both = submit(story('hello', { criteria: ['1', '2'] }), wave)
    await user.play(
      [reply({ role: 'architect', contains: 'It waves.' }, ...both.do), HELLO].concat(
        [writes('hello'), writes('wave')],
        PLAIN,
      ),
      { tests: TESTS },
    )
    expect((await user.slipway('run', '../spec.md')).code).toBe(0)
    const { run, stories } = await view()
    // Nothing is left to be done, and that is the end of it.
    expect((await user.slipway('run', '../spec.md', '--into', run)).code).toBe(0)
    user.write('../more.md', `${SPEC}3. It waves.\n`)
    expect((await user.slipway('run', '../more.md', '--into', run)).code).toBe(0)
    expect((await view()).stories).toEqual([
      ...stories,
      expect.objectContaining({ id: 'wave', state: 'MERGED' }),
    ])
  },
  QUIET_MS,
)
