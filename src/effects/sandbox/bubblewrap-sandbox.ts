import { writeFile } from 'node:fs/promises'
import { doEach } from '../do-each.ts'
import { type Command, type Ended, notStarted } from '../process/command.ts'
import type { Later } from '../process/process-run.ts'
import type { Processes } from '../process/processes.ts'
import { BubblewrapStatus } from './bubblewrap-status.ts'
import { PRIVATE_HOME, type View } from './bubblewrap-view.ts'
import type { Cgroup } from './cgroup.ts'
import { sandboxEnvironment } from './environment.ts'
import type { Namespaces } from './namespaces.ts'
import { OpenRuns } from './open-runs.ts'
import { watchProcesses } from './process-watch.ts'
import type { Sandbox, SandboxCommand, SandboxLimits } from './sandbox.ts'
import { type LaunchAhead, type Placed, SpareCommand, waitingShell } from './spare-command.ts'
import { makeSystemCallFilter } from './system-call-filter.ts'
import { WaitingShell } from './waiting-shell.ts'
import type { WayOut } from './way-out.ts'

/** The programs that start a command are looked for here, whatever PATH the orchestrator has. */
export const LAUNCH_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
}

const FILTER = makeSystemCallFilter()
/** Where sockets are counted and not bounded. */
const WATCHED_FILTER = makeSystemCallFilter({ fixedBuffers: true })
const ARGUMENTS_FILE = 3

/** What bubblewrap says of a command that SIGKILL ended. */
const SIGKILL_EXIT_CODE = 128 + 9

/** What a sandbox is made of. */
export interface BubblewrapParts {
  readonly processes: Processes
  readonly workspace: string
  readonly view: View
  readonly limits: SandboxLimits
  readonly disableUserNamespaces: boolean
  /** Absent: each command has namespaces of its own, and a home of its own. */
  readonly namespaces: Namespaces | undefined
  /** Absent: what the commands use is watched. */
  readonly cgroup: Cgroup | undefined
  /** Absent: there is no network. */
  readonly wayOut: WayOut | undefined
}

/** A sandbox by bubblewrap. Every command has a process namespace, which ends as a whole. */
export class BubblewrapSandbox implements Sandbox {
  readonly level = 'bubblewrap'
  readonly #parts: BubblewrapParts
  readonly #runs: OpenRuns
  /** Absent where a command has mounts of its own, which are to be made when it begins. */
  readonly #spare: SpareCommand | undefined

  constructor(parts: BubblewrapParts) {
    this.#parts = parts
    this.#runs = new OpenRuns(parts.workspace)
    const launchAhead: LaunchAhead = (later, signal) => this.#launchAhead(later, signal)
    this.#spare = parts.namespaces && new SpareCommand(launchAhead)
  }

  run(command: SandboxCommand & Pick<Command, 'onOutput'>): Promise<Ended> {
    return this.#runs.start(command, async (cwd, signal) => {
      const placed = { ...command, cwd, signal }
      const ended = (await this.#spare?.run(placed)) ?? (await this.#launch(placed))
      this.#spare?.prepareSoon()
      return ended
    })
  }

  async close(): Promise<void> {
    const { wayOut, namespaces, cgroup } = this.#parts
    await doEach(
      () => Promise.all([this.#runs.close(), this.#spare?.close()]),
      () => wayOut?.close(),
      async () => namespaces?.close(),
      () => cgroup?.remove(),
    )
  }

  #launchAhead(later: Later, signal: AbortSignal): Promise<Ended> {
    const scriptFile = ARGUMENTS_FILE + (FILTER ? 1 : 0) + (this.#parts.cgroup ? 1 : 0) + 2
    const limits = { timeoutMs: Infinity, outputBytesMax: 4_096 }
    const place = { cwd: this.#parts.workspace, signal }
    return this.#launch({ argv: waitingShell(scriptFile), ...place, ...limits }, later)
  }

  async #launch(command: Placed, later?: Later): Promise<Ended> {
    const status = new BubblewrapStatus()
    const bound = this.#bound(status, later)
    const extras = (
      [
        ['--seccomp', this.#parts.cgroup ? FILTER : WATCHED_FILTER],
        ['--block-fd', bound.ready],
      ] as const
    ).flatMap(([option, input]) => (input === undefined ? [] : [{ option, input }]))
    const options = extras.flatMap(({ option }, i) => [option, String(ARGUMENTS_FILE + 1 + i)])
    const args = [...this.#arguments(command), ...options]
    if (args.some((arg) => arg.includes('\0'))) return notStarted('an argument has a NUL in it')
    const inputs = [args.map((arg) => `${arg}\0`).join(''), ...extras.map(({ input }) => input)]
    const argv = this.#launchLine(command, ARGUMENTS_FILE + inputs.length)
    const launcher = {
      inputs,
      onStatus: (chunk: Buffer) => status.add(chunk),
      ...(later ? launchedAhead(later, status) : { end: () => status.end() }),
    }
    const ended = await this.#parts.processes.run(
      { ...command, argv, cwd: '/', env: LAUNCH_ENVIRONMENT },
      launcher,
    )
    const how = bound.end()
    return how === undefined ? judge(ended, status.exitCode) : { ...ended, how, exitCode: null }
  }

  /** Keeps a command within its limits: by a group that it joins before it begins, or by watching. */
  #bound(status: BubblewrapStatus, later: Later | undefined): Bound {
    const { cgroup, limits } = this.#parts
    let how: ReturnType<Bound['end']>
    let isOver = false
    let endWatch = () => {}
    const stop = (because: typeof how) => () => {
      how = because
      void status.end()
    }
    let letGo = (_: string) => {}
    const ready = new Promise<string>((resolve) => {
      letGo = resolve
    })
    status.onFirst = (pid) => {
      // When memory is short, what is in a sandbox goes first.
      void writeFile(`/proc/${pid}/oom_score_adj`, '900').catch(() => {})
      const watch = () => {
        if (!isOver) endWatch = watchProcesses(pid, limits, stop('killed'))
      }
      // One that waits for its command needs no watching, which costs.
      if (cgroup === undefined) void Promise.resolve(later?.given).then(watch)
      else cgroup.join(pid).then(() => letGo('joined'), stop('not_started'))
    }
    const end = () => {
      isOver = true
      endWatch()
      return how
    }
    return { ready: cgroup && ready, end }
  }

  #launchLine({ argv }: SandboxCommand, statusFile: number): [string, ...string[]] {
    const { namespaces, cgroup, limits } = this.#parts
    // Since Linux 5.14 the kernel counts per user namespace, and not what the user runs elsewhere.
    const count = `--nproc=${limits.processesMax}:${limits.processesMax}`
    const files = ['--args', String(ARGUMENTS_FILE), '--json-status-fd', String(statusFile)]
    const line = [...(namespaces?.enter ?? []), 'bwrap', ...files, '--', ...argv]
    return (cgroup === undefined ? ['prlimit', count, ...line] : line) as [string, ...string[]]
  }

  #arguments(command: Placed): readonly string[] {
    const { view, namespaces, disableUserNamespaces, wayOut } = this.#parts
    const own = { PATH: view.path, ...sandboxEnvironment(PRIVATE_HOME, '/tmp') }
    const environment = { ...own, ...wayOut?.env, ...command.env }
    const { uid, gid } = insideIds()
    return [
      ...['--die-with-parent', '--unshare-pid', '--unshare-user', '--uid', uid, '--gid', gid],
      ...(disableUserNamespaces ? ['--disable-userns'] : []),
      '--clearenv',
      ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
      ...(namespaces
        ? ['--dev-bind', '/', '/', '--proc', '/proc']
        : [...SEPARATE, '--proc', '/proc', ...view.args]),
      // With root's number a command could else write to /proc/sys, and so run code outside.
      ...['--remount-ro', '/proc'],
      ...['--chdir', command.cwd],
    ]
  }
}

/** What a launcher that waits for its command has besides. */
function launchedAhead(later: Later, status: BubblewrapStatus) {
  const shell = new WaitingShell((exitCode) => status.know(exitCode))
  status.onNamespace = (first) => shell.expectIn(first)
  const onAnswer = (chunk?: Buffer) => {
    later.onAnswer(chunk)
    shell.addAnswer(chunk)
  }
  return {
    later: { ...later, onAnswer },
    said: status.said,
    hasLeftNobody: () => shell.isAlone(),
    // One that was started ahead is in a hurry: what stands still may be gone a moment later.
    end: () => status.stop(),
    letGo() {
      shell.close()
      void status.stop()
    },
  }
}

/** What keeps one command within its limits. */
interface Bound {
  /** Settles when the command may begin; absent when it need not wait. */
  readonly ready: Promise<string> | undefined
  /** Says how the command ended, if this ended it: it had too much, or could not be bounded. */
  end(): 'killed' | 'not_started' | undefined
}

/** What is kept apart once for all commands of a sandbox, where that is possible. */
export const SEPARATE = [
  ...['--unshare-net', '--unshare-ipc', '--unshare-uts'],
  ...['--hostname', 'sandbox'],
]

/** The numbers that a command has inside: its user's own, and never root's. */
export function insideIds(): { readonly uid: string; readonly gid: string } {
  const uid = process.getuid?.() ?? 0
  const gid = process.getgid?.() ?? 0
  return { uid: String(uid === 0 ? 1_000 : uid), gid: String(gid === 0 ? 1_000 : gid) }
}

function judge(ended: Ended, exitCode: number | undefined): Ended {
  if (ended.how !== 'exited') return ended
  if (exitCode === undefined) return { ...ended, how: 'not_started', exitCode: null }
  if (exitCode === SIGKILL_EXIT_CODE) return { ...ended, how: 'killed', exitCode: null }
  return { ...ended, exitCode }
}
