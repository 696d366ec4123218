import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { plainGit } from '../git/world.ts'
import { makeUser, type User } from '../run/slipway.ts'
import { call, PLAIN, reply, story, submit, writes } from '../team/replies.ts'
import { SLIPWAY, Terminals } from './terminal.ts'

let terminals: Terminals

beforeEach(() => {
  terminals = new Terminals()
})

afterEach(() => terminals.close())

const TESTS = { commands: [['sh', 'test.sh']] }
const ASKED = '? To how many decimal places'

/** A question is over when the story that it is about is merged. */
const MERGED = /✔ average +Average words in a sentence +merged/

async function withUser(play: (user: User) => Promise<void>): Promise<void> {
  const user = await makeUser()
  try {
    await play(user)
  } finally {
    await user.close()
  }
}

test(
  'the board beside an engine that does not answer names the key that leaves it',
  () =>
    withUser(async (user) => {
      await user.play([reply({ role: 'architect' }, { hang: true })], {})
      expect(await user.slipway('run', '../spec.md', '--detach')).toMatchObject({ code: 0 })
      const { pid } = JSON.parse(readFileSync(join(user.state, 'engine.json'), 'utf8'))
      process.kill(pid, 'SIGSTOP')
      const desk = { cwd: user.repository, env: user.env }
      const terminal = terminals.open(`${SLIPWAY} watch`, desk)
      const board = await terminal.shows('Ctrl-C leaves the board')
      expect(board).toContain('does not answer; this is what it has stored')
      expect(board).not.toContain('q leaves')
      terminal.press('C-c')
      expect(await terminal.shows('ended with 130')).toContain('comes back to it')
    }),
  60_000,
)

test(
  'the board is left and come back to, and a question is answered beside it',
  () =>
    withUser(async (user) => {
      const desk = { cwd: user.repository, env: user.env }
      const first = terminals.open(`${SLIPWAY} run ../spec.md`, desk)
      const board = await first.shows(ASKED)
      // From ten seconds on the time takes a column of the bar.
      expect(board).toMatch(/^tally-\S+ +(running|waiting) +[█░]{23,24} \d of 7 stories/m)
      expect(board).toMatch(/^● average .*coder-\d QUESTION$/m)
      expect(board).toMatch(/^ +architect-\d +ESCALATED +average/m)
      expect(board).toMatch(/^ {2}one decimal place \| two decimal places \| no rounding$/m)
      expect(board).toContain('  abandon: this attempt at the story is given up')
      expect(board).toContain('  slipway answer "one decimal place"')
      expect(board).toContain('q leaves the board, the run goes on')
      first.press('q')
      const left = await first.shows('ended with 130')
      expect(left).toMatch(/The run goes on without the board\. slipway watch tally-\S+ comes back/)

      const second = terminals.open(`${SLIPWAY} watch`, desk)
      await second.shows(ASKED)
      second.press('C-c')
      expect(await second.shows('ended with 130')).toContain('comes back to it')

      const third = terminals.open(`${SLIPWAY} watch`, desk)
      await third.shows(ASKED)
      const answer = (words: string) => terminals.open(`${SLIPWAY} answer ${words}`, desk)
      const shown = await answer('').shows('ended with 3')
      expect(shown).toMatch(/^tally-\S+\/architect-\d:\S+, about average$/m)
      expect(shown).toContain('choices: one decimal place, two decimal places, no rounding')
      expect(await answer('"  "').shows('ended with 2')).toContain('Say what the answer is.')
      expect(await answer('"one decimal place"').shows('ended with 0')).toContain(
        'Answered: one decimal place.',
      )
      const end = await third.shows('ended with 0')
      expect(end).toMatch(MERGED)
      expect(end).toContain('TESTS AT THAT COMMIT')
      expect(end).not.toContain('NOT SHOWN')
      expect(end).toContain('git fetch .slipway/git/mirror.git main && git merge FETCH_HEAD')
      const late = await answer('"one decimal place"').shows('ended with 2')
      expect(late).toContain('Nothing is asked')
    }),
  180_000,
)

const pm = (state: string, contains: string, tool: string, input: object) =>
  reply({ role: 'pm', state, contains }, call(tool, input))

test(
  'an interview is held at the terminal that it began in',
  () =>
    withUser(async (user) => {
      const criteria = [{ id: '1', text: 'It greets.' }]
      const spec = { title: 'Greeter', body: 'In shell.', criteria }
      const summary = { summary: 'In shell.' }
      const which = { question: 'Which language?', options: ['shell', 'awk'] }
      user.write('test.sh', 'for t in tests/*.sh; do sh "$t" || exit 1; done\n')
      user.write('tests/0.sh', 'true\n')
      plainGit(user.repository, 'add', '-A')
      plainGit(user.repository, 'commit', '-q', '-m', 'tests')
      await user.play(
        [
          pm('INTERVIEWING', 'The answer: shell', 'end_interview', summary),
          pm('INTERVIEWING', 'a greeter', 'ask_user', which),
          pm('DRAFTING', 'In shell.', 'submit_spec', spec),
          submit(story('hello')),
          writes('hello'),
          ...PLAIN,
        ],
        { tests: TESTS, review: { spec: 'human' } },
      )
      const desk = { cwd: user.repository, env: user.env }
      const first = terminals.open(`${SLIPWAY} interview "a greeter"`, desk)
      const asked = await first.shows('\n> ')
      expect(asked).toContain('? Which language?')
      expect(asked).toContain('shell | awk')
      first.press('Enter')
      await first.shows('slipway answer "shell"')
      first.press('a')
      await vi.waitUntil(() => first.screen().split('\n> ').length === 3, { timeout: 20_000 })
      first.press('shell', 'Enter')
      const preview = await first.shows('words of your own: they count as change\n> ')
      expect(preview).toContain('approve | change | abandon')
      expect(preview).toContain('Answered: shell.')
      first.press('approve', 'Enter')
      expect(await first.shows('ended with 0')).toContain('It greets.')
    }),
  120_000,
)

test(
  'a run whose journal fails while a question is open ends by itself, and says why',
  () =>
    withUser(async (user) => {
      const which = { question: 'Which language?', options: ['shell', 'awk'] }
      await user.play([pm('INTERVIEWING', 'a greeter', 'ask_user', which)], {})
      const desk = { cwd: user.repository, env: user.env }
      const first = terminals.open(`${SLIPWAY} interview "a greeter" --foreground`, desk)
      await first.shows('\n> ')
      const { pid } = JSON.parse(readFileSync(join(user.state, 'engine.json'), 'utf8'))
      await user.type(`prlimit --pid ${pid} --fsize=1000`)
      expect(await user.slipway('budget', '--dollars', '5')).toMatchObject({ code: 1 })
      expect(await first.shows('ended with 1\n')).toContain('cannot be read or written')
    }),
  120_000,
)

test('the demo is answered from a second terminal, and builds what was said', async () => {
  const home = mkdtempSync(join(tmpdir(), 'slipway-home-'))
  const env = { PATH: process.env.PATH ?? '', HOME: home }
  const first = terminals.open(`${SLIPWAY} demo`, { cwd: home, env })
  const board = await first.shows(ASKED)
  const [, repository = '', command = ''] = /^ +cd (\S+) && (node \S+) answer$/m.exec(board) ?? []
  try {
    const second = terminals.open(`cd ${repository} && ${command} answer "no rounding"`, {
      cwd: home,
      env,
    })
    expect(await second.shows('ended with 0')).toContain('Answered: no rounding.')
    const end = await first.shows('ended with 0')
    expect(end).toContain('Done: every criterion is shown.')
    expect(end).toMatch(/slipway(\.js)? init/)
    const shown = terminals.open(
      `git -C ${repository} fetch -q .slipway/git/mirror.git main && git -C ${repository} show FETCH_HEAD:src/average.js`,
      { cwd: home, env },
    )
    expect(await shown.shows('ended with 0')).toContain('not rounded')
  } finally {
    rmSync(home, { recursive: true, force: true })
    if (repository !== '') rmSync(dirname(repository), { recursive: true, force: true })
  }
}, 180_000)

test(
  'a terminal that is closed while something is asked ends the work in it in peace',
  () =>
    withUser(async (user) => {
      const asks = call('ask_user', { question: 'What colour?' })
      await user.play([reply({ role: 'pm' }, asks)], {})
      const desk = { cwd: user.repository, env: user.env }
      // Another one, so that there are terminals left.
      terminals.open('true', desk)
      const terminal = terminals.open(`${SLIPWAY} interview --foreground`, desk)
      await terminal.shows('\n> ')
      const address = join(user.state, 'engine.json')
      const { pid } = JSON.parse(readFileSync(address, 'utf8'))
      terminal.hangUp()
      await vi.waitUntil(() => !isLiving(pid), 20_000)
      expect(existsSync(address)).toBe(false)
    }),
  60_000,
)

function isLiving(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
