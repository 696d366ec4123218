import { readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isNoProgram } from '../process/command.ts'
import type { Processes } from '../process/processes.ts'
import { BubblewrapSandbox, insideIds, LAUNCH_ENVIRONMENT, SEPARATE } from './bubblewrap-sandbox.ts'
import { type Machine, makeView, PRIVATE_HOME, surveyMachine } from './bubblewrap-view.ts'
import { type Cgroups, openCgroups } from './cgroup.ts'
import { findHidden } from './hidden-folders.ts'
import { openNamespaces } from './namespaces.ts'
import { prepareOwnFolder } from './own-folder.ts'
import {
  DEFAULT_LIMITS,
  type Isolation,
  NotInstalledError,
  type Sandbox,
  type SandboxMount,
  type SandboxSettings,
} from './sandbox.ts'
import { tryOut } from './trial.ts'
import { openWayOut, type WayOut, wantsWayOut } from './way-out.ts'

/** What all sandboxes of bubblewrap have in common. */
export interface BubblewrapSettings {
  readonly stateFolder: string
  /** Folders with tools that are not the system's, such as `~/.cargo`; seen read-only. */
  readonly toolFolders?: readonly string[]
}

/** What this machine can do. */
interface Means {
  readonly cgroups: Cgroups | undefined
  /** Whether commands can share namespaces, and so a home. */
  readonly shared: boolean
  readonly sizes: boolean
  readonly disableUserNamespaces: boolean
}

/** Isolation by Linux namespaces. Rejects with the reason when a trial command does not run. */
export async function openBubblewrap(
  processes: Processes,
  settings: BubblewrapSettings,
): Promise<Isolation> {
  const ownFolder = await prepareOwnFolder(settings.stateFolder)
  const help = await askHelp(processes)
  const accounts = await writeAccounts(ownFolder)
  const hiddenFolders = await findHidden(settings.stateFolder)
  const ground = {
    processes,
    settings,
    ownFolder,
    accounts,
    hiddenFolders,
    machine: surveyMachine(),
  }
  const cgroups = await openCgroups(ownFolder)
  await cgroups?.removeOrphans()
  const best: Means = {
    cgroups,
    shared: true,
    sizes: help.includes('--size '),
    disableUserNamespaces: help.includes('--disable-userns'),
  }
  const failures: string[] = []
  for (const means of [best, { ...best, cgroups: undefined }, { ...best, shared: false }]) {
    const open = (wanted: SandboxSettings) => openSandbox({ ...ground, means }, wanted)
    const failure = await tryOut(open, ownFolder)
    if (failure === undefined) return { level: 'bubblewrap', description: describe(means), open }
    failures.push(failure)
  }
  throw new Error([...new Set(failures)].join('; '))
}

async function askHelp(processes: Processes): Promise<string> {
  const limits = { timeoutMs: 10_000, outputBytesMax: 65_536 }
  const command = {
    argv: ['bwrap', '--help'],
    cwd: '/',
    env: LAUNCH_ENVIRONMENT,
    ...limits,
  } as const
  const ended = await processes.run(command, 'trusted')
  if (isNoProgram(ended)) throw new NotInstalledError('bubblewrap is not installed')
  const help = ended.output.toString()
  if (ended.exitCode !== 0) throw new Error(`bwrap --help ${ended.how}: ${help.trim()}`)
  if (!help.includes('--perms')) throw new Error('bubblewrap is older than 0.5')
  return help
}

function describe({ cgroups, shared }: Means): string {
  const limits = cgroups ? 'bounded by the kernel' : 'watched, not bounded by the kernel'
  const home = shared ? '' : '; each command has a home of its own'
  return `Commands run in Linux namespaces (bubblewrap): they see the workspace and the system's programs, no network, no home, no keys. Memory and processes are ${limits}${home}.`
}

/** What the settings came to on this machine. */
interface Ground {
  readonly processes: Processes
  readonly settings: BubblewrapSettings
  readonly ownFolder: string
  readonly machine: Machine
  readonly hiddenFolders: readonly string[]
  readonly accounts: readonly SandboxMount[]
  readonly means: Means
}

async function openSandbox(ground: Ground, wanted: SandboxSettings): Promise<Sandbox> {
  const { means, ownFolder } = ground
  if (!wantsWayOut(wanted)) return openParts(ground, wanted, undefined)
  if (!means.shared) throw new Error('allowed hosts need nsenter, which does not work here')
  const wayOut = await openWayOut(ownFolder, wanted)
  let sandbox: BubblewrapSandbox | undefined
  try {
    const opened = await openParts(ground, wanted, wayOut)
    sandbox = opened
    const node = await realpath(process.execPath)
    await wayOut.start(({ argvOf, onOutput }) =>
      opened.run({ argv: argvOf(node), onOutput, timeoutMs: Infinity, outputBytesMax: 4_096 }),
    )
    return opened
  } catch (error) {
    await (sandbox ?? wayOut).close()
    throw error
  }
}

async function openParts(
  { processes, settings, machine, hiddenFolders, accounts, means }: Ground,
  { workspace, access, mounts = [], ports = [], limits: wantedLimits }: SandboxSettings,
  wayOut: WayOut | undefined,
): Promise<BubblewrapSandbox> {
  const limits = { ...DEFAULT_LIMITS, ...wantedLimits }
  const view = await makeView(machine, {
    workspace,
    access,
    toolFolders: settings.toolFolders ?? [],
    hiddenFolders,
    mounts: [...accounts, ...(wayOut ? [wayOut.mount] : []), ...mounts],
    scratchBytesMax: means.sizes ? limits.scratchBytesMax : undefined,
  })
  const first = [
    ...['--die-with-parent', '--unshare-user', '--uid', '0', '--gid', '0', ...SEPARATE],
    // That of the machine, which bubblewrap itself needs; a command sees one of its own.
    ...['--bind', '/proc', '/proc', ...view.args],
  ]
  const namespaces = means.shared
    ? await openNamespaces(processes, {
        args: first,
        env: LAUNCH_ENVIRONMENT,
        memoryBytesMax: limits.memoryBytesMax,
        ports,
      })
    : undefined
  try {
    const cgroup = await means.cgroups?.open(limits)
    const { disableUserNamespaces } = means
    const parts = { processes, workspace, view, limits, disableUserNamespaces, namespaces, cgroup }
    return new BubblewrapSandbox({ ...parts, wayOut })
  } catch (error) {
    namespaces?.close()
    throw error
  }
}

/** The system's accounts, and the one that commands run as: programs ask who they are. */
async function writeAccounts(folder: string): Promise<SandboxMount[]> {
  const { uid, gid } = insideIds()
  const accounts = [
    ['passwd', uid, `sandbox:x:${uid}:${gid}::${PRIVATE_HOME}:/bin/sh`],
    ['group', gid, `sandbox:x:${gid}:`],
  ] as const
  const written = accounts.map(async ([file, id, own]): Promise<SandboxMount> => {
    const lines = (await readFile(`/etc/${file}`, 'utf8')).split('\n')
    const others = lines.filter((line) => line !== '' && line.split(':')[2] !== id)
    const path = join(folder, file)
    await writeFile(path, `${[...others, own].join('\n')}\n`)
    return { outside: path, inside: `/etc/${file}`, access: 'read' }
  })
  return Promise.all(written)
}
