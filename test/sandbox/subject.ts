import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Ended } from '../../src/effects/process/command.ts'
import type {
  Isolation,
  IsolationLevel,
  Sandbox,
  SandboxCommand,
  SandboxSettings,
} from '../../src/effects/sandbox/sandbox.ts'

/** What not every level promises. */
interface Promises {
  /** What left its session, its parent and its environment ends with the command all the same. */
  readonly fugitivesEnd: boolean
  /** Only the workspace and private places are written, `.git` is not, and nothing in planning. */
  readonly confinesFiles: boolean
  /** No secret of the orchestrator can be read anywhere. */
  readonly hidesSecrets: boolean
  /** No capability, no other process, no mount, no network. */
  readonly dropsPowers: boolean
  /** Memory, processes and private places are bounded. */
  readonly keepsLimits: boolean
}

/** The suite leaves a promise out only where it is false here. */
export const PROMISES: Readonly<Record<IsolationLevel, Promises>> = {
  bubblewrap: {
    fugitivesEnd: true,
    confinesFiles: true,
    hidesSecrets: true,
    dropsPowers: true,
    keepsLimits: true,
  },
  container: {
    fugitivesEnd: true,
    confinesFiles: true,
    hidesSecrets: true,
    dropsPowers: true,
    keepsLimits: true,
  },
  none: {
    // By a limit that they inherit, which macOS has no way to show.
    fugitivesEnd: process.platform === 'linux',
    confinesFiles: false,
    hidesSecrets: false,
    dropsPowers: false,
    keepsLimits: false,
  },
}

/** An isolation to be held to what its level promises. */
export interface Subject {
  readonly level: IsolationLevel
  /** Who runs the commands; the folders are theirs. */
  readonly uid: number
  isolation(): Isolation
  readonly stateFolder: string
}

/** A workspace with a repository in it, and a sandbox around it. */
export interface Place {
  readonly workspace: string
  readonly sandbox: Sandbox
  /** Runs a script, which POSIX shells understand. */
  sh(script: string, more?: Partial<SandboxCommand>): Promise<Ended>
}

/** Opens a sandbox around a new workspace; the sandbox is closed after `use`, whatever it does. */
export async function inSandbox(
  subject: Subject,
  settings: Partial<SandboxSettings>,
  use: (place: Place) => Promise<void>,
): Promise<void> {
  const place = await openPlace(subject, settings)
  try {
    await use(place)
  } finally {
    await place.sandbox.close()
  }
}

/** One sandbox for all tests of a group: opening one takes longer than most of them. */
export function sharedPlace(subject: Subject): Place {
  let place: Place | undefined
  const opened = () => {
    if (place === undefined) throw new Error('the sandbox is not open yet')
    return place
  }
  beforeAll(async () => {
    place = await openPlace(subject, {})
  })
  afterAll(() => place?.sandbox.close())
  return {
    get workspace() {
      return opened().workspace
    },
    get sandbox() {
      return opened().sandbox
    },
    sh: (...args) => opened().sh(...args),
  }
}

async function openPlace(subject: Subject, settings: Partial<SandboxSettings>): Promise<Place> {
  const workspace = makeWorkspace(subject)
  const sandbox = await subject.isolation().open({ workspace, access: 'write', ...settings })
  const limits = { timeoutMs: 20_000, outputBytesMax: 100_000 }
  const sh: Place['sh'] = (script, more) =>
    sandbox.run({ argv: ['sh', '-c', script], ...limits, ...more })
  return { workspace, sandbox, sh }
}

/**
 * Ends all processes that a command sees, where they are few: a sandbox that fails must not cost the
 * machine its processes.
 */
export const END_ALL = '[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 20 ] && kill -9 -1'

/** Tries scripts one after another in one command, and says which of them succeeded. */
export async function succeeding(
  sh: Place['sh'],
  scripts: readonly string[],
): Promise<readonly string[]> {
  const tries = scripts.map(
    (script, i) => `( ${script}\n) >/dev/null 2>&1 && echo "succeeded ${i}"`,
  )
  const { output } = await sh(`${tries.join('\n')}\necho tried all`)
  if (!output.includes('tried all')) throw new Error(`not all were tried: ${output}`)
  const numbers = [...output.toString().matchAll(/^succeeded (\d+)$/gm)].map(([, i]) => Number(i))
  return scripts.filter((_, i) => numbers.includes(i))
}

function makeWorkspace({ stateFolder, uid }: Subject): string {
  mkdirSync(join(stateFolder, 'workspaces'), { recursive: true })
  const workspace = mkdtempSync(join(stateFolder, 'workspaces', 'w-'))
  mkdirSync(join(workspace, '.git', 'hooks'), { recursive: true })
  writeFileSync(join(workspace, '.git', 'config'), '[core]\n')
  writeFileSync(join(workspace, 'file.txt'), 'as it was\n')
  giveTo(uid, workspace)
  return workspace
}

/** A new folder of that user. */
export function makeFolder(uid: number, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'slipway-sandbox-'))
  giveTo(uid, folder)
  return folder
}

function giveTo(uid: number, folder: string): void {
  if (process.getuid?.() !== 0 || uid === 0) return
  chownSync(folder, uid, uid)
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    chownSync(join(folder, name), uid, uid)
  }
}

/** How many processes of the machine have the text among their arguments. */
export function countRunning(text: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text)
    } catch {
      return false
    }
  }).length
}

export function isRunning(text: string): boolean {
  return countRunning(text) > 0
}

let count = 0

/** Arguments of `sleep` that no other process has, for about an hour. */
export function sleepMark(): string {
  count += 1
  return `3${process.pid}.${count}77`
}
