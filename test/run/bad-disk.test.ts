import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reply } from '../team/replies.ts'
import { makeUser, type User } from './slipway.ts'

let user: User

beforeEach(async () => {
  user = await makeUser()
  await user.play([reply({ role: 'architect' }, { hang: true })], {})
  expect(await user.slipway('run', '../spec.md', '--detach')).toMatchObject({ code: 0 })
  user.killEngine()
})

afterEach(() => user.close())

const WAYS = ['resume', 'resume --foreground', 'run ../spec.md --detach']
const STATE = '../disk/state'
/** As much as fits on the disk and no more, wherever it is written. */
const fill = (file: string) => `dd if=/dev/zero of=../disk/${file} bs=4k count=8192 2>&-`

/** The state folder on a disk of its own, to which something is done; nothing is without one. */
const onDisk = (what: string) =>
  `mkdir ../disk && mount -t tmpfs -o size=32m tmpfs ../disk || exit; cp -a .slipway ${STATE}; ${what}`

test('where no disk is to be had, none is filled', async () => {
  const { code } = await user.typeApart(`mount() { false; }; ${onDisk(fill('filler'))}`)
  const isFilled = existsSync(join(user.repository, '../disk/filler'))
  expect([code, isFilled]).toEqual([1, false])
}, 60_000)

test.each([
  ['a full disk', fill('filler'), 'the disk is full; free some space'],
  ['a read-only disk', 'mount -o remount,ro ../disk', 'is read-only (EROFS). Make it writable'],
])(
  'whatever begins on %s says so, and what to do',
  async (_, harm, words) => {
    const tries = WAYS.map((way) => `$slipway ${way} --state ${STATE}; echo $?`)
    const { stdout, stderr } = await user.typeApart(`${onDisk(harm)}; ${tries.join('; ')}`)
    expect(stdout.trim().split('\n')).toEqual(['1', '1', '1'])
    expect(stderr.split(words)).toHaveLength(WAYS.length + 1)
    expect(stderr).not.toMatch(/^\s+at /m)
  },
  60_000,
)

/** Has something small stored, and does not wait for it long. */
const tell = (dollars: string) =>
  `timeout 5 $slipway budget --dollars ${dollars} --state ${STATE} > /dev/null`

/** An engine of the run, and a disk that it can store nothing on. */
const FULL_BESIDE_ENGINE = [
  // Whoever ends in peace leaves no log of the journal that has room in it.
  ...['pause', 'resume'].map((way) => `$slipway ${way} --state ${STATE}`),
  // What is left, or what an engine removes, may do for something small, but not for ever.
  `for i in $(seq 50); do ${fill('filler$i')}; ${tell('$i')} || break; done`,
]
const END_ENGINE = `kill -9 $(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' ${STATE}/engine.json)`

test('a status says that its engine waits for room, and so does what would wait with it', async () => {
  const steps = [
    ...FULL_BESIDE_ENGINE,
    `$slipway status --json --state ${STATE}`,
    `$slipway stop --state ${STATE}; echo "It ended with $?." >&2`,
    `$slipway task Thing --state ${STATE}; echo "It began with $?." >&2`,
    END_ENGINE,
  ]
  const { stdout, stderr } = await user.typeApart(onDisk(steps.join('; ')))
  expect(stderr).toMatch(/It waits: .*the disk is full; free some space/)
  expect(stderr).toMatch(/the disk is full; free some space, and type it again\nIt ended with 1\./)
  expect(stderr).toMatch(
    /the disk is full; free some space, and type it again .*\nIt began with 1\./,
  )
  const { engine } = JSON.parse(stdout.slice(stdout.indexOf('{')))
  expect(engine).toEqual({
    health: {
      state: 'waiting_for_journal',
      error: expect.stringContaining('the disk is full; free some space'),
    },
    unconfined: null,
  })
}, 60_000)

const RESTS = ['pause', 'stop'].map((way) => `$slipway ${way} --state ${STATE}; echo $?`)

test('on a full disk nothing is set to rest, and that is said', async () => {
  const { stdout, stderr } = await user.typeApart(onDisk([fill('filler'), ...RESTS].join('; ')))
  expect(stdout.trim().split('\n')).toEqual(['1', '1'])
  expect(stderr.split('the disk is full; free some space, and type it again')).toHaveLength(3)
}, 60_000)

test('who watches is told that the engine waits for room, and that it goes on', async () => {
  const waitFor = (words: string) =>
    `for i in $(seq 60); do grep -q '${words}' ../watched && break; sleep 0.5; done`
  const steps = [
    ...FULL_BESIDE_ENGINE,
    `$slipway watch --state ${STATE} 2> ../watched & watching=$!`,
    ...[waitFor('It waits'), 'rm ../disk/filler*', waitFor('It waits no longer')],
    ...['kill $watching', END_ENGINE, 'cat ../watched >&2'],
  ]
  const { stderr } = await user.typeApart(onDisk(steps.join('\n')))
  const told = stderr.match(/^It waits.*$/gm)
  expect(told).toEqual([
    expect.stringMatching(/: the disk is full; .* goes on by itself/),
    'It waits no longer, and goes on.',
  ])
}, 120_000)
