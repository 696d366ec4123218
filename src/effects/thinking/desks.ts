import { statSync } from 'node:fs'
import type { EffectId } from '../../agents/values.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { WatchedSandbox } from '../sandbox/watched-sandbox.ts'
import type { OutputFiles } from '../tools/output-files.ts'
import type { ToolContext } from '../tools/tool.ts'
import type { Owner } from '../workspace/place.ts'
import { type RewindingWorkspaces, UndoneRuns } from './undone-runs.ts'

/** A workspace with what tools need to work in it. */
type Desk = Omit<ToolContext, 'signal'>

/** A desk that somebody works at, and has to leave when that is done. */
interface TakenDesk extends Desk {
  readonly sandbox: WatchedSandbox
  /** Why the workspace could not be stored or brought back, which no model can help. */
  failure(): unknown
  leave(): void
}

/** What desks are made of. */
export interface DeskParts {
  /** The folder of a workspace; undefined when there is none. */
  findFolder(owner: Owner): string | undefined
  openSandbox(folder: string, access: 'read' | 'write'): Promise<Sandbox>
  /** Where long output of a run is kept. */
  outputsOf(run: string): OutputFiles
  /** What a story has changed. */
  readDiff(owner: Owner, path: string | undefined): Promise<string>
  /** Runs the tests of a workspace, which may leave something there. */
  runTests(owner: Owner, sandbox: Sandbox, signal: AbortSignal): ReturnType<RunTests>
  /** What stores a workspace before a run of its tests, and brings it back after it. */
  readonly workspaces: RewindingWorkspaces
}

type RunTests = NonNullable<ToolContext['runTests']>

/** Desks stay open between turns, because opening a sandbox takes longer than a command in one. */
export interface Desks {
  /**
   * A desk for an effect, at each of its tries. Undefined when there is no such workspace. Rejects
   * when no sandbox can be opened around it.
   */
  at(owner: Owner, access: 'read' | 'write', effect: EffectId): Promise<TakenDesk | undefined>
  /** Ends what runs at the desks of a workspace, before it is removed. */
  clear(owner: Owner): Promise<void>
  close(): Promise<void>
}

/**
 * How many sandboxes are held open; the one that was used longest ago goes first. Those that are in
 * use stay, however many they are, since what runs in one would end with it.
 */
const OPEN_MAX = 64

interface OpenDesk {
  readonly folder: string
  /** Which folder it is: one that is made anew has the same path, and is another. */
  readonly inode: number
  readonly key: string
  readonly sandbox: Promise<Sandbox>
  /** How many work at it now. */
  users: number
}

export function openDesks(parts: DeskParts): Desks {
  const open = new Map<string, OpenDesk>()
  const undone = new UndoneRuns(parts.workspaces)

  const put = async (desk: OpenDesk) => {
    if (open.get(desk.key) === desk) open.delete(desk.key)
    await desk.sandbox.then((sandbox) => sandbox.close()).catch(() => {})
  }

  /** The last in order is the one that was used last. */
  const touch = (desk: OpenDesk) => {
    open.delete(desk.key)
    open.set(desk.key, desk)
  }

  const putIdle = () => {
    const idle = [...open.values()].filter(({ users }) => users === 0)
    for (const desk of idle.slice(0, Math.max(0, open.size - OPEN_MAX))) void put(desk)
  }

  const take = async (folder: string, access: 'read' | 'write'): Promise<OpenDesk> => {
    const key = `${access} ${folder}`
    const { ino: inode } = statSync(folder)
    const known = open.get(key)
    if (known !== undefined && known.inode !== inode) await put(known)
    const found = open.get(key)
    const sandbox = found?.sandbox ?? parts.openSandbox(folder, access)
    const desk = found ?? { folder, inode, key, sandbox, users: 0 }
    desk.users += 1
    touch(desk)
    if (found === undefined) desk.sandbox.catch(() => put(desk))
    putIdle()
    return desk
  }

  const leave = (desk: OpenDesk) => {
    desk.users -= 1
    if (open.get(desk.key) === desk) touch(desk)
    putIdle()
  }

  return {
    async at(owner, access, effect) {
      const folder = parts.findFolder(owner)
      if (folder === undefined) return undefined
      const taken = await take(folder, access)
      const sandbox = new WatchedSandbox(await taken.sandbox)
      const tests = testing(parts, undone, { owner, effect, sandbox })
      return {
        leave: () => leave(taken),
        failure: tests.failure,
        workspace: folder,
        sandbox,
        outputs: parts.outputsOf(owner.run),
        readDiff: (path) => parts.readDiff(owner, path),
        ...(access === 'write' && { runTests: tests.run }),
      }
    },

    async clear(owner) {
      const folder = parts.findFolder(owner)
      const concerned = [...open.values()].filter((desk) => desk.folder === folder)
      await Promise.all(concerned.map(put))
    },

    async close() {
      await Promise.all([...open.values()].map(put))
    },
  }
}

interface Testing {
  readonly owner: Owner
  readonly effect: EffectId
  readonly sandbox: Sandbox
}

/** How tests are run at a desk, and what our own git failed with around that. */
function testing({ runTests }: DeskParts, undone: UndoneRuns, { owner, effect, sandbox }: Testing) {
  let failure: unknown
  const onFailure = (error: unknown) => {
    failure = error
  }
  const run: RunTests = (signal) =>
    undone.run(owner, effect, () => runTests(owner, sandbox, signal), onFailure)
  return { run, failure: () => failure }
}
