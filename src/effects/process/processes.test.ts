import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Command } from './command.ts'
import { readStatus } from './process-table.ts'
import { openProcesses, type Processes } from './processes.ts'

let processes: Processes
let folder: string

beforeEach(() => {
  folder = `/state/${process.pid}/${Math.random()}`
  processes = openProcesses(folder)
})

afterEach(() => processes.close())

const command = (argv: readonly [string, ...string[]], more: Partial<Command> = {}): Command => ({
  argv,
  cwd: '/',
  env: { PATH: process.env.PATH ?? '' },
  timeoutMs: 20_000,
  outputBytesMax: 10_000,
  ...more,
})

const sh = (script: string, more: Partial<Command> = {}) =>
  processes.run(command(['sh', '-c', script], more))

/** Whether the process whose number a command printed is alive. */
const isAlive = (printed: Buffer) => readStatus(Number(printed.toString().trim())) !== undefined

describe('a command', () => {
  test.each([
    ['exit 3', { how: 'exited', exitCode: 3 }],
    ['kill -9 $$', { how: 'killed', exitCode: null }],
    ['kill -TERM $$', { how: 'killed', exitCode: null }],
  ])('%s', async (script, end) => {
    expect(await sh(script)).toMatchObject(end)
  })

  test('is talked to for as long as it lives', async () => {
    const input = new PassThrough()
    const heard: string[] = []
    const run = processes.run(
      command(['sh', '-c', 'echo noise >&2; while read line; do echo "$line!"; done'], {
        stdin: input,
        onStdout(chunk) {
          heard.push(chunk.toString())
          if (heard.length === 1) input.end('two\n')
        },
      }),
    )
    input.write('one\n')
    expect(await run).toMatchObject({ how: 'exited', exitCode: 0 })
    expect(heard.join('')).toBe('one!\ntwo!\n')
  })

  test('loses nothing of its output to a busy process of ours', async () => {
    const running = Array.from({ length: 8 }, (_, i) =>
      processes.run(command(['sh', '-c', `sleep 0.1; echo ${i}`]), 'trusted'),
    )
    // Longer than anybody waits for the last of the output, again and again.
    const busy = setInterval(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
    }, 1)
    const ended = await Promise.all(running)
    clearInterval(busy)
    expect(ended.map(({ stdout }) => stdout.toString())).toEqual(
      Array.from({ length: 8 }, (_, i) => `${i}\n`),
    )
  })

  test('has both streams, apart and together, and its own environment alone', async () => {
    const ended = await sh('echo one; echo two >&2; env', {
      env: { PATH: '/usr/bin:/bin', A: 'b' },
    })
    expect(ended.stderr.toString()).toBe('two\n')
    expect(ended.stdout.toString()).toMatch(/^one\n/)
    expect(ended.output.length).toBe(ended.stdout.length + ended.stderr.length)
    const names = ended.stdout.toString().match(/^\w+(?==)/gm)
    expect(names?.sort()).toEqual(expect.arrayContaining(['A', 'PATH', 'SLIPWAY_PROCESS']))
    expect(names?.filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))).toHaveLength(3)
  })

  test('reads its input, or leaves it', async () => {
    const stdin = 'x'.repeat(5_000_000)
    expect((await sh('wc -c', { stdin })).stdout.toString().trim()).toBe('5000000')
    expect(await sh('exit 0', { stdin })).toMatchObject({ how: 'exited', exitCode: 0 })
    expect(await sh('exec <&-; exit 0', { stdin })).toMatchObject({ exitCode: 0 })
  })

  test.each([
    [['no-such-program'], {}],
    [['sh', '-c', 'true'], { cwd: '/no/such/folder' }],
    [['sh', 'x\0y'], {}],
    [['sh', 'x'.repeat(5_000_000)], {}],
    [['sh'], { signal: AbortSignal.abort() }],
  ] as const)('that cannot start says so: %.30s', async (argv, more) => {
    const ended = await processes.run(command(argv, more))
    expect(ended).toMatchObject({ how: 'not_started', exitCode: null })
    expect(ended.stderr.length).toBeGreaterThan(5)
  })

  test('tells what it prints as it comes', async () => {
    const heard: string[] = []
    const stop = new AbortController()
    const onOutput = (chunk: Buffer) => {
      heard.push(chunk.toString())
      stop.abort()
    }
    const ended = await sh('echo ready; sleep 60', { onOutput, signal: stop.signal })
    expect(ended.how).toBe('aborted')
    expect(heard).toEqual(['ready\n'])
  })

  test('has a timeout of any length', async () => {
    expect((await sh('sleep 0.1; exit 0', { timeoutMs: Infinity })).exitCode).toBe(0)
    expect((await sh('sleep 60', { timeoutMs: 50 })).how).toBe('timed_out')
  })

  test('keeps less of each stream than of both, where that is asked for', async () => {
    const script = 'seq 1 1000; seq 1 1000 >&2'
    const ended = await sh(script, { outputBytesMax: 10_000, streamBytesMax: 100 })
    expect(ended.droppedBytes).toBe(0)
    expect(ended.output.length).toBe(2 * 3_893)
    for (const stream of [ended.stdout, ended.stderr]) expect(stream.length).toBeLessThan(150)
  })

  test('that prints without end is ended', async () => {
    const ended = await sh('yes', { printedBytesMax: 1_000_000 })
    expect(ended).toMatchObject({ how: 'flooded', exitCode: null })
    expect(ended.output.length).toBeLessThan(10_100)
    expect(ended.droppedBytes).toBeGreaterThan(900_000)
  })

  test('does not wait for a stranger who holds its output', async () => {
    const holder = await processes.run(command(['sh', '-c', 'sleep 5 & exit 0']), 'trusted')
    expect(holder).toMatchObject({ how: 'exited', exitCode: 0 })
    expect(holder.durationMs).toBeLessThan(3_000)
  })
})

describe('what a command leaves', () => {
  test.each([
    'sleep 60 & echo $!',
    'setsid sh -c "echo \\$\\$; exec sleep 60" &',
    '(sh -c "echo \\$\\$; exec sleep 60" &) & sleep 0.1',
    'env -i sleep 60 & echo $!',
    '(trap "" TERM HUP INT; echo $$; sleep 60) & sleep 0.1',
  ])('is ended: %s', async (script) => {
    const { stdout } = await sh(`${script}\nsleep 1`)
    expect(stdout.toString()).toMatch(/^\d+\n$/)
    expect(isAlive(stdout)).toBe(false)
  })

  test('is stopped as a whole before any of it is killed, or one could start another', async () => {
    const kill = vi.spyOn(process, 'kill')
    const stop = new AbortController()
    const script = 'sleep 60 & sleep 60 & echo ready; wait'
    await sh(script, { onOutput: () => stop.abort(), signal: stop.signal })
    const signals = kill.mock.calls.map(([pid, name]) => ({ pid, name }))
    kill.mockRestore()
    const firstKill = signals.findIndex(({ name }) => name === 'SIGKILL')
    const killed = signals.filter(({ name }) => name === 'SIGKILL').map(({ pid }) => pid)
    const stopped = signals.slice(0, firstKill).filter(({ name }) => name === 'SIGSTOP')
    expect(killed.length).toBeGreaterThanOrEqual(3)
    expect(stopped.map(({ pid }) => pid)).toEqual(expect.arrayContaining(killed))
  })

  test('is not touched when it is the work of another', async () => {
    const stop = new AbortController()
    let started = () => {}
    const ready = new Promise<void>((resolve) => {
      started = resolve
    })
    const other = sh('echo $$; exec sleep 60', { onOutput: () => started(), signal: stop.signal })
    await ready
    await Promise.all(Array.from({ length: 5 }, () => sh('sleep 60 & exit 0')))
    stop.abort()
    const { how, stdout } = await other
    expect(how).toBe('aborted')
    expect(isAlive(stdout)).toBe(false)
  })

  test('is ended with all others at the close', async () => {
    const runs = Array.from({ length: 15 }, () => sh('echo $$; setsid sleep 60 & sleep 60'))
    await expect.poll(() => sh('true').then(({ how }) => how)).toBe('exited')
    await processes.close()
    for (const { how, stdout } of await Promise.all(runs)) {
      expect(['aborted', 'not_started']).toContain(how)
      if (stdout.length > 0) expect(isAlive(stdout)).toBe(false)
    }
    expect((await sh('true')).how).toBe('not_started')
  })
})

/** Runs an orchestrator in a process of its own. */
function orchestrate(code: string, stdio: (number | 'pipe' | 'ignore')[] = []) {
  const source = `import { openProcesses } from './src/effects/process/processes.ts'
    const processes = openProcesses(${JSON.stringify(folder)})
    const command = (script) => ({ argv: ['sh', '-c', script], cwd: '/', env: { PATH: process.env.PATH },
      timeoutMs: 60_000, outputBytesMax: 10_000, onOutput: (chunk) => process.stdout.write(chunk) })
    ${code}`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', source]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', ...stdio] })
}

const firstLine = async (child: ReturnType<typeof orchestrate>) => {
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream }))
    return line
  return ''
}

describe('an orchestrator', () => {
  test('that was killed has its processes ended by the next one of the same folder', async () => {
    const script = 'setsid sh -c "echo \\$\\$; exec sleep 60" & sleep 60'
    const child = orchestrate(`await processes.run(command(${JSON.stringify(script)}))`)
    const pid = Buffer.from((await firstLine(child)) ?? '')
    child.kill('SIGKILL')
    expect(isAlive(pid)).toBe(true)
    const stranger = openProcesses(`${folder}/other`)
    await stranger.endOrphans()
    expect(isAlive(pid)).toBe(true)
    const own = sh('echo own; sleep 0.3; exit 5')
    expect(await processes.endOrphans()).toBe(true)
    expect(isAlive(pid)).toBe(false)
    expect(await own).toMatchObject({ how: 'exited', exitCode: 5 })
  })

  test('is known by its folder, whatever links lead there', async () => {
    const scratch = mkdtempSync(join(tmpdir(), 'slipway-links-'))
    folder = join(scratch, 'real', 'state')
    mkdirSync(folder, { recursive: true })
    symlinkSync('real', join(scratch, 'link'))
    const child = orchestrate(`await processes.run(command('echo $$; exec sleep 60'))`)
    const pid = Buffer.from((await firstLine(child)) ?? '')
    child.kill('SIGKILL')
    expect(isAlive(pid)).toBe(true)
    expect(await openProcesses(join(scratch, 'link', 'state')).endOrphans()).toBe(true)
    expect(isAlive(pid)).toBe(false)
    rmSync(scratch, { recursive: true })
  })

  test.runIf(process.platform === 'linux')(
    'gives its commands none of the files it was given',
    async () => {
      const secret = openSync('/etc/hostname', 'r')
      const files = [...Array<'ignore'>(17).fill('ignore'), secret]
      const child = orchestrate(
        `await processes.run(command('ls -l /proc/self/fd | grep -c hostname; true'))`,
        files,
      )
      expect(await firstLine(child)).toBe('0')
    },
  )
})
