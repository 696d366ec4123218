import { constants } from 'node:fs'
import { access, lstat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findInstallation } from '../../effects/brains/agents/installation.ts'
import type { Processes } from '../../effects/process/processes.ts'
import { chooseIsolation, IsolationError } from '../../effects/sandbox/choose-isolation.ts'
import { refuseNetworkFileSystem } from '../../journal/network-file-system.ts'
import type { Environment } from '../config/place.ts'
import { resolveIsolation } from '../config/resolve-settings.ts'
import type { SlipwayConfig } from '../config/settings/defaults.ts'
import { type Check, missing, ok, warn } from './check.ts'

/** The oldest versions that do: of Node by our manifest, of git for `merge-tree --write-tree`. */
const NODE_MIN = [20, 19] as const
const GIT_MIN = [2, 38] as const

const COMMAND_MS_MAX = 10_000
const GB = 1e9
const DISK_BYTES_ENOUGH = 5 * GB
const DISK_BYTES_MIN = 0.2 * GB

/** The Node that runs us. */
export function checkNode(version: string): Check {
  const wanted = `Install Node ${NODE_MIN.join('.')} or newer.`
  return isAtLeast(version, NODE_MIN) ? ok('node', version) : missing('node', version, wanted)
}

export async function checkGit(
  processes: Processes,
  environment: Environment,
): Promise<readonly Check[]> {
  const fix = `Install git ${GIT_MIN.join('.')} or newer (apt-get install git).`
  const { exitCode, stdout } = await processes.run({
    argv: ['git', '--version'],
    cwd: '/',
    env: { PATH: environment.PATH ?? '/usr/bin:/bin' },
    timeoutMs: COMMAND_MS_MAX,
    outputBytesMax: 4_096,
  })
  const version = /\d+\.\d+[\w.]*/.exec(stdout.toString())?.[0]
  if (exitCode !== 0 || version === undefined) return [missing('git', 'not found', fix)]
  return [isAtLeast(version, GIT_MIN) ? ok('git', version) : missing('git', version, fix)]
}

/** Models search with it; without it their searches fail and they have to list files. */
export async function checkRipgrep(environment: Environment): Promise<readonly Check[]> {
  const found = await findInstallation(['rg'], environment.PATH ?? '')
  if (found !== undefined) return [ok('ripgrep', found.argv[0])]
  return [warn('ripgrep', 'not found: models cannot search', 'apt-get install ripgrep')]
}

/** Really runs a command as model-written ones would be run, in a folder for the moment. */
export async function checkIsolation(
  processes: Processes,
  folder: string,
  config: SlipwayConfig,
  environment: Environment,
): Promise<readonly Check[]> {
  const fix =
    process.platform === 'linux'
      ? 'apt-get install bubblewrap, or name a container image as isolation.image.'
      : 'Install podman or docker, and name a container image as isolation.image.'
  try {
    const chosen = await chooseIsolation(processes, resolveIsolation(config, folder, environment))
    const reasons = chosen.passedOver.map(({ level, reason }) => `${level}: ${reason}`).join('; ')
    const passed = reasons === '' ? '' : ` (${reasons})`
    const found = `${chosen.level}: ${chosen.description}${passed}`
    return [chosen.level === 'none' ? warn('isolation', found, fix) : ok('isolation', found)]
  } catch (error) {
    if (!(error instanceof IsolationError)) throw error
    return [missing('isolation', error.reason, error.advice)]
  }
}

/** Where the journal and the workspaces will be. */
export async function checkDisk(stateFolder: string): Promise<readonly Check[]> {
  const name = 'state folder'
  const elsewhere = 'Choose another folder with --state.'
  const stats = await lstat(stateFolder).catch(() => undefined)
  if (stats !== undefined && !stats.isDirectory()) {
    return [missing(name, `${stateFolder} is not a folder`, 'Remove what is there.')]
  }
  const place = await nearestFolder(stateFolder)
  const isWritable = await access(place, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable) return [missing(name, `${place} cannot be written to`, elsewhere)]
  try {
    refuseNetworkFileSystem(place)
  } catch (error) {
    return [missing(name, (error as Error).message, elsewhere)]
  }
  const { bavail, bsize } = await statfs(place)
  const freeBytes = bavail * bsize
  const found = `${stateFolder}, ${(freeBytes / GB).toFixed(1)} GB free`
  if (freeBytes < DISK_BYTES_MIN) return [missing(name, found, 'Free some space.')]
  if (freeBytes < DISK_BYTES_ENOUGH) return [warn(name, found, 'Free some space.')]
  return [ok(name, found)]
}

async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const isThere = await lstat(folder).then(
      () => true,
      () => false,
    )
    if (isThere || folder === dirname(folder)) return folder
  }
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [one = 0, two = 0] = version.replace(/^v/, '').split('.').map(Number)
  return one > major || (one === major && two >= minor)
}
