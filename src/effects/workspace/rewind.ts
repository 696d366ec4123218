import { type Dirent, readdirSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { type BytePath, bytePathOf, bytesOf } from './byte-path.ts'
import type { Checkpoint, Contents } from './checkpoint.ts'
import { namesOfGitFiles } from './git-files.ts'
import { Landing } from './landing.ts'
import type { Place } from './place.ts'
import {
  below,
  isRefusedName,
  isTooLarge,
  listIgnored,
  scanWorkspace,
  walkFolders,
} from './scan.ts'
import { makeReadable, storeTree } from './tree.ts'

/** A file that says how others are read may be among what is put back, and bring them to light. */
const TRIES_MAX = 3
/** Git waits for whoever holds the other end of a pipe that is called .gitignore. */
const RULES_MS_MAX = 60_000

interface Rewinding {
  readonly git: Git
  readonly repositories: Repositories
  readonly place: Place
  readonly contents: Contents
  readonly stored: Checkpoint
}

/**
 * Brings the files of a workspace back to a checkpoint of it, tracked and untracked ones, and with
 * them empty folders. Files that its rules ignored, such as installed packages, stay, whatever has
 * become of those rules since; so do what git keeps for itself there, and a repository inside that
 * the checkpoint knows. Pipes and sockets go. Only while no process works there: git would follow a
 * link that takes the place of a folder at the right moment.
 */
export async function rewindFolder(rewinding: Rewinding): Promise<void> {
  await restore(rewinding).catch(() => {
    // A pipe or a folder without permission was in the way.
    makeReadable(rewinding.place.folder, '')
    return restore(rewinding)
  })
}

async function restore(rewinding: Rewinding): Promise<void> {
  await clearTheWay(rewinding)
  await restoreTree(rewinding)
  await restoreFolders(rewinding)
}

/** Undoes what would have git see other files than the checkpoint did. */
async function clearTheWay(rewinding: Rewinding): Promise<void> {
  await restoreRules(rewinding)
  // To git, what lies in a repository inside is none of its own until that is gone.
  do await removeNewRules(rewinding)
  while (await removeNewRepositories(rewinding))
}

const optionsFor = ({ repositories, place: { folder, index } }: Rewinding) => ({
  repository: repositories.work,
  workTree: folder,
  index,
  timeoutMs: RULES_MS_MAX,
})

/** Names with a .gitignore at their end, whatever git is told to list. */
async function listRules(rewinding: Rewinding, ...which: string[]): Promise<readonly BytePath[]> {
  const args = ['ls-files', ...which, '-z', '--', ':(glob)**/.gitignore']
  const options = { ...optionsFor(rewinding), env: { GIT_LITERAL_PATHSPECS: '0' } }
  const { stdout } = await rewinding.git.run(args, options)
  const names = stdout.toString('latin1').split('\0')
  return names.filter((name) => /(?:^|\/)\.gitignore$/.test(name))
}

/** What was ignored then is ignored: by other rules, installed packages would be too much. */
async function restoreRules(rewinding: Rewinding): Promise<void> {
  const { git, place, stored } = rewinding
  // Our own index: what holds its lock is a git that was ended.
  await rm(`${place.index}.lock`, { force: true })
  await git.run(['read-tree', '--reset', stored.tree], optionsFor(rewinding))
  const rules = await listRules(rewinding, '--cached')
  const stdin = Buffer.from(rules.map((path) => `${path}\0`).join(''), 'latin1')
  const args = ['checkout-index', '--force', '-z', '--stdin']
  await git.run(args, { ...optionsFor(rewinding), stdin })
}

/**
 * Removes rules that the checkpoint would have if they had been there. Those that are ignored by
 * rules of their own, as in the cache of many a tool, may have been: they stay, with what they hide.
 */
async function removeNewRules(rewinding: Rewinding): Promise<void> {
  const list = () => listRules(rewinding, '--others', '--exclude-standard')
  // Behind one there may be another.
  for (let rules = await list(); rules.length > 0; rules = await list()) {
    for (const path of rules) await rm(bytesOf(rewinding.place.folder, path))
  }
}

/** Whether there was a repository inside of which the checkpoint knows nothing. */
async function removeNewRepositories(rewinding: Rewinding): Promise<boolean> {
  const { git, repositories, place, contents, stored } = rewinding
  const { submodules } = contents
  const scan = await scanWorkspace(git, repositories, place, { submodules, large: [] })
  const found = foldersOfGit([...scan.gitFiles, ...scan.emptyFolders])
  if (found.size === 0) return false
  const names = stored.gitFiles && (await namesOfGitFiles(git, repositories, stored.gitFiles))
  const known = foldersOfGit([...(names ?? []), ...stored.emptyFolders, ...stored.unstored])
  const added = [...found].filter((path) => !known.has(path))
  for (const path of added) await rm(bytesOf(place.folder, path), { recursive: true })
  return added.length > 0
}

/** The outermost paths that only git may have, of those that lie at or below one. */
function foldersOfGit(paths: readonly BytePath[]): ReadonlySet<BytePath> {
  const cut = (path: BytePath) => {
    const parts = path.split('/')
    return parts.slice(0, parts.findIndex(isRefusedName) + 1).join('/')
  }
  return new Set(paths.map(cut).filter((path) => path !== ''))
}

async function restoreTree(rewinding: Rewinding): Promise<void> {
  const { git, repositories, place, contents, stored } = rewinding
  const { folder, index } = place
  const { base, submodules } = contents
  const leaveOut = stored.unstored.filter((path) => isTooLarge(folder, path))
  const source = { git, repositories, folder, index, base, submodules, leaveOut }
  for (let tries = 1; ; tries += 1) {
    // The index has everything then, so that what is too much goes as well.
    const { tree } = await storeTree(source)
    if (tree === stored.tree) return
    if (tries > TRIES_MAX) throw new Error(`${folder} is not as its checkpoint has it`)
    const options = { repository: repositories.work, workTree: folder, index }
    await git.run(['read-tree', '--reset', '-u', stored.tree], options)
  }
}

/** A folder or a pipe can be in the way of who makes it, though no tree has it. */
async function restoreFolders({
  git,
  repositories,
  place,
  contents,
  stored,
}: Rewinding): Promise<void> {
  const { folder } = place
  const left = new Set([...(await listIgnored(git, repositories, place)), '.git'])
  const kept = new Set(['', ...contents.submodules.map(bytePathOf), ...stored.emptyFolders])
  const folders: BytePath[] = []
  await walkFolders(folder, left, (path) => folders.push(path))
  // What lies inside another comes after it.
  for (const path of folders.reverse()) {
    if (path.split('/').some(isRefusedName)) continue
    for (const entry of listSpecial(folder, path)) {
      const special = below(path, entry)
      if (!left.has(special)) await rm(bytesOf(folder, special), { force: true })
    }
    if (!kept.has(path)) await removeIfEmpty(bytesOf(folder, path))
  }
  const landing = new Landing(folder)
  for (const path of stored.emptyFolders) await landing.makeFolder(path)
}

/** What is neither a file nor a link nor a folder, and so holds nothing. */
function listSpecial(folder: string, path: BytePath): readonly Dirent[] {
  try {
    const listing = { withFileTypes: true, encoding: 'latin1' } as const
    return readdirSync(bytesOf(folder, path), listing).filter(
      (entry) => !entry.isFile() && !entry.isSymbolicLink() && !entry.isDirectory(),
    )
  } catch {
    return []
  }
}

async function removeIfEmpty(path: Buffer): Promise<void> {
  await rmdir(path).catch((error) => {
    // Others than Linux have another word for it.
    if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error
  })
}
