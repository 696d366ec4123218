import type { Command, Ended } from '../process/command.ts'
import type { Processes } from '../process/processes.ts'
import { BubblewrapStatus } from './bubblewrap-status.ts'
import { PRIVATE_HOME, type View } from './bubblewrap-view.ts'
import type { Cgroup } from './cgroup.ts'
import { sandboxEnvironment } from './environment.ts'
import type { Namespaces } from './namespaces.ts'
import { OpenRuns } from './open-runs.ts'
import { watchProcesses } from './process-watch.ts'
import type { Sandbox, SandboxCommand, SandboxLimits } from './sandbox.ts'
import type { WayOut } from './way-out.ts'

/** The programs that start a command are looked for here, whatever PATH the orchestrator has. */
export const LAUNCH_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
}

/** Joins the groups that are named before `--`, offers itself when memory is short, and goes on. */
const JOIN = `echo 900 > /proc/self/oom_score_adj
while [ "$1" != -- ]; do echo 0 > "$1" || exit 1; shift; done
shift
exec "$@"`

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

  constructor(parts: BubblewrapParts) {
    this.#parts = parts
    this.#runs = new OpenRuns(parts.workspace)
  }

  run(command: SandboxCommand & Pick<Command, 'onOutput'>): Promise<Ended> {
    return this.#runs.start(command, (cwd, signal) => this.#launch({ ...command, cwd, signal }))
  }

  async close(): Promise<void> {
    await this.#runs.close()
    await this.#parts.wayOut?.close()
    this.#parts.namespaces?.close()
    await this.#parts.cgroup?.remove()
  }

  async #launch(command: SandboxCommand & { cwd: string }): Promise<Ended> {
    const { processes, limits, cgroup } = this.#parts
    const status = new BubblewrapStatus()
    let exceeded = false
    let endWatch = () => {}
    if (cgroup === undefined) {
      status.onFirst = (pid) => {
        endWatch = watchProcesses(pid, limits, () => {
          exceeded = true
          void status.end()
        })
      }
    }
    const ended = await processes.run(
      { ...command, argv: this.#launchLine(command), cwd: '/', env: LAUNCH_ENVIRONMENT },
      {
        input: this.#arguments(command)
          .map((arg) => `${arg}\0`)
          .join(''),
        onStatus: (chunk) => status.add(chunk),
        end: () => status.end(),
      },
    )
    endWatch()
    return exceeded ? { ...ended, how: 'killed', exitCode: null } : judge(ended, status.exitCode)
  }

  #launchLine({ argv }: SandboxCommand): [string, ...string[]] {
    const { namespaces, cgroup, limits } = this.#parts
    // Since Linux 5.14 the kernel counts per user namespace, and not what the user runs elsewhere.
    const count = `--nproc=${limits.processesMax}:${limits.processesMax}`
    return [
      ...(['sh', '-c', JOIN, 'sh', ...(cgroup?.joinFiles ?? []), '--'] as const),
      ...(cgroup === undefined ? ['prlimit', count] : []),
      ...(namespaces?.enter ?? []),
      ...['bwrap', '--args', '3', '--json-status-fd', '4', '--', ...argv],
    ]
  }

  #arguments(command: SandboxCommand & { cwd: string }): readonly string[] {
    const { view, namespaces, disableUserNamespaces, wayOut } = this.#parts
    const own = { PATH: view.path, ...sandboxEnvironment(PRIVATE_HOME, '/tmp') }
    const environment = { ...own, ...wayOut?.env, ...command.env }
    const { uid, gid } = insideIds()
    return [
      ...['--die-with-parent', '--unshare-pid', '--unshare-user', '--uid', uid, '--gid', gid],
      ...(disableUserNamespaces ? ['--disable-userns'] : []),
      '--clearenv',
      ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
      ...(namespaces ? ['--dev-bind', '/', '/'] : [...SEPARATE, ...view.args]),
      // With root's number a command could else write to /proc/sys, and so run code outside.
      ...['--proc', '/proc', '--remount-ro', '/proc'],
      ...['--chdir', command.cwd],
    ]
  }
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
