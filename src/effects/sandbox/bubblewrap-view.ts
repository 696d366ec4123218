import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { resolveShown } from './hidden-folders.ts'
import type { SandboxMount } from './sandbox.ts'
import { isWithin } from './workspace-path.ts'

/** The system's folders that everybody needs. Whatever is not listed is not there: /run, /var, /sys. */
const SYSTEM_FOLDERS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix',
]

/** Where the private home is seen. */
export const PRIVATE_HOME = '/home/sandbox'

/** Whether a path is in one of the system's folders, which every sandbox shows. */
export function isOfSystem(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isWithin(folder, path))
}

/** What is to be seen inside, and what is not. */
export interface ViewSettings {
  readonly workspace: string
  readonly access: 'read' | 'write'
  readonly toolFolders: readonly string[]
  /** Folders of which nothing is seen but the workspace. */
  readonly hiddenFolders: readonly string[]
  /** What is seen besides, wherever it is. */
  readonly mounts: readonly SandboxMount[]
  /** Undefined where this bubblewrap cannot bound it. */
  readonly scratchBytesMax: number | undefined
}

/** What is seen inside. */
export interface View {
  /** Arguments of bubblewrap that make it, all but /proc. */
  readonly args: readonly string[]
  /** The places where programs are looked for. */
  readonly path: string
}

/** What every sandbox shows of this machine. */
export interface Machine {
  readonly mounts: readonly Mount[]
  /** The folders of the system that are seen, links left out. */
  readonly folders: readonly string[]
}

/** Says what a sandbox shows. Rejects what it would be unsafe to show. */
export async function makeView(machine: Machine, settings: ViewSettings): Promise<View> {
  const { workspace, access } = settings
  const tools = await surveyTools(settings)
  const visible = [...machine.folders, ...tools.map(({ path }) => path)]
  const isVisible = (folder: string) => visible.some((above) => isWithin(above, folder))
  const mounts = [
    ...machine.mounts,
    ...tools,
    ...settings.hiddenFolders.filter(isVisible).map(emptyFolder),
    ...(await Promise.all(settings.mounts.map((mount) => shown(mount, settings)))),
    ...wayTo(workspace),
    { path: workspace, args: [access === 'write' ? '--bind' : '--ro-bind', workspace, workspace] },
    ...(await surveyGit(workspace)),
  ]
  return {
    args: ['--dev', '/dev', ...privatePlaces(settings.scratchBytesMax), ...inOrder(mounts)],
    path: searchPath(tools),
  }
}

interface Mount {
  readonly path: string
  readonly args: readonly string[]
}

/** Those above before those below, or the latter would be covered. */
function inOrder(mounts: readonly Mount[]): readonly string[] {
  const depth = ({ path }: Mount) => path.split('/').length
  const sorted = [...mounts].sort((a, b) => depth(a) - depth(b))
  // Closed at last: what is mounted below an empty folder needs a place in it.
  const empty = sorted.filter(({ args }) => args[0] === '--tmpfs').map(({ path }) => path)
  const closed = [...empty, '/dev', '/'].flatMap((path) => ['--remount-ro', path])
  return [...sorted.flatMap(({ args }) => args), ...closed]
}

function readOnly(path: string, source = path): Mount {
  return { path, args: ['--ro-bind', source, path] }
}

async function shown(
  { outside, inside, access }: SandboxMount,
  { hiddenFolders: hidden, workspace }: ViewSettings,
): Promise<Mount> {
  const source = await resolveShown(outside, { hidden, workspace }, 'shown')
  return { path: inside, args: [access === 'write' ? '--bind' : '--ro-bind', source, inside] }
}

function emptyFolder(path: string): Mount {
  return { path, args: ['--tmpfs', path] }
}

/**
 * The way to a workspace below /tmp, where commands may rename folders: not those that are mounts.
 */
function wayTo(workspace: string): Mount[] {
  const [, top = '', second = '', ...rest] = workspace.split('/')
  return top === 'tmp' && rest.length > 0 ? [emptyFolder(`/${top}/${second}`)] : []
}

/** The home, /tmp and /dev/shm, each of that size. */
function privatePlaces(bytesMax: number | undefined): readonly string[] {
  const size = bytesMax === undefined ? [] : ['--size', String(bytesMax)]
  return [PRIVATE_HOME, '/tmp', '/dev/shm'].flatMap((path) => [...size, '--tmpfs', path])
}

/** Looks at the machine, once for all sandboxes. */
export function surveyMachine(): Machine {
  const mounts: Mount[] = []
  const folders: string[] = []
  for (const path of SYSTEM_FOLDERS) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isSymbolicLink()) {
      mounts.push({ path, args: ['--symlink', readlinkSync(path), path] })
    } else if (found?.isDirectory()) {
      mounts.push(readOnly(path))
      folders.push(path)
    }
  }
  if (process.getuid?.() === 0) mounts.push(...findPrivate('/etc'))
  return { mounts, folders }
}

/** The folders of tools outside the system's, that of the running Node among them. */
async function surveyTools(settings: ViewSettings): Promise<Mount[]> {
  const { hiddenFolders: hidden, workspace } = settings
  const resolveTools = (folder: string) =>
    resolveShown(folder, { hidden, workspace }, 'a tool folder')
  const node = await realpath(process.execPath)
  const prefix = dirname(dirname(node))
  const isPrefix = basename(dirname(node)) === 'bin'
  const ownFolder = isPrefix ? await resolveTools(prefix).catch(() => node) : node
  const mounts: Mount[] = []
  for (const folder of [ownFolder, ...settings.toolFolders]) {
    const source = await resolveTools(folder)
    await stat(folder).catch(() => {
      throw new Error(`the tool folder ${folder} does not exist`)
    })
    // Under its own name, and where the links to it lead that are seen inside.
    const names = new Set([resolve(folder), source])
    for (const path of names) if (!isOfSystem(path)) mounts.push(readOnly(path, source))
  }
  return mounts
}

/** A mount of its own: a folder that only holds one can be moved away, and another put there. */
async function surveyGit(workspace: string): Promise<Mount[]> {
  const path = join(workspace, '.git')
  const found = await lstat(path).catch(() => undefined)
  if (found?.isSymbolicLink()) throw new Error(`${path} is a link, which nothing can protect`)
  return found === undefined ? [] : [readOnly(path)]
}

/** What not everybody may read. Root's commands would: they have its number, if not its powers. */
function findPrivate(folder: string): Mount[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    const status = lstatSync(path, { throwIfNoEntry: false })
    if (status === undefined || status.isSymbolicLink()) return []
    const needed = status.isDirectory() ? 0o005 : 0o004
    const isOpen = (status.mode & needed) === needed
    if (status.isDirectory()) return isOpen ? findPrivate(path) : [emptyFolder(path)]
    return isOpen ? [] : [readOnly(path, '/dev/null')]
  })
}

function searchPath(tools: readonly Mount[]): string {
  const own = tools.flatMap(({ path }) => [join(path, 'bin'), path])
  const nodeFolder = dirname(process.execPath)
  const system = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
  return [...new Set([...own, nodeFolder, ...system])].join(':')
}
