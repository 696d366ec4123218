import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ended } from '../../src/effects/process/command.ts'
import type {
  Isolation,
  IsolationLevel,
  SandboxCommand,
  SandboxSettings,
} from '../../src/effects/sandbox/sandbox.ts'

/** What the worker is asked to do. */
export interface Order {
  readonly id: number
  readonly order:
    | { readonly kind: 'end_orphans' }
    | { readonly kind: 'open'; readonly settings: SandboxSettings }
    | { readonly kind: 'run'; readonly sandbox: number; readonly command: SandboxCommand }
    | { readonly kind: 'abort'; readonly run: number }
    | { readonly kind: 'close'; readonly sandbox: number }
}

export interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

/** An isolation whose orchestrator is another process. */
export interface RemoteIsolation extends Isolation {
  endOrphans(): Promise<void>
  /** As kill -9 does. */
  kill(): Promise<void>
  close(): Promise<void>
}

/** Builds the worker into a file that every user can read. */
export function buildWorker(): { readonly file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-worker-'))
  chmodSync(folder, 0o755)
  const file = join(folder, 'worker.mjs')
  const source = 'test/sandbox/remote-worker.ts'
  execFileSync('node_modules/.bin/rolldown', [source, '--platform=node', `--file=${file}`])
  return { file, remove: () => rmSync(folder, { recursive: true }) }
}

/** Starts the worker by a line of arguments that ends in Node's. */
export async function openRemote(settings: {
  readonly level: IsolationLevel
  readonly worker: string
  readonly stateFolder: string
  readonly before?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}): Promise<RemoteIsolation> {
  const { level, worker, stateFolder } = settings
  const line = [...(settings.before ?? []), process.execPath, worker, level, stateFolder]
  const child = spawn(line[0] as string, line.slice(1), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: { ...process.env, ...settings.env },
  })
  const ask = askThrough(child)
  const description = (await ask.first) as string
  const isolation: RemoteIsolation = {
    level,
    description,
    async open(wanted) {
      const sandbox = (await ask.order({ kind: 'open', settings: wanted }).answer) as number
      return {
        level,
        async run({ signal, ...command }) {
          const { id, answer } = ask.order({ kind: 'run', sandbox, command })
          signal?.addEventListener('abort', () => ask.order({ kind: 'abort', run: id }))
          return restoreBuffers((await answer) as Ended)
        },
        async close() {
          await ask.order({ kind: 'close', sandbox }).answer
        },
      }
    },
    async endOrphans() {
      await ask.order({ kind: 'end_orphans' }).answer
    },
    kill: () => ended(child, () => child.kill('SIGKILL')),
    close: () => ended(child, () => child.disconnect()),
  }
  return isolation
}

function askThrough(child: ChildProcess) {
  const waiting = new Map<number, (answer: Answer) => void>()
  let last = 0
  const wait = (id: number) =>
    new Promise<unknown>((resolve, reject) => {
      if (hasEnded(child)) reject(new Error('the worker has ended'))
      waiting.set(id, ({ value, error }) => (error ? reject(new Error(error)) : resolve(value)))
      child.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)))
    })
  child.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer))
  child.setMaxListeners(0)
  return {
    first: wait(0),
    order(order: Order['order']) {
      last += 1
      const answer = wait(last)
      // Who is killed answers nothing, and that is no failure.
      answer.catch(() => {})
      child.send({ id: last, order }, () => {})
      return { id: last, answer }
    },
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

function ended(child: ChildProcess, end: () => void): Promise<void> {
  if (hasEnded(child)) return Promise.resolve()
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  end()
  return exit
}

function restoreBuffers(given: Ended): Ended {
  const { stdout, stderr, output } = given
  const buffers = { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) }
  return { ...given, ...buffers, output: Buffer.from(output) }
}
