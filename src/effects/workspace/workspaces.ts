import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fitMessage } from '../git/commit-message.ts'
import { isWhole, removeNonsense } from '../git/damage.ts'
import type { Git } from '../git/git.ts'
import { isAncestor } from '../git/objects.ts'
import { packWhenMany } from '../git/packing.ts'
import { changeRefs, readRef } from '../git/refs.ts'
import type { Repositories } from '../git/repositories.ts'
import { guardGit } from '../guards/git-guard.ts'
import { Turns } from '../turns.ts'
import { archiveStory, findArchived, findStories } from './archive.ts'
import type { BytePath } from './byte-path.ts'
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
import { restoreGitlinks } from './gitlinks.ts'
import { isWholeIndex, rebuildIndex } from './index-file.ts'
import { type Kept, keepFolder } from './kept-folder.ts'
import { type Owner, type Place, placeOf } from './place.ts'
import { readRecord, rebuildRecord, writeRecord } from './record.ts'
import { removeFolder } from './removal.ts'
import { rewindFolder } from './rewind.ts'
import { readRunNote, writeRunNote } from './run-note.ts'

interface Prepared {
  readonly folder: string
  readonly branch: string
  readonly base: string
}

/** What a start found. */
export interface Reconciliation {
  /** Nobody's: archived, and gone from the disk unless it was kept. */
  readonly removed: readonly Owner[]
  readonly kept: readonly Kept[]
  /** Wanted, not there, and never stored: whoever wants them prepares them. */
  readonly missing: readonly Owner[]
  /** Damaged, and made whole from what is on the disk. */
  readonly mended: readonly NotedOwner[]
  /** Neither removed nor made again. What is on the disk and in git of them stays as it is. */
  readonly failed: readonly NotedOwner[]
}

interface NotedOwner extends Owner {
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
  /**
   * Brings its files back to the last checkpoint; ignored ones stay as they are. Without one, what
   * is there becomes the first, so that whatever comes after it can be undone.
   */
  rewind(owner: Owner): Promise<void>
  /** Notes durably for whom something runs there that is to be undone; `null` when it is. */
  noteRun(owner: Owner, forWhom: string | null): Promise<void>
  /** For whom that was noted last. It goes with the workspace. */
  findRun(owner: Owner): Promise<string | undefined>
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
    rewind: (owner) => turns.take([keyOf(owner)], () => yard.rewind(owner)),
    noteRun: (owner, forWhom) => turns.take([keyOf(owner)], () => yard.noteRun(owner, forWhom)),
    findRun: (owner) => turns.take([keyOf(owner)], () => yard.findRun(owner)),
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
  /** What the last checkpoint of each left out, by the index. */
  readonly #unstored = new Map<string, readonly BytePath[]>()

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
    if (existsSync(folder)) {
      const present = await this.#findContents(place)
      if (present?.base === base && content === undefined) return { folder, branch, base }
      await this.#putAway(owner)
    }
    // One that cannot be read is a loss only to whoever wants its files.
    const stored = await readCheckpoint(this.#git, work, place.checkpointRef).catch((error) => {
      if (content === undefined) throw error
      return undefined
    })
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
      const [tree] = await this.#git.find(work, [`${content ?? base}^{tree}`])
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
    const contents = existsSync(folder) ? await this.#findContents(place) : undefined
    return contents && { folder, branch, base: contents.base }
  }

  /** What is known about a workspace that is there, or can be found out again. */
  async #findContents(place: Place): Promise<Contents | undefined> {
    return (
      (await readRecord(this.#git, this.#repositories, place)) ??
      rebuildRecord(this.#git, this.#repositories, place)
    )
  }

  async #requireContents(place: Place): Promise<Contents> {
    const contents = existsSync(place.folder) ? await this.#findContents(place) : undefined
    if (contents !== undefined) return contents
    throw new Error(`nothing is known about the workspace ${place.folder}`)
  }

  async checkpoint(owner: Owner, anew = false): Promise<Checkpoint> {
    const place = placeOf(this.#stateFolder, owner)
    const contents = await this.#requireContents(place)
    const manner = { anew, suspects: this.#unstored.get(place.index) ?? [] }
    const parts = [this.#git, this.#repositories, place, contents, manner] as const
    const checkpoint = await storeCheckpoint(...parts)
    this.#unstored.set(place.index, checkpoint.unstored)
    return checkpoint
  }

  async rewind(owner: Owner): Promise<void> {
    const place = placeOf(this.#stateFolder, owner)
    const contents = await this.#requireContents(place)
    const { work } = this.#repositories
    const stored = await readCheckpoint(this.#git, work, place.checkpointRef)
    if (stored === undefined) {
      await this.checkpoint(owner)
      return
    }
    if (!(await isWholeIndex(place.index))) {
      await rebuildIndex(this.#git, this.#repositories, place.index, [contents.base])
    }
    const [git, repositories] = [this.#git, this.#repositories]
    await rewindFolder({ git, repositories, place, contents, stored })
  }

  noteRun(owner: Owner, forWhom: string | null): Promise<void> {
    return writeRunNote(placeOf(this.#stateFolder, owner), forWhom)
  }

  findRun(owner: Owner): Promise<string | undefined> {
    return readRunNote(placeOf(this.#stateFolder, owner))
  }

  async commit(owner: Owner, message: string): Promise<string | undefined> {
    const repository = this.#repositories.work
    const ref = `refs/heads/${placeOf(this.#stateFolder, owner).branch}`
    for (const anew of [false, true]) {
      const { base, tree } = await this.checkpoint(owner, anew)
      const { head, commit } = await this.#commitTree(base, tree, ref, message, anew)
      if (commit === undefined) return undefined
      // Somebody will merge it, without the files of this workspace at hand.
      if (!(await isWhole(this.#git, this.#repositories, commit, base))) continue
      if (commit !== head) await changeRefs(this.#git, repository, [{ ref, to: commit }])
      return commit
    }
    throw new Error(`objects of the story's commit cannot be read in ${repository}`)
  }

  /** Commits a tree on top of what a branch has; nothing, where that changes nothing. */
  async #commitTree(base: string, stored: string, ref: string, message: string, anew: boolean) {
    const repository = this.#repositories.work
    const tree = await restoreGitlinks(this.#git, this.#repositories, base, stored)
    const head = await readRef(this.#git, repository, ref)
    if (head === undefined) await removeNonsense(repository, ref)
    const holds =
      head !== undefined &&
      (await isAncestor(this.#git, repository, base, head)) &&
      (!anew || (await isWhole(this.#git, this.#repositories, head, base)))
    const parent = holds ? head : base
    const [parentTree] = await this.#git.find(repository, [`${parent}^{tree}`])
    if (tree === parentTree) return { head, commit: parent === base ? undefined : parent }
    const args = ['commit-tree', tree, '-p', parent, '-F', '-']
    const stdin = fitMessage(message)
    return { head, commit: (await this.#git.run(args, { repository, stdin })).text }
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
    const contents = await this.#findContents(place)
    const manner = { suspects: this.#unstored.get(place.index) ?? [] }
    const unstored =
      contents === undefined
        ? ['.']
        : await storeFinally(this.#git, this.#repositories, place, contents, manner)
    this.#unstored.delete(place.index)
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
    const mended: NotedOwner[] = []
    const failed: NotedOwner[] = []
    // One workspace that cannot be dealt with must not stop all the others.
    const attempt = async (owner: Owner, work: () => Promise<void>) => {
      await work().catch((error) => failed.push({ ...owner, reason: String(error) }))
    }
    for (const owner of found.values()) {
      await attempt(owner, async () => {
        const place = placeOf(this.#stateFolder, owner)
        const isOurs = !existsSync(place.folder) || existsSync(join(place.folder, '.git'))
        if (!isOurs && (await this.#findContents(place)) === undefined) return
        kept.push(...[(await this.remove(owner)) ?? []].flat())
        removed.push(owner)
      })
    }
    for (const owner of wanted) {
      await attempt(owner, async () => {
        if (existsSync(placeOf(this.#stateFolder, owner).folder)) {
          const reason = await this.#mend(owner)
          if (reason !== undefined) mended.push({ ...owner, reason })
        } else if (!(await this.#comeBack(owner))) missing.push(owner)
      })
    }
    return { removed, kept, missing, mended, failed }
  }

  /** Makes what is known and stored of a workspace agree with the disk; says what was damaged. */
  async #mend(owner: Owner): Promise<string | undefined> {
    const place = placeOf(this.#stateFolder, owner)
    const damage: string[] = []
    const noted = await readRecord(this.#git, this.#repositories, place)
    if (noted === undefined) damage.push('its record')
    const { base } = await this.#requireContents(place)
    if (!(await isWholeIndex(place.index))) damage.push('its index')
    const { work } = this.#repositories
    const last = await readCheckpoint(this.#git, work, place.checkpointRef).catch(() => null)
    const isStored =
      last !== null &&
      (last === undefined || (await isWhole(this.#git, this.#repositories, last.commit, base)))
    if (!isStored) damage.push('its last checkpoint')
    if (damage.length === 0) return undefined
    const { commit } = await this.checkpoint(owner, true)
    if (await isWhole(this.#git, this.#repositories, commit, base)) return damage.join(', ')
    throw new Error(`objects of its checkpoint cannot be read in ${work}`)
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
async function discard({ folder, doomed, record, runNote, index }: Place): Promise<void> {
  if (existsSync(folder)) {
    await removeFolder(doomed)
    await rename(folder, doomed)
    await removeFolder(doomed)
  }
  const files = [record, runNote, index, `${index}.lock`, `${index}+new`]
  for (const path of files) await rm(path, { force: true })
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
      const story = name.replace(/\+(?:record|run)$/, '')
      owners.set(`${run}/${story}`, { run, story })
    }
  }
  return [...owners.values()]
}
