import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { plainGit } from '../git/world.ts'
import {
  APPROVE,
  call,
  decides,
  PLAIN,
  planning,
  reply,
  story,
  submit,
  working,
  writes,
} from '../team/replies.ts'
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
  'a run that has spent its budget says how it goes on, and does',
  async () => {
    await user.play([HELLO, writes('hello'), decides('continue'), ...PLAIN], {
      tests: TESTS,
      budget: { run: { iterations: 2 } },
    })
    const spent = await user.slipway('run', '../spec.md')
    expect([spent.code, spent.stderr]).toEqual([4, expect.stringContaining('slipway budget')])
    const hint = /slipway (budget \S+) --iterations 4$/m.exec(spent.stderr)?.[1] ?? ''
    expect((await user.slipway('status')).code).toBe(4)
    expect(JSON.parse((await user.slipway('budget', '--json')).stdout)).toMatchObject({
      spent: { iterations: 2 },
      limits: { run: { iterationsMax: 2, microdollarsMax: 50_000_000 } },
      isSpent: true,
    })
    expect(await user.slipway('budget', '--dollars', 'much')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--dollars is an amount'),
    })
    const raised = await user.slipway(...hint.split(' '), '--iterations', '100')
    expect(raised).toMatchObject({ code: 0, stderr: expect.stringContaining('goes on (1)') })
    expect(raised.stdout).toMatch(/^iterations +2 +100 +1000$/m)
    expect(await user.slipway('watch')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('shown'),
    })
  },
  QUIET_MS,
)

/** Stories that fail, each until something is said about it. */
const NAMES = ['again', 'anew', 'without', 'gone']
/** Longer than a line of any terminal. */
const DETAILS = 'It was looked for and is nowhere. '.repeat(10).trim()
const fails = (name: string) => {
  const reason = `No ${name}. ${DETAILS}`
  return working({ story: name, state: 'CODING' }, call('report_blocked', { reason }))
}
const mended = (name: string, contains: string) => [
  reply({ role: 'coder', state: 'CODING', story: name, turn: 1, contains }, ...writes(name).do),
  reply(
    { role: 'coder', state: 'CODING', story: name, turn: 2 },
    call('done', { summary: 'Done.' }),
  ),
]

test(
  'a story that failed is tried again, written anew, done without, or cut',
  async () => {
    const stories = [
      ...NAMES.map((name) => story(name)),
      story('user', { criteria: ['2'], depends_on: ['without'] }),
      story('tail', { depends_on: ['gone'] }),
      story('spare', { depends_on: ['without'] }),
    ]
    const replies = [
      submit(...stories),
      ...mended('again', 'blocked: No again.'),
      ...mended('anew', 'in another way'),
      ...NAMES.map(fails),
      writes('user'),
      ...PLAIN,
    ]
    await user.play(replies, { tests: TESTS, limits: { attempts: 1 }, team: { coders: 2 } })
    const waits = await user.slipway('run', '../spec.md')
    expect([waits.code, waits.stderr]).toEqual([3, expect.stringContaining('4 questions')])
    const [{ id, question }] = (await view()).questions
    expect((await user.slipway('status')).stdout, 'whole').toContain(
      `? ${question.replaceAll(/\s+/g, ' ')}\n`,
    )
    for (const unusable of ['nonsense', 'rewrite']) {
      expect((await user.slipway('answer', id, unusable)).code).toBe(2)
    }
    // While it rests, nobody acts on what is said.
    expect((await user.slipway('pause')).code).toBe(0)
    for (const args of [
      ['cut', 'spare'],
      ['retry', 'again'],
    ]) {
      const stderr = expect.stringMatching(
        /, once the run is resumed: slipway resume greeter-\w+$/m,
      )
      expect(await user.slipway(...args)).toMatchObject({ code: 0, stderr })
    }
    expect((await user.slipway('resume')).code).toBe(0)
    for (const args of [
      ['cut', 'gone'],
      ['waive', 'without'],
      ['rewrite', 'anew', 'Write', 'it in another way.'],
    ]) {
      const stderr = expect.stringMatching(/\.\n$/)
      expect(await user.slipway(...args)).toMatchObject({ code: 0, stderr })
    }
    expect((await user.slipway('watch')).code).toBe(0)
    const { stories: ended } = await view()
    const states = ended.map(({ id, state }: { id: string; state: string }) => `${id} ${state}`)
    expect(states.toSorted()).toEqual(
      ['again MERGED', 'anew MERGED', 'gone CUT', 'spare CUT', 'tail CUT', 'user MERGED']
        .concat('without WAIVED')
        .toSorted(),
    )
    for (const args of [
      ['retry', 'again'],
      ['cut', 'user'],
      ['waive', 'nothing'],
      ['rewrite', 'anew'],
    ]) {
      expect((await user.slipway(...args)).code).toBe(2)
    }
  },
  QUIET_MS,
)

test(
  'the next run begins where the branch is by now',
  async () => {
    const again = submit(story('wave', { criteria: ['1', '2'] }))
    const replies = [reply({ role: 'architect', contains: 'Waver' }, ...again.do), HELLO]
    await user.play(replies.concat(writes('hello'), writes('wave'), PLAIN), { tests: TESTS })
    expect((await user.slipway('run', '../spec.md')).code).toBe(0)
    const git = (...args: string[]) => plainGit(user.repository, ...args)
    user.write('own.txt', 'mine\n')
    git('add', 'own.txt')
    git('commit', '-q', '-m', 'Mine')
    user.write('../more.md', SPEC.replace('Greeter', 'Waver'))
    const refused = await user.slipway('run', '../more.md')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('each gone on') })
    git('fetch', '-q', '.slipway/git/mirror.git', 'main')
    git('merge', '-q', '--no-edit', 'FETCH_HEAD')
    expect((await user.slipway('run', '../more.md')).code).toBe(0)
    git('fetch', '-q', '.slipway/git/mirror.git', 'main:done')
    const files = git('ls-tree', '--name-only', 'done').split('\n')
    expect(files).toEqual(expect.arrayContaining(['hello.sh', 'own.txt', 'wave.sh']))
  },
  QUIET_MS,
)

test(
  'an interview asks, and what was said is built',
  async () => {
    const pm = (state: string, contains: string | undefined, ...steps: object[]) =>
      reply({ role: 'pm', state, ...(contains && { contains }) }, ...steps)
    const spec = {
      title: 'Greeter',
      body: 'In shell.',
      criteria: [{ id: '1', text: 'It greets.' }],
    }
    await user.play(
      [
        pm('INTERVIEWING', 'The answer: shell', call('end_interview', { summary: 'In shell.' })),
        pm(
          'INTERVIEWING',
          'a greeter',
          call('ask_user', { question: 'Which?', options: ['shell'] }),
        ),
        pm('DRAFTING', 'In shell.', call('submit_spec', spec)),
        submit(story('hello')),
        writes('hello'),
        ...PLAIN,
      ],
      { tests: TESTS },
    )
    const asked = await user.slipway('interview', 'a greeter')
    expect([asked.code, asked.stderr]).toEqual([3, expect.stringContaining('slipway answer')])
    const questions = await user.slipway('answer')
    expect([questions.code, questions.stdout]).toEqual([3, expect.stringContaining('Which?')])
    expect((await user.slipway('answer', 'shell')).code).toBe(0)
    expect((await user.slipway('watch')).code).toBe(0)
    expect((await user.slipway('evidence')).stdout).toContain('It greets.')
  },
  QUIET_MS,
)

test(
  'after a kill, whoever waited for work is told, and the run goes on',
  async () => {
    const ask = call('ask_question', { question: 'Which greeting?' })
    const escalate = call('escalate', { question: 'Which greeting?', options: ['hello'] })
    await user.play(
      [
        HELLO,
        reply({ role: 'coder', state: 'PLANNING', turn: 1, contains: 'Plan' }, ask),
        reply({ role: 'architect', contains: 'Answer this question' }, escalate),
        writes('hello'),
        ...PLAIN,
      ],
      { tests: TESTS },
    )
    expect((await user.slipway('run', '../spec.md')).code).toBe(3)
    expect(await view()).toMatchObject({ status: 'waiting', hasEngine: true })
    expect(user.killEngine()).toBe(true)
    await vi.waitFor(async () => expect(await view()).toMatchObject({ hasEngine: false }), 30_000)
    const answered = await user.slipway('answer', 'hello', '--json')
    expect(answered).toMatchObject({ code: 0, stderr: '' })
    const data = { about: 'hello', choice: 'hello', text: 'hello' }
    expect(JSON.parse(answered.stdout)).toEqual({ question: expect.any(String), ...data })
    expect((await user.slipway('watch')).code).toBe(0)
    expect((await user.slipway('logs')).stdout).toMatch(
      /architect-\d +\S+ → ERROR {2}channel_closed/,
    )
    expect((await user.slipway('replay', (await view()).run)).stdout).toContain('Sound')
    expect(existsSync(join(user.state, 'engine.json'))).toBe(true)
  },
  QUIET_MS,
)

test(
  'a spec is built up to its limit, in every script, and refused above it before anything begins',
  async () => {
    const words = '文字\n'.repeat(200_000)
    const ofLength = (chars: number) =>
      SPEC.replace('in shell.', `in shell.\n${words.slice(0, chars - SPEC.length - 1)}`)
    await user.play([HELLO, writes('hello'), ...PLAIN], { tests: TESTS })
    for (const unfit of [ofLength(200_001), `${SPEC}\u0007`]) {
      user.write('../spec.md', unfit)
      expect((await user.slipway('run', '../spec.md')).code).toBe(2)
    }
    expect(existsSync(join(user.state, 'journal.db'))).toBe(false)
    user.write('../spec.md', ofLength(200_000))
    const { code, stderr } = await user.slipway('run', '../spec.md')
    expect([code, stderr.slice(-2_000)]).toEqual([0, expect.anything()])
  },
  QUIET_MS,
)

test(
  'two runs that are started at once share one engine',
  async () => {
    await user.play([HELLO, writes('hello'), ...PLAIN], { tests: TESTS })
    user.write('../more.md', `${SPEC}\nIn few lines.\n`)
    const start = (spec: string) => user.slipway('run', spec, '--detach')
    const both = await Promise.all([start('../spec.md'), start('../more.md')])
    expect(both.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', ''])
  },
  QUIET_MS,
)

test(
  'a spec that the repository fulfils already is done when the tests show it',
  async () => {
    const nothing = call('mark_story_complete', { evidence: 'It is all there.' })
    await user.play([HELLO, planning(nothing), APPROVE], { tests: TESTS })
    const ended = await user.slipway('run', '../spec.md')
    expect([ended.code, ended.code === 0 ? '' : ended.stderr]).toEqual([0, ''])
    expect(ended.stdout).not.toContain('NOT SHOWN')
    const { stdout } = await user.slipway('evidence', '--json')
    const [{ stories }] = JSON.parse(stdout).criteria
    expect(stories).toMatchObject([{ commit: null, tests: { verdict: 'passed' } }])
    expect((await user.slipway('status')).code).toBe(0)
    expect(await user.slipway('cut', 'hello')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No story "hello" is left to be cut. None is.'),
    })
    // Nobody has to think for what is over.
    expect(user.killEngine()).toBe(true)
    delete user.env.SLIPWAY_SCENARIO
    user.env.OLLAMA_HOST = 'http://127.0.0.1:9'
    const watched = await user.slipway('watch')
    expect([watched.code, watched.stderr]).toEqual([0, expect.stringContaining('Take it over')])
    expect(watched.stdout).toBe(ended.stdout)
    const raised = await user.slipway('budget', '--dollars', '3')
    const said = expect.stringContaining('is over (done): there is nothing to spend')
    expect([raised.code, raised.stderr]).toEqual([0, said])
    expect(raised.stdout).toMatch(/^dollars +0.00 +50.00/m)
    for (const command of ['pause', 'stop', 'resume']) {
      const { code, stdout: data } = await user.slipway(command, '--json')
      const { run } = await view()
      expect([code, JSON.parse(data)]).toEqual([0, { run, command, idle: 'over (done)' }])
    }
  },
  QUIET_MS,
)

test(
  'an engine that works by an old script begins anew with the one that holds now',
  async () => {
    const blocked = { ...HELLO, do: [{ wait_ms: 30_000 }, ...HELLO.do] }
    await user.play([blocked, writes('hello'), ...PLAIN], { tests: TESTS })
    expect(await user.slipway('run', '../spec.md', '--detach')).toMatchObject({ code: 0 })
    const { run } = await view()
    await user.play([HELLO, writes('hello'), ...PLAIN], { tests: TESTS, target: 'main' })
    const resumed = await user.slipway('resume', run)
    console.log(resumed.stderr, (await user.slipway('answer')).stdout)
    expect(resumed).toMatchObject({ code: 0, stderr: expect.stringContaining('begins anew') })
    expect((await user.slipway('watch', run)).code).toBe(0)
  },
  QUIET_MS,
)

test(
  'a run is gone on with in this process; one that failed is over, and says why',
  async () => {
    await user.play([APPROVE], { tests: TESTS })
    expect((await user.slipway('run', '../spec.md')).code).toBe(3)
    expect((await user.slipway('answer', 'abandon')).code).toBe(0)
    expect((await user.slipway('watch')).code).toBe(1)
    const failed = await user.slipway('status')
    expect(failed).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('! No story was made'),
    })
    const refused = await user.slipway('resume')
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('over: it failed. No'),
    })
    // By its old script it would say other things.
    expect(user.killEngine()).toBe(true)
    const blocked = { ...HELLO, do: [{ wait_ms: 30_000 }, ...HELLO.do] }
    await user.play([blocked], { tests: TESTS })
    expect((await user.slipway('run', '../spec.md', '--detach')).code).toBe(0)
    expect(user.killEngine()).toBe(true)
    await user.play([HELLO, writes('hello'), ...PLAIN], { tests: TESTS })
    const resumed = await user.slipway('resume', '--foreground')
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('shown') })
    expect(existsSync(join(user.state, 'engine.json'))).toBe(false)
  },
  QUIET_MS,
)
