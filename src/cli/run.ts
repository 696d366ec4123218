import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describeIgnored, loadConfig } from './config/load-config.ts'
import type { NewRun } from './engine/configured-team.ts'
import type { Control } from './engine/control.ts'
import { EXIT_CODE } from './exit-code.ts'
import { findPlace, prepareStateFolder, type StateOptions } from './state-folder.ts'
import { UsageError } from './usage-error.ts'
import { evidenceFor } from './view/evidence-output.ts'
import { followRun } from './view/follow.ts'
import type { RunView } from './view/run-view.ts'

export interface RunOptions extends StateOptions {
  readonly detach?: true
  readonly foreground?: true
  readonly json?: true
  readonly target?: string
}

const SPEC_CHARS_MAX = 200_000

/** `slipway run <spec>`: starts a run and follows it. */
export async function run(specFile: string, options: RunOptions): Promise<number> {
  const document = await readSpecFile(specFile)
  return startRun(document, false, options)
}

/** `slipway interview [wish]`: as run, but the product manager asks what is to be built. */
export async function interview(wish: string | undefined, options: RunOptions): Promise<number> {
  return startRun(wish ?? 'I would like to have something built.', true, options)
}

async function startRun(document: string, isWish: boolean, options: RunOptions): Promise<number> {
  const { root, stateFolder } = findPlace(options)
  const loaded = await loadConfig(root, process.env)
  for (const line of describeIgnored(loaded)) process.stderr.write(`${line}\n`)
  const target = options.target ?? loaded.config.target ?? (await currentBranch(root))
  const id = nameRun(document)
  const start: NewRun = { id, document, target, isWish }
  if (options.foreground) return runHere(root, stateFolder, start, options)
  const { reachEngine } = await import('./engine/reach.ts')
  const control = await reachEngine(root, stateFolder)
  await control.start(start)
  if (options.detach) {
    const data = { run: id, state: stateFolder }
    process.stdout.write(options.json ? `${JSON.stringify(data)}\n` : `${id}\n`)
    process.stderr.write(`The run goes on by itself. slipway watch ${id} shows it.\n`)
    return EXIT_CODE.done
  }
  return followToEnd(control, id, options)
}

async function readSpecFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : error.message
    throw new UsageError(`${file}: ${why}. slipway init writes a spec.md to fill in.`)
  })
  if (text.trim() === '') throw new UsageError(`${file} is empty.`)
  if (text.length <= SPEC_CHARS_MAX) return text
  throw new UsageError(
    `${file} has ${text.length} characters; at most ${SPEC_CHARS_MAX} are taken.`,
  )
}

async function currentBranch(root: string): Promise<string> {
  const git = promisify(execFile)
  const args = ['-C', root, 'symbolic-ref', '--short', 'HEAD']
  const { stdout } = await git('git', args).catch(() => ({ stdout: '' }))
  if (stdout.trim() !== '') return stdout.trim()
  throw new UsageError('No branch is checked out. Name the one to merge into with --target.')
}

function nameRun(document: string): string {
  const title = /^#+\s+(.*)$/m.exec(document)?.[1] ?? 'run'
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? ['run']
  return `${words.slice(0, 4).join('-').slice(0, 40)}-${randomBytes(2).toString('hex')}`
}

/** Works in this process. The first Ctrl-C lets what is under way end; the second stops at once. */
async function runHere(
  root: string,
  stateFolder: string,
  start: NewRun,
  options: RunOptions,
): Promise<number> {
  await prepareStateFolder(stateFolder)
  const { openEngine } = await import('./engine/engine.ts')
  const engine = await openEngine(root, stateFolder, process.env)
  process.stderr.write(`${engine.description}\n`)
  const leaving = new AbortController()
  let presses = 0
  const interrupt = () => {
    presses += 1
    if (presses === 1) {
      process.stderr.write('Ending what is under way; press Ctrl-C again to stop at once.\n')
      void engine.control.pause(start.id).then(() => leaving.abort())
    } else leaving.abort()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  try {
    await engine.control.start(start)
    return await followToEnd(engine.control, start.id, options, leaving.signal)
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    await engine.close()
  }
}

/** Follows a run to its end; leaving it leaves it going. */
export async function followToEnd(
  control: Control,
  id: string,
  options: Pick<RunOptions, 'json'>,
  signal?: AbortSignal,
): Promise<number> {
  const out = process.stderr
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  const isOurs = signal === undefined
  if (isOurs) process.once('SIGINT', leave)
  const endKeys = isOurs ? listenForKeys(leave) : () => {}
  const view = await followRun(control, id, {
    as: out.isTTY ? 'board' : 'lines',
    out,
    hint: isOurs ? 'q leaves the board, the run goes on' : 'Ctrl-C pauses the run',
    signal: signal ?? leaving.signal,
  }).finally(() => {
    endKeys()
    process.off('SIGINT', leave)
  })
  const isOver = view.status === 'done' || view.status === 'failed'
  if (!isOver && (signal ?? leaving.signal).aborted) {
    out.write(
      `The run ${id} is kept. slipway watch ${id} comes back to it, slipway resume ${id} goes on.\n`,
    )
    return EXIT_CODE.interrupted
  }
  process.stdout.write(await evidenceFor(control, id, options.json ? 'json' : 'text'))
  return exitCodeOf(view)
}

function listenForKeys(leave: () => void): () => void {
  const { stdin } = process
  if (!stdin.isTTY) return () => {}
  const onKey = (key: Buffer) => {
    if (key.toString() === 'q' || key[0] === 3) leave()
  }
  stdin.setRawMode(true)
  stdin.resume()
  stdin.on('data', onKey)
  return () => {
    stdin.setRawMode(false)
    stdin.pause()
    stdin.off('data', onKey)
  }
}

function exitCodeOf({ status }: RunView): number {
  if (status === 'done') return EXIT_CODE.done
  if (status === 'waiting') return EXIT_CODE.waiting
  return status === 'failed' ? EXIT_CODE.failed : EXIT_CODE.interrupted
}
