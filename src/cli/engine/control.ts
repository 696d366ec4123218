import { existsSync, mkdtempSync } from 'node:fs'
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Brought } from '../../agents/coordinator/protocol.ts'
import { doEach } from '../../effects/do-each.ts'
import { StateFolderError } from '../../journal/state-folder-error.ts'
import type { LimitsChange } from '../../ledger/change-limits.ts'
import type { Health } from '../../runtime/runtime.ts'
import type { RunSource } from '../view/run-source.ts'
import { ask, askBriefly } from './ask.ts'
import type { BudgetChanged } from './budget.ts'
import type { NewTask } from './configured-task.ts'
import type { NewRun, NewSpec } from './configured-team.ts'
import { EngineSilentError } from './engine-error.ts'

/** What an engine does for other processes of the same user. */
export interface Control extends RunSource {
  condition(): Promise<Condition>
  /** Takes in what the user's repository has by now; refuses a branch that nothing can begin on. */
  takeIn(target: string): Promise<void>
  start(run: NewRun): Promise<void>
  /** Brings a further spec to a run. */
  bring(run: string, spec: NewSpec): Promise<void>
  answer(question: string, value: HumanAnswer): Promise<'accepted' | 'not_open'>
  pause(run: string): Promise<void>
  resume(run: string): Promise<void>
  /** A task is given up for good, and anything else can be resumed. */
  stop(run: string): Promise<void>
  startTask(task: NewTask): Promise<void>
  /** Appends to a task that is over. */
  followUp(task: string, brought: Brought): Promise<void>
  /** Has done what a task proposed. */
  confirm(task: string): Promise<void>
  setBudget(run: string, change: LimitsChange): Promise<BudgetChanged>
  /** Says the human's word about a story: cut it. */
  tellStory(
    run: string,
    story: string,
    type: string,
  ): Promise<'accepted' | 'duplicate' | 'no_agent'>
}

/** How an engine is doing. */
export interface Condition {
  readonly health: Health
  /** Says that nothing is confined; null where commands are. */
  readonly unconfined: string | null
}

/** What a human said. */
type HumanAnswer = { readonly choice: string; readonly text: string }

/** Says where the engine of a state folder listens: a socket may have no long path. */
const ADDRESS_FILE = 'engine.json'
interface Address {
  readonly socket: string
  readonly pid: number
  /**
   * What the engine works by; null where it is somebody's terminal, and nobody else's to end, or a
   * demo, which works by its own script whatever holds.
   */
  readonly grounds: string | null
}

const BODY_BYTES_MAX = 4 * 1024 * 1024
const SOCKET_PATH_BYTES_MAX = 100
const SOCKET_FOLDER = 'slipway-engine-'
const ANSWERING_MS_MAX = 5_000
const IDLE_POLL_MS = 20
/** Whoever is alive says something within that. */
const SILENT_MS = 10_000

/** The calls of those who only look. */
const LOOKS = ['runs', 'agents', 'effects', 'lastMs', 'rows', 'condition'] as const

/** The calls that may be made; what is not here is refused. */
const METHODS = [
  ...LOOKS,
  'takeIn',
  'start',
  'bring',
  'answer',
  'pause',
  'resume',
  'stop',
  'startTask',
  'followUp',
  'confirm',
  'setBudget',
  'tellStory',
] as const

/** Whether somebody offered an engine here, and did not take that back. */
export function isAddressLeft(stateFolder: string): boolean {
  return existsSync(join(stateFolder, ADDRESS_FILE))
}

/** An engine that others can ask. */
interface ControlServer {
  /** Whether somebody is having something done at this moment. */
  isAsked(): boolean
  close(): Promise<void>
}

/** Offers an engine on a unix socket that only its user can open. */
export async function serveControl(
  stateFolder: string,
  control: Control,
  grounds: string | null,
): Promise<ControlServer> {
  await removeLeftSocket(stateFolder)
  const socket = socketPathFor(stateFolder)
  await rm(socket, { force: true })
  let asked = 0
  const server = createServer((incoming, response) => {
    const isLook = LOOKS.some((look) => incoming.url === `/${look}`)
    asked += isLook ? 0 : 1
    handle(control, incoming, response)
      .catch((error: Error) => reply(response, 500, error.message, error.name))
      .finally(() => {
        asked -= isLook ? 0 : 1
      })
  })
  await listen(server, socket)
  await chmod(socket, 0o600)
  const address = JSON.stringify({ socket, pid: process.pid, grounds } satisfies Address)
  const file = join(stateFolder, ADDRESS_FILE)
  const end = (between: () => Promise<void>) =>
    doEach(
      () => endServer(server),
      between,
      () => removeSocket(socket),
    )
  await writeAddress(file, address).catch((error) => end(() => Promise.reject(error)))
  return { isAsked: () => asked > 0, close: () => end(() => removeAddress(file)) }
}

/** An address that is left is taken for a crash. */
async function removeAddress(file: string): Promise<void> {
  await rm(file, { force: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new StateFolderError(
      `${file} cannot be removed (${cause.code}). Nothing is lost; remove it, or the next start takes this for a crash.`,
      { cause },
    )
  })
}

/** Who has asked already is answered: what ends the engine may be the very thing that was asked. */
async function endServer(server: Server): Promise<void> {
  const ended = new Promise((resolve) => server.close(resolve))
  const untilMs = Date.now() + ANSWERING_MS_MAX
  const timer = setInterval(() => {
    if (Date.now() < untilMs) server.closeIdleConnections()
    else server.closeAllConnections()
  }, IDLE_POLL_MS)
  server.closeIdleConnections()
  await ended
  clearInterval(timer)
}

function socketPathFor(stateFolder: string): string {
  const beside = join(stateFolder, 'engine.sock')
  if (Buffer.byteLength(beside) <= SOCKET_PATH_BYTES_MAX) return beside
  return join(mkdtempSync(join(tmpdir(), SOCKET_FOLDER)), 'engine.sock')
}

/** What an engine left that was killed; behind the journal's lock nobody else listens there. */
async function removeLeftSocket(stateFolder: string): Promise<void> {
  const left = await readAddress(stateFolder)
  if (left !== undefined) await removeSocket(left.socket)
}

/** With the folder that was made for it alone. */
async function removeSocket(socket: string): Promise<void> {
  const folder = dirname(socket)
  const isOwn = dirname(folder) === tmpdir() && basename(folder).startsWith(SOCKET_FOLDER)
  await rm(isOwn ? folder : socket, { recursive: isOwn, force: true })
}

function listen(server: Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const before = process.umask(0o077)
    server.listen(socket, () => {
      process.umask(before)
      resolve()
    })
  })
}

async function handle(
  control: Control,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const name = METHODS.find((method) => incoming.url === `/${method}`)
  if (name === undefined || incoming.method !== 'POST') return reply(response, 404, 'no such call')
  const args = JSON.parse(await readBody(incoming))
  const call = control[name] as (...args: unknown[]) => Promise<unknown>
  const value = await call(...args)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ value: value ?? null }))
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming) {
    bytes += (chunk as Buffer).length
    if (bytes > BODY_BYTES_MAX) throw new Error('the request is too large')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString()
}

function reply(response: ServerResponse, status: number, message: string, name = ''): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: message, name }))
}

/** Where an engine of a state folder says that it is. */
export async function readAddress(stateFolder: string): Promise<Address | undefined> {
  try {
    return JSON.parse(await readFile(join(stateFolder, ADDRESS_FILE), 'utf8'))
  } catch {
    return undefined
  }
}

/** As a whole or not at all: others look for it all the time. */
async function writeAddress(file: string, address: string): Promise<void> {
  try {
    await writeFile(`${file}.new`, address, { mode: 0o600 })
    await rename(`${file}.new`, file)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const why = `${file} cannot be written (${code})`
    throw new StateFolderError(`${why}. Remove it, or choose another folder with --state.`, {
      cause,
    })
  }
}

/** The engine of a state folder, if one is running. Throws where it gives no sign of life. */
export async function connectControl(
  stateFolder: string,
  silentMs = SILENT_MS,
): Promise<Control | undefined> {
  const address = await readAddress(stateFolder)
  if (address === undefined) return undefined
  const engine = { ...address, stateFolder, silentMs }
  const call =
    (name: string) =>
    async (...args: unknown[]) =>
      ask(engine, name, args)
  const control = Object.fromEntries(METHODS.map((name) => [name, call(name)]))
  const isThere = await askBriefly(engine, 'runs', []).then(
    () => true,
    (error) => {
      if (error instanceof EngineSilentError) throw error
      return false
    },
  )
  return isThere ? (control as unknown as Control) : undefined
}
