import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { resolveShown } from './hidden-folders.ts'
import { findPrivate } from './private-places.ts'
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

/** Folders of the system with what people put there themselves, and the most to look at in them. */
const OWN_FOLDERS = ['/opt', '/usr/local']
const OWN_ENTRIES_MAX = 10_000

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
  /** What covers places in them that not everybody may read. */
  readonly covers: readonly Mount[]
}

/** Says what a sandbox shows. Rejects what it would be unsafe to show. */
export async function makeView(machine: Machine, settings: ViewSettings): Promise<View> {
  const { workspace, access } = settings
  const tools = await surveyTools(machine, settings)
  const visible = [...machine.folders, ...tools.map(({ path }) => path)]
  const isVisible = (folder: string) => visible.some((above) => isWithin(above, folder))
  const mounts = [
    ...machine.mounts,
    ...(await coversFor(machine, settings)),
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
  return { mounts, folders, covers: process.getuid?.() === 0 ? coverPrivate() : [] }
}

/** What not everybody may read. Root's commands would: they have its number, if not its powers. */
function coverPrivate(): Mount[] {
  const places = [
    findPrivate({ below: ['/etc'], entriesMax: Infinity, sparesPrograms: false }),
    // Where programs of root's own are, which its commands may need.
    findPrivate({ below: OWN_FOLDERS, entriesMax: OWN_ENTRIES_MAX, sparesPrograms: true }),
  ]
  return places.flatMap(({ folders, files }) => [
    ...folders.map(emptyFolder),
    ...files.map((path) => readOnly(path, '/dev/null')),
  ])
}

/** All covers but those of what is wanted inside, is hidden already, or has gone away since. */
async function coversFor({ covers }: Machine, settings: ViewSettings): Promise<readonly Mount[]> {
  if (covers.length === 0) return []
  const prefix = dirname(dirname(await realpath(process.execPath)))
  const tools = settings.toolFolders.map((folder) => resolveTools(folder, settings))
  const wanted = [
    ...(await Promise.all(tools)),
    ...settings.mounts.map(({ inside }) => inside),
    settings.workspace,
    // What npm and the like consist of; the rest of the prefix may be all of /usr/local.
    join(prefix, 'bin'),
    join(prefix, 'lib', 'node_modules'),
  ]
  const spared = [...wanted, ...settings.hiddenFolders]
  return covers.filter(
    ({ path }) => !spared.some((folder) => isWithin(folder, path)) && existsSync(path),
  )
}

function resolveTools(
  folder: string,
  { hiddenFolders: hidden, workspace }: ViewSettings,
): Promise<string> {
  return resolveShown(folder, { hidden, workspace }, 'a tool folder')
}

/** The folders of tools that would not be seen, that of the running Node among them. */
async function surveyTools(machine: Machine, settings: ViewSettings): Promise<Mount[]> {
  const isSeen = (path: string) =>
    isOfSystem(path) && !machine.covers.some((cover) => isWithin(cover.path, path))
  const node = await realpath(process.execPath)
  const prefix = dirname(dirname(node))
  const isPrefix = basename(dirname(node)) === 'bin'
  const ownFolder = isPrefix ? await resolveTools(prefix, settings).catch(() => node) : node
  const mounts: Mount[] = []
  for (const folder of [ownFolder, ...settings.toolFolders]) {
    const source = await resolveTools(folder, settings)
    await stat(folder).catch(() => {
      throw new Error(`the tool folder ${folder} does not exist`)
    })
    // Under its own name, and where the links to it lead that are seen inside.
    const names = new Set([resolve(folder), source])
    for (const path of names) if (!isSeen(path)) mounts.push(readOnly(path, source))
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

function searchPath(tools: readonly Mount[]): string {
  const own = tools.flatMap(({ path }) => [join(path, 'bin'), path])
  const nodeFolder = dirname(process.execPath)
  const system = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
  return [...new Set([...own, nodeFolder, ...system])].join(':')
}
