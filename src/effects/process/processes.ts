import { createHash, randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Command, Ended } from './command.ts'
import { openStdioGuard } from './inherited-files.ts'
import { openLimitMarks } from './limit-mark.ts'
import { type Launcher, runProcess } from './process-run.ts'
import { endTree } from './process-tree.ts'
import { realFolder } from './real-folder.ts'

/** The environment variable by which processes are found that left their session and parent. */
const MARK = 'SLIPWAY_PROCESS'

/** Starts processes for one state folder, and ends them. Nothing that it started outlives it. */
export interface Processes {
  /**
   * Runs a command to its end. Never rejects. A command that is `trusted` to start nothing that
   * stays, such as git, is spared the look at all processes afterwards; a launcher knows itself
   * what its command has left. One that is `unconfined` gets a mark that it cannot lose by chance.
   */
  run(command: Command, by?: 'trusted' | 'unconfined' | Launcher): Promise<Ended>
  /** Ends what an earlier process of the same state folder has left behind, after a kill -9. */
  endOrphans(): Promise<boolean>
  /** Ends everything that still runs; what is started afterwards does not start. */
  close(): Promise<void>
}

export function openProcesses(stateFolder: string): Processes {
  const folder = createHash('sha256').update(realFolder(stateFolder)).digest('hex').slice(0, 16)
  const self = `${MARK}=${folder}.${randomBytes(6).toString('hex')}`
  const guardStdio = openStdioGuard()
  const setMark = openLimitMarks()
  const closing = new AbortController()
  // Every run listens, and there may be many.
  setMaxListeners(0, closing.signal)
  const running = new Set<Promise<Ended>>()
  let count = 0

  return {
    run(command, by) {
      count += 1
      const mark = `${self}.${count}.`
      const run = runProcess({ command, mark, by, closing: closing.signal, guardStdio, setMark })
      running.add(run)
      void run.then(() => running.delete(run))
      return run
    },

    endOrphans: () => endTree({ mark: `${MARK}=${folder}.`, sparedMark: `${self}.` }),

    async close() {
      closing.abort()
      await Promise.all(running)
      await endTree({ mark: `${self}.` })
    },
  }
}
