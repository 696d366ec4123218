import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Git } from '../git/git.ts'
import { isAncestor } from '../git/objects.ts'
import { packWhenMany } from '../git/packing.ts'
import { changeRefs, findObjects, type Repositories, readRef } from '../git/repositories.ts'
import { guardGit } from '../guards/git-guard.ts'
import { Turns } from '../turns.ts'
import { archiveStory, findArchived, findStories } from './archive.ts'
import {
  type Checkpoint,
  type Contents,
  readCheckpoint,
  restoreOthers,
  storeCheckpoint,
  storeFinally,
  storePrepared,
} from './checkpoint.ts'
import { makeClone } from './clone.ts'
import { type Kept, keepFolder } from './kept-folder.ts'
import { type Owner, type Place, placeOf } from './place.ts'
import { removeFolder } from './removal.ts'

interface Prepared {
  readonly folder: string
  readonly branch: string
  readonly base: string
}

/** What a start found. */
interface Reconciliation {
  /** Nobody's: archived, and gone from the disk unless it was kept. */
  readonly removed: readonly Owner[]
  readonly kept: readonly Kept[]
  /** Wanted, not there, and never stored: whoever wants them prepares them. */
  readonly missing: readonly Owner[]
  /** Neither removed nor made again. What is on the disk and in git of them stays as it is. */
  readonly failed: readonly FailedOwner[]
}

interface FailedOwner extends Owner {
  readonly reason: string
}

/** The workspaces of a state folder. What is done to one is done one after the other. */
export interface Workspaces {
  /**
   * Makes a workspace that stands on `base`, or finds it. A lost one comes back as its last
   * checkpoint has it. `content` is a commit whose files it is to have instead.
   */
  prepare(owner: Owner, base: string, content?: string): Promise<Prepared>
  /** The workspace that is there. */
  find(owner: Owner): Promise<Prepared | undefined>
  checkpoint(owner: Owner): Promise<Checkpoint>
  /** Commits all work to the story's branch; undefined when there is none. */
  commit(owner: Owner, message: string): Promise<string | undefined>
  /**
   * Stores what is there and removes it. A workspace that holds what no checkpoint can is put away
   * whole instead, and that is the answer.
   */
  remove(owner: Owner): Promise<Kept | undefined>
  /** Makes a removed workspace again as it last was; undefined when there never was one. */
  restore(owner: Owner): Promise<Prepared | undefined>
  /** Compares the disk with what ought to be there, after a start. */
  reconcile(wanted: readonly Owner[]): Promise<Reconciliation>
}

export function openWorkspaces(
  git: Git,
  repositories: Repositories,
  stateFolder: string,
): Workspaces {
  const turns = new Turns()
  const yard = new Yard(git, repositories, stateFolder)
  const keyOf = ({ run, story }: Owner) => `${run}/${story}`
  // Clones are made one at a time, and the archive is one ref for all.
  return {
    prepare: (owner, base, content) =>
      turns.take(['clone', keyOf(owner)], () => yard.prepare(owner, base, content)),
    find: (owner) => turns.take([keyOf(owner)], () => yard.find(owner)),
    checkpoint: (owner) => turns.take([keyOf(owner)], () => yard.checkpoint(owner)),
    commit: (owner, message) => turns.take([keyOf(owner)], () => yard.commit(owner, message)),
    remove: (owner) => turns.take(['clone', 'archive', keyOf(owner)], () => yard.remove(owner)),
    restore: (owner) => turns.take(['clone', keyOf(owner)], () => yard.restore(owner)),
    reconcile: (wanted) => turns.take(['clone', 'archive'], () => yard.reconcile(wanted)),
  }
}

/** What workspaces does, without its order. */
class Yard implements Workspaces {
  readonly #git: Git
  readonly #repositories: Repositories
  readonly #stateFolder: string

  constructor(git: Git, repositories: Repositories, stateFolder: string) {
    this.#git = git
    this.#repositories = repositories
    this.#stateFolder = stateFolder
  }

  async prepare(owner: Owner, base: string, content?: string): Promise<Prepared> {
    const { work } = this.#repositories
    const place = placeOf(this.#stateFolder, owner)
    const { folder, branch } = place
    guardGit('commit', base)
    const present = existsSync(folder) ? await requireRecord(place) : undefined
    if (present?.base === base && content === undefined) return { folder, branch, base }
    if (present !== undefined) await this.#putAway(owner)
    const stored = await readCheckpoint(this.#git, work, place.checkpointRef)
    await discard(place)
    const { contents, settle } = await makeClone(this.#git, this.#repositories, { ...place, base })
    const lost = content === undefined && stored?.base === base ? stored : undefined
    const files = lost?.commit ?? content
    if (files !== undefined) {
      // Into what is a fresh clone of the base, from a repository of ours.
      const options = { repository: work, workTree: place.draft, index: place.index }
      await this.#git.run(['read-tree', '-m', '-u', base, guardGit('commit', files)], options)
    }
    if (lost === undefined && (content ?? stored) !== undefined) {
      // Otherwise a loss before the next checkpoint would bring back what was there before.
      const [tree] = await findObjects(this.#git, work, [`${content ?? base}^{tree}`])
      if (tree === undefined) throw new Error(`there is no commit ${content ?? base}`)
      await storePrepared(this.#git, this.#repositories, place, { base, tree }, stored)
    }
    if (lost !== undefined) {
      await restoreOthers(this.#git, this.#repositories, place.draft, lost)
    }
    await writeRecord(place, contents)
    await settle()
    return { folder, branch, base }
  }

  async find(owner: Owner): Promise<Prepared | undefined> {
    const place = placeOf(this.#stateFolder, owner)
    const { folder, branch } = place
    if (!existsSync(folder)) return undefined
    return { folder, branch, base: (await requireRecord(place)).base }
  }

  async checkpoint(owner: Owner): Promise<Checkpoint> {
    const place = placeOf(this.#stateFolder, owner)
    return storeCheckpoint(this.#git, this.#repositories, place, await requireRecord(place))
  }

  async commit(owner: Owner, message: string): Promise<string | undefined> {
    const repository = this.#repositories.work
    const { base, tree } = await this.checkpoint(owner)
    const ref = `refs/heads/${placeOf(this.#stateFolder, owner).branch}`
    const head = await readRef(this.#git, repository, ref)
    const parent =
      head !== undefined && (await isAncestor(this.#git, repository, base, head)) ? head : base
    const [parentTree] = await findObjects(this.#git, repository, [`${parent}^{tree}`])
    if (tree === parentTree) return parent === base ? undefined : parent
    const args = ['commit-tree', tree, '-p', parent, '-F', '-']
    const stdin = `${message.trimEnd()}\n`
    const { text: commit } = await this.#git.run(args, { repository, stdin })
    await changeRefs(this.#git, repository, [{ ref, to: commit }])
    return commit
  }

  async remove(owner: Owner): Promise<Kept | undefined> {
    const place = placeOf(this.#stateFolder, owner)
    const kept = existsSync(place.folder) ? await this.#putAway(owner) : undefined
    await archiveStory(this.#git, this.#repositories.work, owner, place)
    await discard(place)
    await packWhenMany(this.#git, this.#repositories)
    return kept
  }

  /** Stores a workspace; where that is not all of it, its folder is kept elsewhere. */
  async #putAway(owner: Owner): Promise<Kept | undefined> {
    const place = placeOf(this.#stateFolder, owner)
    const contents = await requireRecord(place)
    const unstored = await storeFinally(this.#git, this.#repositories, place, contents)
    return unstored.length === 0 ? undefined : keepFolder(this.#stateFolder, owner, place, unstored)
  }

  async restore(owner: Owner): Promise<Prepared | undefined> {
    const { work } = this.#repositories
    const { checkpointRef } = placeOf(this.#stateFolder, owner)
    const archived = (await findArchived(this.#git, work, owner))?.[checkpointRef]
    if (archived !== undefined) {
      await changeRefs(this.#git, work, [{ ref: checkpointRef, to: archived }])
    }
    const checkpoint = await readCheckpoint(this.#git, work, checkpointRef)
    return checkpoint && this.prepare(owner, checkpoint.base)
  }

  async reconcile(wanted: readonly Owner[]): Promise<Reconciliation> {
    const onDisk = await findOwners(this.#stateFolder)
    const inGit = await findStories(this.#git, this.#repositories.work)
    const key = ({ run, story }: Owner) => `${run}/${story}`
    const owners = [...onDisk, ...inGit].filter((owner) => isPlace(this.#stateFolder, owner))
    const found = new Map(owners.map((owner) => [key(owner), owner]))
    for (const owner of wanted) found.delete(key(owner))
    const removed: Owner[] = []
    const kept: Kept[] = []
    const missing: Owner[] = []
    const failed: FailedOwner[] = []
    // One workspace that cannot be dealt with must not stop all the others.
    const attempt = async (owner: Owner, work: () => Promise<void>) => {
      await work().catch((error) => failed.push({ ...owner, reason: String(error) }))
    }
    for (const owner of found.values()) {
      await attempt(owner, async () => {
        const place = placeOf(this.#stateFolder, owner)
        if (existsSync(place.folder) && (await readRecord(place)) === undefined) return
        kept.push(...[(await this.remove(owner)) ?? []].flat())
        removed.push(owner)
      })
    }
    for (const owner of wanted) {
      await attempt(owner, async () => {
        if (existsSync(placeOf(this.#stateFolder, owner).folder)) return
        const isBack = await this.#comeBack(owner)
        if (!isBack) missing.push(owner)
      })
    }
    return { removed, kept, missing, failed }
  }

  /** Makes a lost workspace again from its last checkpoint, if it has one. */
  async #comeBack(owner: Owner): Promise<boolean> {
    const { checkpointRef } = placeOf(this.#stateFolder, owner)
    const checkpoint = await readCheckpoint(this.#git, this.#repositories.work, checkpointRef)
    if (checkpoint !== undefined) await this.prepare(owner, checkpoint.base)
    return checkpoint !== undefined
  }
}

/** Removes what has been stored. */
async function discard({ folder, doomed, record, index }: Place): Promise<void> {
  if (existsSync(folder)) {
    await removeFolder(doomed)
    await rename(folder, doomed)
    await removeFolder(doomed)
  }
  for (const path of [record, index, `${index}.lock`]) await rm(path, { force: true })
}

async function writeRecord({ record }: Place, contents: Contents): Promise<void> {
  await mkdir(dirname(record), { recursive: true, mode: 0o700 })
  const draft = `${record}+new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(contents))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, record)
}

async function readRecord({ record }: Place): Promise<Contents | undefined> {
  try {
    return JSON.parse(await readFile(record, 'utf8'))
  } catch {
    return undefined
  }
}

async function requireRecord(place: Place): Promise<Contents> {
  const contents = await readRecord(place)
  if (contents !== undefined) return contents
  throw new Error(`nothing is known about the workspace ${place.folder}`)
}

/** What we did not make, such as a file of the desktop's, is left alone. */
function isPlace(stateFolder: string, owner: Owner): boolean {
  try {
    placeOf(stateFolder, owner)
    return true
  } catch {
    return false
  }
}

/** Everybody who has something on the disk: a workspace, a record of one, or half of one. */
async function findOwners(stateFolder: string): Promise<readonly Owner[]> {
  const top = join(stateFolder, 'workspaces')
  const owners = new Map<string, Owner>()
  for (const run of await readdir(top).catch(() => [])) {
    for (const name of await readdir(join(top, run)).catch(() => [])) {
      if (/\+(?:new|old)$/.test(name)) {
        // What cannot be removed now is in nobody's way until its story is prepared.
        await removeFolder(join(top, run, name)).catch(() => {})
        continue
      }
      const story = name.replace(/\+record$/, '')
      owners.set(`${run}/${story}`, { run, story })
    }
  }
  return [...owners.values()]
}
