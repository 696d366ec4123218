import { chmodSync, type Dirent, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Git, GitError, type GitOptions } from '../git/git.ts'
import { EMPTY_TREE } from '../git/objects.ts'
import type { Repositories } from '../git/repositories.ts'
import { inScratch } from '../git/scratch.ts'
import { type BytePath, bytePathOf, bytesOf, readable } from './byte-path.ts'
import { isRefusedName } from './scan.ts'

/** A folder of files as git has stored it. */
export interface StoredTree {
  readonly tree: string
  /** Whether git took the folder whole. */
  readonly isSimple: boolean
}

/** Git waits for whoever holds the other end of a pipe that is called .gitignore. */
const SIMPLE_MS_MAX = 60_000

export interface TreeSource {
  readonly git: Git
  readonly repositories: Repositories
  readonly folder: string
  /** An index of the folder, which makes what has not changed cheap. */
  readonly index: string
  /** What the folder was before anybody worked in it. */
  readonly base: string
  /** The folders of submodules, which are not filled in. */
  readonly submodules: readonly string[]
  /** Files that stay as they are in the index, be they there or not. */
  readonly leaveOut?: readonly BytePath[]
  /** Ends git where it is, and with it the storing. */
  readonly signal?: AbortSignal
}

/**
 * Stores all files of a folder, tracked and untracked, byte by byte; ignored ones are left out. The
 * repository is ours: what the folder says about git is not read, but for .gitignore.
 */
export async function storeTree(source: TreeSource): Promise<StoredTree> {
  const { git, folder, submodules } = source
  const options = optionsFor(source)
  const filled = submodules.filter((path) => isFilled(folder, path))
  if (filled.length === 0) {
    const isSimple = await addAll(source, { timeoutMs: SIMPLE_MS_MAX }).catch((error) => {
      if (error instanceof GitError && source.signal?.aborted !== true) return false
      throw error
    })
    if (isSimple) {
      const { text: tree } = await git.run(['write-tree'], options)
      const { isOdd, hidden } = await compareWithBase(source, tree)
      if (!isOdd && hidden.length === 0) return { tree, isSimple: true }
      if (!isOdd) return { tree: await addHidden(source, hidden), isSimple: false }
    }
  }
  return storePiecewise(source)
}

function optionsFor({ repositories, folder, index, signal }: TreeSource): GitOptions {
  const options = { repository: repositories.work, workTree: folder, index }
  return signal === undefined ? options : { ...options, signal }
}

async function addAll(
  source: TreeSource,
  options: Pick<GitOptions, 'timeoutMs' | 'accept'>,
  ...config: string[]
) {
  // Our own index: what holds its lock is a git that was ended.
  await rm(`${source.index}.lock`, { force: true })
  const flags = options.accept === undefined ? [] : ['--ignore-errors']
  const args = [...config, 'add', '--all', ...flags]
  const only = allBut(source.leaveOut ?? [])
  await source.git.run([...args, ...only.args], {
    ...optionsFor(source),
    ...options,
    ...only.options,
  })
  return true
}

/** Names all files but some to git; a pattern would not do, since a .gitignore can undo it. */
function allBut(paths: readonly BytePath[]): {
  readonly args: readonly string[]
  readonly options: Pick<GitOptions, 'stdin' | 'env'>
} {
  if (paths.length === 0) return { args: [], options: {} }
  const specs = ['.', ...paths.map((path) => `:(top,exclude,literal)${path}`)]
  const stdin = Buffer.from(specs.map((spec) => `${spec}\0`).join(''), 'latin1')
  const args = ['--pathspec-from-file=-', '--pathspec-file-nul']
  return { args, options: { stdin, env: { GIT_LITERAL_PATHSPECS: '0' } } }
}

interface Comparison {
  /** Whether git has taken something in a way that does not give it back. */
  readonly isOdd: boolean
  /** Files of the base that are there and were not taken: they are ignored, and were gone before. */
  readonly hidden: readonly BytePath[]
}

async function compareWithBase(source: TreeSource, tree: string): Promise<Comparison> {
  const { git, repositories, folder, base, leaveOut = [] } = source
  const args = ['diff-tree', '-r', '--raw', '--no-renames', '-z', base, tree]
  const { stdout } = await git.run(args, { repository: repositories.work })
  const fields = stdout.toString('latin1').split('\0')
  const isOdd = fields.some((field, i) => {
    // Of a repository inside another one, only the commit is noted.
    if (/^:\d{6} 160000 /.test(field)) return !field.startsWith(':160000')
    return /^:\d{6} 120000 /.test(field) && LINKED_MODULES.test(fields[i + 1] ?? '')
  })
  const gone = fields.flatMap((field, i) =>
    /^:1[02]0\d{3} 0/.test(field) ? (fields[i + 1] ?? []) : [],
  )
  const isHidden = (path: BytePath) => !leaveOut.includes(path) && isFileInPlace(folder, path)
  return { isOdd, hidden: gone.filter(isHidden) }
}

/** Whether a tree's file is there, and no link on the way to it leads elsewhere. */
function isFileInPlace(folder: string, path: BytePath): boolean {
  try {
    const stats = lstatSync(bytesOf(folder, path))
    if (stats.isSymbolicLink() ? LINKED_MODULES.test(path) : !stats.isFile()) return false
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    const real = realpathSync.native(bytesOf(folder, parent), 'latin1')
    return real === bytesOf(realpathSync(folder), parent).toString('latin1').replace(/\/$/, '')
  } catch {
    return false
  }
}

/** Takes files although they are ignored. */
async function addHidden(source: TreeSource, paths: readonly BytePath[]): Promise<string> {
  const stdin = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1')
  const options = optionsFor(source)
  const args = ['update-index', '--add', '--remove', '-z', '--stdin']
  await source.git.run(args, { ...options, stdin })
  return (await source.git.run(['write-tree'], options)).text
}

/** Git takes such a link where a file was, and then refuses to put it anywhere. */
const LINKED_MODULES = /(?:^|\/)\.gitmodules$/i

function isFilled(folder: string, path: string): boolean {
  if (!isInPlace(folder, path) || !lstatSync(join(folder, path)).isDirectory()) return false
  return readEntries(join(folder, path)).length > 0
}

/** Whether something is there, and no link on the way to it leads out of the workspace. */
function isInPlace(folder: string, path: string): boolean {
  try {
    const parent = join(realpathSync(folder), dirname(path))
    return realpathSync(parent) === parent && lstatSync(join(folder, path)) !== undefined
  } catch {
    return false
  }
}

/** Nothing for what is no folder, or lies too deep, or has a name that is not text. */
function readEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/**
 * Takes the commits of repositories inside out of the index, where they stand for files, and gives
 * the paths. Those of submodules that nobody has filled in stay.
 */
async function unlink(source: TreeSource): Promise<readonly BytePath[]> {
  const { submodules, folder } = source
  const links = (await namesInIndex(source, '160000')).filter(
    (name) => isFilled(folder, readable(name)) || !submodules.includes(readable(name)),
  )
  await takeOut(source, links)
  return links.filter((name) => isFilled(folder, readable(name)))
}

/** The names in the index that have a mode, a character for each byte. */
async function namesInIndex(source: TreeSource, mode: string): Promise<readonly string[]> {
  const { stdout } = await source.git.run(['ls-files', '--stage', '-z'], optionsFor(source))
  const lines = stdout.toString('latin1').split('\0')
  return lines.flatMap((line) =>
    line.startsWith(`${mode} `) ? [line.slice(line.indexOf('\t') + 1)] : [],
  )
}

async function takeOut(source: TreeSource, names: readonly string[]): Promise<void> {
  const stdin = Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1')
  const args = ['update-index', '--force-remove', '-z', '--stdin']
  await source.git.run(args, { ...optionsFor(source), stdin })
}

/** The long way, for folders that git itself would not take whole. */
async function storePiecewise(source: TreeSource): Promise<StoredTree> {
  const { git, folder, index } = source
  const options = optionsFor(source)
  makeReadable(folder, '')
  await rm(`${index}.lock`, { force: true })
  const linked = await unlink(source)
  const { stdout } = await git.run(
    ['ls-files', '--others', '--directory', '--exclude-standard', '-z'],
    options,
  )
  const untracked = stdout.toString('latin1').split('\0').filter(Boolean)
  const found = untracked.flatMap((path) => findRepositories(folder, path))
  const inner = [...new Set([...found, ...linked])]
  return inScratch(source.repositories, async (scratch) => {
    const excludes = join(scratch, 'excludes')
    const patterns = inner.map((path) => `/${patternFor(path)}\n`).join('')
    await writeFile(excludes, Buffer.from(patterns, 'latin1'))
    // What git does not take even now has no place in any tree.
    await addAll(source, { accept: [0, 1] }, '-c', `core.excludesFile=${excludes}`)
    for (const [i, path] of inner.entries()) {
      await storeInner(source, path, join(scratch, `index-${i}`))
    }
    const links = await namesInIndex(source, '120000')
    await takeOut(
      source,
      links.filter((name) => LINKED_MODULES.test(name)),
    )
    const { text: tree } = await git.run(['write-tree'], options)
    const { hidden } = await compareWithBase(source, tree)
    return { tree: hidden.length === 0 ? tree : await addHidden(source, hidden), isSimple: false }
  })
}

/** Stores the files of a repository inside; those that are git's own have no place in a tree. */
async function storeInner(source: TreeSource, name: BytePath, index: string): Promise<void> {
  const { git, folder } = source
  const path = readable(name)
  // Nothing can be told to work in a folder whose name is no text.
  const canStore = bytePathOf(path) === name && isInPlace(folder, path)
  if (!canStore || isRefusedName(name.slice(name.lastIndexOf('/') + 1))) return
  const leaveOut = (source.leaveOut ?? []).flatMap((file) =>
    file.startsWith(`${name}/`) ? [file.slice(name.length + 1)] : [],
  )
  const own = { folder: join(folder, path), index, base: EMPTY_TREE, submodules: [], leaveOut }
  const inner = { ...source, ...own }
  if (!lstatSync(inner.folder).isDirectory()) return
  const { tree } = await storeTree(inner)
  await git.run(['read-tree', `--prefix=${path}/`, tree], optionsFor(source))
}

/** The outermost repositories at or below a folder, and names that git refuses to take. */
function findRepositories(folder: string, listed: BytePath): readonly BytePath[] {
  const path = listed.replace(/\/$/, '')
  if (isRefusedName(path.slice(path.lastIndexOf('/') + 1))) return [path]
  if (path === listed) return []
  const entries = readNames(folder, path)
  if (entries.some(({ name }) => name.toString('latin1') === '.git')) return [path]
  return entries.flatMap((entry) => {
    const below = `${path}/${entry.name.toString('latin1')}`
    return findRepositories(folder, entry.isDirectory() ? `${below}/` : below)
  })
}

/** Nothing for what cannot be read. */
function readNames(folder: string, path: BytePath): readonly Dirent<Buffer>[] {
  try {
    return readdirSync(bytesOf(folder, path), { withFileTypes: true, encoding: 'buffer' })
  } catch {
    return []
  }
}

/** A file without permission is still somebody's work; a pipe is none, and git waits for it. */
export function makeReadable(folder: string, path: string): void {
  for (const entry of readEntries(join(folder, path))) {
    const below = join(path, entry.name)
    if (entry.isFIFO()) rmSync(join(folder, below), { force: true })
    if (!entry.isDirectory() && !entry.isFile()) continue
    const mode = modeOf(join(folder, below))
    if (mode === undefined) continue
    const needed = entry.isDirectory() ? 0o700 : 0o400
    if ((mode & needed) !== needed) chmodSync(join(folder, below), mode | needed)
    if (entry.isDirectory()) makeReadable(folder, below)
  }
}

/** Undefined for what cannot be named: its name is not text, or it lies too deep. */
function modeOf(path: string): number | undefined {
  try {
    return lstatSync(path).mode
  } catch {
    return undefined
  }
}

/** Matches that path alone. A line end can only be said as what is no other byte. */
function patternFor(path: BytePath): string {
  return path
    .replace(/[\\*?[\]]/g, '\\$&')
    .replace(/ $/, '\\ ')
    .replace(/\n/g, '[!\x01-\x09\x0b-\xff]')
    .replace(/\r/g, '[!\x01-\x0c\x0e-\xff]')
}
