import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROCESS_NAME } from './own-folder.ts'

const CONTROLLERS = ['memory', 'pids'] as const
const REMOVAL_MS_MAX = 2_000
const OWN_PREFIX = `slipway.${PROCESS_NAME}.`

/** How many groups this process has made, for whatever state folder: their names are in one place. */
let count = 0

type Controller = (typeof CONTROLLERS)[number]

/** Bounds that the kernel keeps for all processes of a group. */
export interface Cgroup {
  /** Takes a process in, and all that it starts from then on. Rejects when it is not there. */
  join(pid: number): Promise<void>
  /** Ends what is in it, and removes it. */
  remove(): Promise<void>
}

/** What all processes of a group may have together. */
export interface CgroupLimits {
  readonly memoryBytesMax: number
  readonly processesMax: number
}

/** Where groups can be made on this machine, and which of ours there are. */
export interface Cgroups {
  open(limits: CgroupLimits): Promise<Cgroup>
  /** Removes the groups of an earlier process of the same state folder. */
  removeOrphans(): Promise<void>
}

/**
 * Finds where we may make groups: below our own, so that what bounds us bounds them too. Undefined
 * where memory and processes cannot both be bounded. Groups are noted in the folder before they are
 * made, since after a restart our own group may be another.
 */
export async function openCgroups(notesFolder: string): Promise<Cgroups | undefined> {
  const parents = await findParents()
  if (CONTROLLERS.some((controller) => !parents.has(controller))) return undefined
  const cgroups: Cgroups = {
    async open(limits) {
      count += 1
      const name = `${OWN_PREFIX}${count}`
      const folders = new Set([...parents.values()].map(({ folder }) => join(folder, name)))
      const note = join(notesFolder, `${name}.cgroups`)
      await mkdir(notesFolder, { recursive: true, mode: 0o700 })
      await writeFile(note, [...folders].join('\n'), { mode: 0o600 })
      for (const folder of folders) await mkdir(folder)
      for (const [controller, parent] of parents) {
        await bound(join(parent.folder, name), controller, parent.version, limits)
      }
      const lists = [...folders].map((folder) => join(folder, 'cgroup.procs'))
      return {
        async join(pid) {
          await Promise.all(lists.map((list) => writeFile(list, String(pid))))
        },
        remove: () => removeNoted(note),
      }
    },
    async removeOrphans() {
      const names = await readdir(notesFolder).catch(() => [])
      const notes = names.filter(
        (name) => name.endsWith('.cgroups') && !name.startsWith(OWN_PREFIX),
      )
      await Promise.all(notes.map((name) => removeNoted(join(notesFolder, name))))
    },
  }
  return (await canMake(cgroups)) ? cgroups : undefined
}

async function canMake(cgroups: Cgroups): Promise<boolean> {
  try {
    const cgroup = await cgroups.open({ memoryBytesMax: 2 ** 30, processesMax: 100 })
    await cgroup.remove()
    return true
  } catch {
    return false
  }
}

interface Parent {
  readonly folder: string
  readonly version: 1 | 2
}

async function findParents(): Promise<Map<Controller, Parent>> {
  const parents = new Map<Controller, Parent>()
  const [mounts, groups] = await Promise.all(
    ['/proc/self/mountinfo', '/proc/self/cgroup'].map((path) =>
      readFile(path, 'utf8').catch(() => ''),
    ),
  )
  for (const { root, mountPoint, type, options } of parseMounts(mounts ?? '')) {
    const version = type === 'cgroup2' ? 2 : 1
    const own = ownGroup(groups ?? '', version === 2 ? '' : options)
    if (own === undefined) continue
    const path = relative(root, own)
    const group = path.startsWith('..') ? mountPoint : join(mountPoint, path)
    for (const controller of CONTROLLERS) {
      const offered = version === 1 && options.split(',').includes(controller)
      const folder = offered ? group : await findDelegating(group, mountPoint, controller, version)
      if (folder !== undefined && !parents.has(controller)) {
        parents.set(controller, { folder, version })
      }
    }
  }
  return parents
}

/** The nearest group, from ours upwards, whose children have the controller. */
async function findDelegating(
  group: string,
  mountPoint: string,
  controller: Controller,
  version: 1 | 2,
): Promise<string | undefined> {
  if (version === 1) return undefined
  for (let folder = group; folder.startsWith(mountPoint); folder = dirname(folder)) {
    const path = join(folder, 'cgroup.subtree_control')
    const controllers = await readFile(path, 'utf8').catch(() => '')
    if (controllers.trim().split(' ').includes(controller)) return folder
  }
  return undefined
}

function parseMounts(
  text: string,
): { root: string; mountPoint: string; type: string; options: string }[] {
  return text.split('\n').flatMap((line) => {
    const [own = '', outer = ''] = line.split(' - ')
    const [, , , root = '', mountPoint = ''] = own.split(' ')
    const [type = '', , options = ''] = outer.split(' ')
    return type === 'cgroup' || type === 'cgroup2' ? [{ root, mountPoint, type, options }] : []
  })
}

/** Our group in the hierarchy that has one of the controllers; without any, in the unified one. */
function ownGroup(groups: string, controllers: string): string | undefined {
  for (const line of groups.split('\n')) {
    const [, names = '', ...path] = line.split(':')
    const wanted =
      controllers === ''
        ? line.startsWith('0::')
        : names !== '' && names.split(',').some((name) => controllers.split(',').includes(name))
    if (wanted) return path.join(':')
  }
  return undefined
}

async function bound(
  folder: string,
  controller: Controller,
  version: 1 | 2,
  { memoryBytesMax, processesMax }: CgroupLimits,
): Promise<void> {
  const set = (file: string, value: number) => writeFile(join(folder, file), String(value))
  if (controller === 'pids') return set('pids.max', processesMax)
  await set(version === 2 ? 'memory.max' : 'memory.limit_in_bytes', memoryBytesMax)
  // A kernel without swap has no such file.
  if (version === 2) await set('memory.swap.max', 0).catch(() => {})
  else await set('memory.memsw.limit_in_bytes', memoryBytesMax).catch(() => {})
}

/** Removes the groups that a note names, and then the note. */
async function removeNoted(note: string): Promise<void> {
  const folders = (await readFile(note, 'utf8').catch(() => '')).split('\n').filter(Boolean)
  const removed = await Promise.all(folders.map(removeGroup))
  if (removed.every(Boolean)) await rm(note, { force: true })
}

async function removeGroup(folder: string): Promise<boolean> {
  const deadlineMs = performance.now() + REMOVAL_MS_MAX
  for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, 50)) {
    try {
      await rmdir(folder)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true
      if (performance.now() > deadlineMs) return false
    }
    await endMembers(folder)
    await sleep(waitMs)
  }
}

async function endMembers(folder: string): Promise<void> {
  const members = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '')
  // A process of another namespace is shown as 0, which would be our own group.
  for (const pid of members.split('\n').map(Number).filter(Boolean)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}
