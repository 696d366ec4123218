import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ended } from '../../src/effects/process/command.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
import { buildWorker, openRemote } from './remote-isolation.ts'
import { COMMANDS } from './spare-commands.ts'
import {
  inSandbox,
  isRunning,
  makeFolder,
  type Place,
  type Subject,
  sharedPlace,
  sleepMark,
} from './subject.ts'
import { findSpare, parentOf, waitForSpare } from './waiting.ts'

const RACES = Number(process.env.SLIPWAY_SPARE_RACES ?? 40)

const uid = process.getuid?.() ?? 0
const stateFolder = makeFolder(uid)
const processes = openProcesses(stateFolder)
let isolation: Isolation
const subject: Subject = { level: 'bubblewrap', uid, stateFolder, isolation: () => isolation }

beforeAll(async () => {
  isolation = await openBubblewrap(processes, { stateFolder })
})

afterAll(async () => {
  await processes.close()
  rmSync(stateFolder, { recursive: true })
})

function beBusy(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** A sandbox whose next command will be given to a spare. */
const withSpare = (use: (place: Place, spare: number) => Promise<void>) =>
  inSandbox(subject, {}, async (place) => {
    await place.sh('true')
    await use(place, await waitForSpare(place.workspace))
  })

const seen = ({ how, exitCode, stdout, stderr }: Ended) => ({
  how,
  exitCode,
  stdout: stdout.toString(),
  // The one word by which a line that fails can tell.
  stderr: stderr.toString().replaceAll('eval: ', ''),
})

describe('a command cannot tell a spare from a plain start', () => {
  const place = sharedPlace(subject)
  const limits = { timeoutMs: 10_000, outputBytesMax: 100_000 }

  beforeAll(async () => {
    const write = (path: string, text: string) => `printf '${text}' > ${path}; chmod 755 ${path}`
    const scripts = [
      write('script', '#!/bin/sh\\necho ran as $0'),
      write('plain', 'echo ran'),
      write('broken', '#!/no/such/shell\\n'),
    ]
    await place.sh(`mkdir -p "it's/a b"; cd "it's"; ${scripts.join('; ')}`)
  })

  test.each(Object.entries(COMMANDS))('by %s', async (_, command) => {
    const spare = await waitForSpare(place.workspace)
    // One with a variable of its own is started in the plain way.
    const plain = await place.sandbox.run({ ...command, ...limits, env: { TMPDIR: '/tmp' } })
    expect(findSpare(place.workspace)).toBe(spare)
    for (const word of [{}, { isOwnWordEnough: true }] as const) {
      await waitForSpare(place.workspace)
      const spared = await place.sandbox.run({ ...command, ...limits, ...word })
      expect(seen(spared)).toEqual(seen(plain))
    }
  })

  test('by any bytes among its arguments', () =>
    withSpare(async ({ sandbox }) => {
      const bytes = Array.from({ length: 0x7ff }, (_, code) => String.fromCodePoint(code + 1))
      const args = [bytes.join(''), ...bytes, 'an emoji: \u{1f6a2}']
      const { stdout } = await sandbox.run({ argv: ['printf', '%s\\0', ...args], ...limits })
      expect(stdout.toString().split('\0').slice(0, -1)).toEqual(args)
    }))
})

describe('a spare', () => {
  test('becomes the next command', () =>
    withSpare(async ({ sh }, spare) => {
      const mark = sleepMark()
      const stop = new AbortController()
      const run = sh(`exec sleep ${mark}`, { signal: stop.signal })
      const line = () => readFileSync(`/proc/${spare}/cmdline`, 'latin1')
      await expect.poll(line, { timeout: 10_000 }).toContain(mark)
      stop.abort()
      expect((await run).how).toBe('aborted')
      expect(isRunning(mark)).toBe(false)
    }))

  test('starts its clocks when the command is given', () =>
    withSpare(async ({ sh }) => {
      await sleep(3_000)
      const quick = await sh('true', { timeoutMs: 2_900 })
      expect(quick).toMatchObject({ how: 'exited', exitCode: 0 })
      expect(quick.durationMs).toBeLessThan(2_900)
    }))

  test('says what its line came to, whatever its launcher does', () =>
    withSpare(async ({ sh, workspace }, spare) => {
      await sleep(300)
      const first = parentOf(spare)
      for (const pid of [first, parentOf(first)]) process.kill(pid, 'SIGSTOP')
      const word = { timeoutMs: 5_000, isOwnWordEnough: true } as const
      const ended = await sh('echo one; echo two >&2; (exit 3)', word)
      expect(seen(ended)).toEqual({ how: 'exited', exitCode: 3, stdout: 'one\n', stderr: 'two\n' })
      await expect.poll(() => existsSync(`/proc/${spare}`), { timeout: 5_000 }).toBe(false)
      expect(await waitForSpare(workspace)).not.toBe(spare)
    }))

  test('is believed nothing where its own word is not enough', () =>
    withSpare(async ({ sh }, spare) => {
      const first = parentOf(spare)
      for (const pid of [first, parentOf(first)]) process.kill(pid, 'SIGSTOP')
      expect(await sh('echo one', { timeoutMs: 500 })).toMatchObject({ how: 'timed_out' })
    }))

  test('is not done while somebody is left whom its line has started', () =>
    withSpare(async ({ sh }) => {
      const mark = sleepMark()
      const line = `(setsid sleep ${mark} &) ; sleep ${mark} & echo one`
      const { exitCode } = await sh(line, { isOwnWordEnough: true })
      expect([exitCode, isRunning(mark)]).toEqual([0, false])
    }))

  test('is left alone by a command that is stopped before it begins', () =>
    withSpare(async ({ sh, workspace }, spare) => {
      expect((await sh('touch begun', { signal: AbortSignal.abort() })).how).toBe('not_started')
      expect(findSpare(workspace)).toBe(spare)
      expect(existsSync(join(workspace, 'begun'))).toBe(false)
    }))

  test('ends with its command when that takes too long', () =>
    withSpare(async ({ sh }) => {
      const mark = sleepMark()
      const late = await sh(`setsid sleep ${mark} & sleep ${mark}`, { timeoutMs: 200 })
      expect(late).toMatchObject({ how: 'timed_out', exitCode: null })
      expect(isRunning(mark)).toBe(false)
    }))

  test('uses no processor while it waits', () =>
    withSpare(async (_, spare) => {
      const ticks = () => readFileSync(`/proc/${spare}/stat`, 'latin1').split(' ').slice(13, 17)
      const switches = () => readFileSync(`/proc/${spare}/status`, 'latin1').match(/ctxt.*/g)
      const before = [ticks(), switches()]
      await sleep(300)
      expect([ticks(), switches()]).toEqual(before)
    }))

  test('is not made for a sandbox that runs one command', async () => {
    let folder = ''
    await inSandbox(subject, {}, async ({ sh, workspace }) => {
      folder = workspace
      await sh('true')
    })
    await sleep(100)
    expect(findSpare(folder)).toBeUndefined()
  })

  test('ends with its sandbox', async () => {
    let spare = 0
    await withSpare(async (_, pid) => {
      spare = pid
    })
    expect(existsSync(`/proc/${spare}`)).toBe(false)
  })

  test('does not keep two commands from running side by side', () =>
    withSpare(async ({ sh }) => {
      const wait = (own: string, other: string) =>
        sh(`touch ${own}; while [ ! -e ${other} ]; do sleep 0.01; done`)
      const ended = await Promise.all([wait('a', 'b'), wait('b', 'a')])
      expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0])
    }))

  test('loses nothing of what its command prints while we are busy with something else', () =>
    withSpare(async ({ sh, workspace }) => {
      // What is there to be read together with the answer that the command begins, and before it.
      const server = createServer((socket) => socket.on('data', () => beBusy(40)))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const other = connect((server.address() as AddressInfo).port, '127.0.0.1')
      await once(other, 'connect')
      for (let i = 0; i < 5; i += 1) {
        await sleep(50)
        other.write('x')
        const line = 'sleep 0.01; echo out; echo err >&2; (exit 3)'
        const run = sh(line, { isOwnWordEnough: true })
        await new Promise<void>((resolve) => process.nextTick(resolve))
        beBusy(3)
        expect(seen(await run)).toMatchObject({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' })
        await waitForSpare(workspace)
      }
      other.destroy()
      server.close()
    }))

  test('loses nothing of what its command prints to a busy process of ours', () =>
    withSpare(async ({ sh, workspace }) => {
      for (let i = 0; i < 3; i += 1) {
        const run = sh('head -c 1000000 /dev/zero | tr "\\0" x; echo end', {
          outputBytesMax: 2_000_000,
        })
        const busy = setInterval(() => beBusy(30), 1)
        const { stdout } = await run
        clearInterval(busy)
        expect(stdout.length).toBe(1_000_004)
        await waitForSpare(workspace)
      }
    }))
})

describe('a spare that died', () => {
  test('is noticed, and another takes its place', () =>
    withSpare(async ({ sh, workspace }, spare) => {
      process.kill(spare, 'SIGKILL')
      expect(await sh('echo well')).toMatchObject({ exitCode: 0, stdout: Buffer.from('well\n') })
      expect(await waitForSpare(workspace)).not.toBe(spare)
      expect(await sh('echo again')).toMatchObject({ exitCode: 0, stdout: Buffer.from('again\n') })
    }))

  test(
    `never makes a command run twice, nor not at all, ${RACES} times`,
    () =>
      withSpare(async ({ sh, workspace }) => {
        for (let i = 0; i < RACES; i += 1) {
          const spare = await waitForSpare(workspace)
          const run = sh(`echo ${i} >> ran`)
          if (i % 2 === 1) await sleep(Math.random() * 3)
          if (i % 4 === 2) await new Promise((resolve) => setImmediate(resolve))
          try {
            process.kill(spare, 'SIGKILL')
          } catch {
            // Its command has ended.
          }
          const { how } = await run
          const times = linesOf(join(workspace, 'ran')).filter((line) => line === String(i)).length
          // Killed in its course, it has written its line or not.
          if (how === 'exited') expect(times).toBe(1)
          else expect([how, times <= 1]).toEqual(['killed', true])
        }
      }),
    20_000 + 500 * RACES,
  )
})

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
}

/** What a command might do to one that waits beside it. Those with numbers get the spare's. */
const ATTACKS: Readonly<Record<string, (pids: readonly number[]) => string>> = {
  'signals to all': () => 'kill -9 -1; kill -STOP -1',
  'signals by number': (pids) => `for s in 9 STOP TERM CONT; do kill -$s ${pids.join(' ')}; done`,
  'signals to every number': () =>
    'i=2; while [ $i -le 40000 ]; do [ $i = $$ ] || kill -9 $i; i=$((i+1)); done 2>/dev/null',
  'a lower priority': () => 'renice -n 19 -u "$(id -u)"; ionice -c 3 -u "$(id -u)"',
  'its limits': (pids) => pids.map((pid) => `prlimit --cpu=1 --pid ${pid}`).join('; '),
  ptrace: (pids) =>
    // 101 is ptrace; 16 attaches, and 0x4206 seizes.
    `perl -e 'for my $p (${pids.join(',')}) { syscall(101, 16, $p, 0, 0); syscall(101, 0x4206, $p, 0, 0) }'`,
  'its memory and files': (pids) =>
    pids
      .map(
        (pid) => `cat /proc/${pid}/environ; echo exit 7 | tee /proc/${pid}/fd/* /proc/${pid}/mem`,
      )
      .join('; '),
  'its files by number': () =>
    'for f in 3 4 5 6 7 8 9; do echo "exit 7" >&$f; done; echo "exit 7" > /dev/fd/0',
  'what shells read': () =>
    'for f in .profile .shrc .bashrc .dashrc; do echo "exit 7" | tee ~/$f $f; done; export ENV=~/.shrc',
  'programs of the same names': () =>
    'for f in sh true echo printf cd command exec; do echo "exit 7" > $f; chmod 755 $f; done',
  'no room': () => 'head -c 2000000000 /dev/zero | tee /tmp/full ~/full /dev/shm/full > /dev/null',
  'its folder': () => 'cd ..; mv "$OLDPWD" elsewhere; rm -rf "$OLDPWD"/*; rmdir "$OLDPWD"',
}

describe('another command does nothing to a spare', () => {
  test.each(Object.entries(ATTACKS))('by %s', (_, attack) =>
    inSandbox(subject, { limits: { scratchBytesMax: 4_000_000 } }, async ({ sh, workspace }) => {
      await sh('true')
      const spare = await waitForSpare(workspace)
      const before = stateOf(spare)
      const parent = Number(before.parent)
      const script = `${attack([spare, parent, Number(stateOf(parent).parent)])}; true`
      // With a variable of its own it is started in the plain way, and leaves the spare to wait.
      await sh(script, { env: { A: 'b' }, timeoutMs: 8_000 })
      expect(findSpare(workspace)).toBe(spare)
      expect(stateOf(spare)).toEqual(before)
      writeFileSync(join(workspace, 'proof'), '')
      const next = await sh('echo "well $$"; printf x >> proof; exit 3')
      expect(next).toMatchObject({ how: 'exited', exitCode: 3 })
      expect(next.stdout.toString()).toBe('well 2\n')
      expect(readFileSync(join(workspace, 'proof'), 'utf8')).toBe('x')
    }),
  )
})

/** What others might have changed of a process. */
function stateOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ')
  return {
    state: stat[2],
    parent: stat[3],
    nice: stat[18],
    limits: readFileSync(`/proc/${pid}/limits`, 'latin1'),
    tracer: /TracerPid:.*/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[0],
    files: readdirSync(`/proc/${pid}/fd`),
  }
}

test('a killed orchestrator leaves no spare', async () => {
  const worker = buildWorker()
  const folder = makeFolder(uid)
  const remote = await openRemote({ level: 'bubblewrap', worker: worker.file, stateFolder: folder })
  const abandoned = { ...subject, stateFolder: folder, isolation: () => remote }
  const use = inSandbox(abandoned, {}, async ({ sh, workspace }) => {
    await sh('true')
    const spare = await waitForSpare(workspace)
    await remote.kill()
    await expect.poll(() => existsSync(`/proc/${spare}`), { timeout: 2_000 }).toBe(false)
  })
  // Nobody is left to close the sandbox.
  await expect(use).rejects.toThrow('the worker has ended')
  worker.remove()
  rmSync(folder, { recursive: true })
})
