import { spawn } from 'node:child_process'
import { fstatSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fullDisk, isFull, toStateFolderError } from '../../journal/file-system.ts'
import type { ThinkingRole } from '../config/brain-outline.ts'
import { loadConfig } from '../config/load-config.ts'
import { EXIT_CODE } from '../exit-code.ts'
import { printable } from '../printable.ts'
import { prepareStateFolder } from '../state-folder.ts'
import { proseFor } from '../terminal-text.ts'
import { type Control, connectControl, readAddress } from './control.ts'
import { endEngine } from './end-engine.ts'
import { EngineError, errorOf, unlessGone } from './engine-error.ts'
import { atFolder, readGrounds } from './grounds.ts'

const START_MS_MAX = 60_000
const POLL_MS = 100
const RIVAL_MS_MAX = 3_000
const LOG_BYTES_MAX = 10_000_000

/** What is to begin, as far as it may be refused. */
export interface Beginning {
  /** Who is to think. */
  readonly roles: readonly ThinkingRole[]
  /** Throws what stands in the way, whatever engine is asked. */
  refuse(control: Control): Promise<void>
}

/**
 * The engine of a state folder, for what begins or goes on: one that works by other keys or other
 * settings than hold now ends first, once it is shown that one can work by these. What it had under
 * way is done again.
 */
export async function reachFreshEngine(
  folder: string,
  stateFolder: string,
  beginning?: Beginning,
): Promise<Control> {
  const address = await readAddress(stateFolder)
  const loaded = await loadConfig(folder, process.env)
  const isOther =
    address?.grounds && address.grounds !== (await readGrounds(folder, loaded.config, process.env))
  const other = isOther ? await connectControl(stateFolder) : undefined
  if (isOther && other !== undefined) {
    const { rehearseOpening } = await import('./rehearsal.ts')
    const environment = atFolder(folder, process.env)
    const about = { roles: beginning?.roles ?? [], runs: other }
    await rehearseOpening(loaded, stateFolder, environment, about).catch((error: Error) => {
      throw errorOf(error.name, error.message)
    })
    if (beginning !== undefined) await unlessGone(beginning.refuse(other))
    process.stderr.write(
      'The engine worked by other keys or settings, and begins anew with yours.\n',
    )
    await endEngine(address.pid)
  }
  const control = await reachEngine(folder, stateFolder)
  // One that was started by an older version does not know the question.
  const { unconfined } = (await control.condition().catch(() => undefined)) ?? {}
  if (unconfined) process.stderr.write(proseFor(process.stderr, `${printable(unconfined)}\n`))
  return control
}

/** The engine of a state folder; started when there is none, and left running. */
export async function reachEngine(folder: string, stateFolder: string): Promise<Control> {
  const running = await connectControl(stateFolder)
  if (running !== undefined) return running
  prepareStateFolder(stateFolder)
  const path = join(stateFolder, 'logs', 'engine.log')
  const log = openLog(stateFolder, path)
  const { size: before } = fstatSync(log)
  const program = process.argv[1] as string
  const args = [...process.execArgv, program, 'engine', '--state', stateFolder]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', log, log],
  })
  let exitCode: number | null | undefined
  child.once('exit', (code) => {
    exitCode = code
  })
  child.unref()
  let untilMs = Date.now() + START_MS_MAX
  child.once('exit', () => {
    // Another one may have been faster, and is about to answer in its place.
    untilMs = Date.now() + RIVAL_MS_MAX
  })
  while (Date.now() < untilMs) {
    const control = await connectControl(stateFolder)
    if (control !== undefined) return control
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  const written = await readFile(path).catch(() => Buffer.alloc(0))
  const said = written.subarray(before).toString().trim()
  // On a full disk it cannot say even that.
  if (said === '' && isFull(stateFolder)) throw fullDisk(stateFolder)
  const what = said.replace(/^slipway: /, '') || `nothing was heard from it; see ${path}`
  if (exitCode === undefined) throw new EngineError(`the engine does not start: ${what}`)
  throw errorOf(NAMES[exitCode ?? -1] ?? '', what)
}

/** Not emptied: another engine may be starting at this moment, and tells there why it does not. */
function openLog(stateFolder: string, path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX) rmSync(path)
    return openSync(path, 'a', 0o600)
  } catch (error) {
    throw toStateFolderError(error, stateFolder)
  }
}

/** The errors that an engine ends with, by its exit code. */
const NAMES: Readonly<Record<number, string>> = {
  [EXIT_CODE.usage]: 'UsageError',
  [EXIT_CODE.provider]: 'ProviderError',
}
