import { createHash, randomBytes } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Processes } from '../process/processes.ts'
import { realFolder } from '../process/real-folder.ts'
import { PRIVATE_HOME } from './bubblewrap-view.ts'
import { type Engine, openEngine } from './container-engine.ts'
import { ContainerSandbox, FIRST_PROCESS, removeContainer } from './container-sandbox.ts'
import { sandboxEnvironment } from './environment.ts'
import { findHidden, resolveShown } from './hidden-folders.ts'
import { FREE_PORTS, lowPort } from './low-port.ts'
import { prepareOwnFolder } from './own-folder.ts'
import {
  DEFAULT_LIMITS,
  type Isolation,
  type Sandbox,
  type SandboxMount,
  type SandboxSettings,
} from './sandbox.ts'
import { tryOut } from './trial.ts'
import { openWayOut, wantsWayOut } from './way-out.ts'

/** What all containers have in common. */
export interface ContainerSettings {
  readonly stateFolder: string
  /** Has `sh`; allowed hosts need `node` in it too. */
  readonly image: string
  readonly engine?: Engine['name']
  /** Put before every subcommand, such as `--runtime runc`. */
  readonly engineArguments?: readonly string[]
  /** Added where a container is made, such as `--ulimit nofile=1024`. */
  readonly runArguments?: readonly string[]
}

/** Isolation by podman or docker. Rejects with the reason when a trial command does not run. */
export async function openContainer(
  processes: Processes,
  settings: ContainerSettings,
): Promise<Isolation> {
  const ownFolder = await prepareOwnFolder(settings.stateFolder)
  const engine = await openEngine(processes, { ...settings, ownFolder })
  const folder = realFolder(settings.stateFolder)
  const label = `slipway.state=${createHash('sha256').update(folder).digest('hex')}`
  await removeOrphans(engine, label)
  const open = (wanted: SandboxSettings) =>
    openSandbox({ engine, settings, ownFolder, label }, wanted)
  const failure = await tryOut(open, ownFolder)
  if (failure !== undefined) throw new Error(failure)
  return {
    level: 'container',
    description: `Commands run in a container (${engine.name}, ${settings.image}): they see the workspace and the image, no network, no home, no keys.`,
    open,
  }
}

async function removeOrphans(engine: Engine, label: string): Promise<void> {
  const list = ['ps', '--all', '--quiet', '--filter', `label=${label}`]
  const names = (await engine.call(list)).split('\n').filter(Boolean)
  await Promise.all(names.map((name) => removeContainer(engine, name)))
}

interface Ground {
  readonly engine: Engine
  readonly settings: ContainerSettings
  readonly ownFolder: string
  readonly label: string
}

async function openSandbox(ground: Ground, wanted: SandboxSettings): Promise<Sandbox> {
  const { engine, settings, ownFolder } = ground
  const { workspace } = wanted
  const wayOut = wantsWayOut(wanted) ? await openWayOut(ownFolder, wanted) : undefined
  const name = `slipway-${randomBytes(8).toString('hex')}`
  // In the order of their removal: the one whose network another shares goes last.
  const names = wayOut ? [`${name}-out`, name] : [name]
  try {
    const place = ['--detach', '--network', 'none', '--workdir', workspace]
    const lowest = lowPort(wanted.ports ?? [])
    const freePorts = lowest === undefined ? [] : ['--sysctl', `${FREE_PORTS}=${lowest}`]
    const mounts = await mountsOf(wanted, settings.stateFolder)
    await engine.call([
      ...runLine(ground, wanted, name),
      ...place,
      ...freePorts,
      ...mounts,
      ...program(settings, FIRST_PROCESS),
    ])
    await wayOut?.start(({ argvOf, onOutput }) => {
      const beside = ['--network', `container:${name}`, ...mount(wayOut.mount)]
      const line = [...runLine(ground, wanted, `${name}-out`), ...beside]
      const limits = { timeoutMs: Infinity, outputBytesMax: 4_096, onOutput }
      return engine.run([...line, ...program(settings, argvOf('node'))], limits)
    })
    return new ContainerSandbox(engine, names, workspace, wayOut)
  } catch (error) {
    for (const container of names) await removeContainer(engine, container)
    await wayOut?.close()
    throw error
  }
}

/** How every container is made. */
function runLine(
  { engine, settings, label }: Ground,
  wanted: SandboxSettings,
  name: string,
): readonly string[] {
  const limits = { ...DEFAULT_LIMITS, ...wanted.limits }
  const memory = String(limits.memoryBytesMax)
  const environment = sandboxEnvironment(PRIVATE_HOME, '/tmp')
  const scratch = ['/tmp', PRIVATE_HOME].flatMap((path) => [
    '--tmpfs',
    `${path}:rw,exec,nosuid,nodev,mode=1777,size=${limits.scratchBytesMax}`,
  ])
  return [
    ...['run', '--name', name, '--label', label, '--hostname', 'sandbox'],
    ...['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--memory', memory, '--memory-swap', memory],
    ...['--pids-limit', String(limits.processesMax)],
    ...(engine.name === 'podman' ? ['--read-only-tmpfs=false', '--http-proxy=false'] : []),
    ...(engine.rootless ? ['--userns', 'keep-id'] : []),
    ...['--user', `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`],
    ...scratch,
    ...['--shm-size', String(limits.scratchBytesMax)],
    ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...(settings.runArguments ?? []),
  ]
}

function program({ image }: ContainerSettings, argv: readonly [string, ...string[]]): string[] {
  const [file, ...args] = argv
  return ['--entrypoint', file, image, ...args]
}

async function mountsOf(
  { workspace, access, mounts = [] }: SandboxSettings,
  stateFolder: string,
): Promise<readonly string[]> {
  const git = join(workspace, '.git')
  const found = await lstat(git).catch(() => undefined)
  if (found?.isSymbolicLink()) throw new Error(`${git} is a link, which nothing can protect`)
  const hidden = await findHidden(stateFolder)
  const others: SandboxMount[] = []
  for (const wanted of mounts) {
    const outside = await resolveShown(wanted.outside, { hidden, workspace }, 'shown')
    others.push({ ...wanted, outside })
  }
  return [
    ...mount({ outside: workspace, inside: workspace, access }),
    ...(found === undefined ? [] : mount({ outside: git, inside: git, access: 'read' })),
    ...others.flatMap(mount),
  ]
}

function mount({ outside, inside, access }: SandboxMount): readonly string[] {
  const place = ['type=bind', `source=${outside}`, `target=${inside}`]
  const fields = access === 'read' ? [...place, 'readonly'] : place
  if (fields.some((field) => field.includes(','))) {
    throw new Error(`${outside} has a comma in its name, which engines cannot mount`)
  }
  return ['--mount', fields.join(',')]
}
