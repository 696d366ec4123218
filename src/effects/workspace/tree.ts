import { chmodSync, existsSync, lstatSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Git, GitError } from '../git/git.ts'
import { isGitFolder } from '../guards/git-guard.ts'

/** A folder of files as git has stored it. */
export interface StoredTree {
  readonly tree: string
  /** Repositories inside it, whose own folders no tree can hold under their names. */
  readonly gitFolders: readonly string[]
}

/** Git knows it without being told. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

export interface TreeSource {
  readonly git: Git
  readonly repository: string
  readonly folder: string
  /** An index of the folder, which makes what has not changed cheap. */
  readonly index: string
  /** What the folder was before anybody worked in it. */
  readonly base: string
  /** The folders of submodules, which are not filled in. */
  readonly submodules: readonly string[]
}

/**
 * Stores all files of a folder, tracked and untracked, byte by byte; ignored ones are left out. The
 * repository is ours: what the folder says about git is not read, but for .gitignore.
 */
export async function storeTree(source: TreeSource): Promise<StoredTree> {
  const { git, repository, folder, index, submodules } = source
  const options = { repository, workTree: folder, index }
  const filled = submodules.filter((path) => isFilled(join(folder, path)))
  if (filled.length === 0) {
    const isSimple = await addAll(source).catch((error) => {
      if (error instanceof GitError) return false
      throw error
    })
    if (isSimple) {
      const { text: tree } = await git.run(['write-tree'], options)
      if (!(await hasNewRepository(source, tree))) return { tree, gitFolders: [] }
    }
  }
  return storePiecewise(source, filled)
}

async function addAll({ git, repository, folder, index }: TreeSource, excludes?: string) {
  const config = excludes === undefined ? [] : ['-c', `core.excludesFile=${excludes}`]
  await git.run([...config, 'add', '--all'], { repository, workTree: folder, index })
  return true
}

/** Git notes only the commit of a repository that it finds inside another one. */
async function hasNewRepository(
  { git, repository, base }: TreeSource,
  tree: string,
): Promise<boolean> {
  const args = ['diff-tree', '-r', '--raw', '--no-renames', '-z', base, tree]
  const { text } = await git.run(args, { repository })
  return text
    .split('\0')
    .some((line) => /^:\d{6} 160000 /.test(line) && !line.startsWith(':160000'))
}

function isFilled(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0
  } catch {
    return false
  }
}

/** The long way, for folders that git itself would not take whole. */
async function storePiecewise(source: TreeSource, filled: readonly string[]): Promise<StoredTree> {
  const { git, repository, folder, index } = source
  const options = { repository, workTree: folder, index }
  const untracked = await git.run(
    ['ls-files', '--others', '--directory', '--exclude-standard', '-z'],
    options,
  )
  const roots = untracked.text.split('\0').filter((path) => path.endsWith('/'))
  const found = roots.flatMap((path) => findRepositories(folder, path.slice(0, -1)))
  makeReadable(folder, '')
  const inner = [...new Set([...found, ...filled])]
  const scratch = await mkdtemp(join(tmpdir(), 'slipway-tree-'))
  try {
    const excludes = join(scratch, 'excludes')
    await writeFile(excludes, inner.map((path) => `/${escapePattern(path)}\n`).join(''))
    if (inner.length > 0) {
      const stdin = inner.map((path) => `${path}\0`).join('')
      const remove = ['update-index', '--force-remove', '-z', '--stdin']
      await git.run(remove, { ...options, stdin })
    }
    await addAll(source, excludes)
    const gitFolders: string[] = []
    for (const [i, path] of inner.entries()) {
      gitFolders.push(...(await storeInner(source, path, join(scratch, `index-${i}`))))
    }
    const { text: tree } = await git.run(['write-tree'], options)
    return { tree, gitFolders }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Stores what lies inside a repository inside; gives the paths of git's own folders there. */
async function storeInner(
  source: TreeSource,
  path: string,
  index: string,
): Promise<readonly string[]> {
  const { git, repository, folder } = source
  if (isGitFolder(path.split('/').at(-1) ?? '')) return [path]
  const inner = { git, repository, folder: join(folder, path), index, base: EMPTY_TREE }
  const { tree, gitFolders } = await storeTree({ ...inner, submodules: [] })
  const read = ['read-tree', `--prefix=${path}/`, tree]
  await git.run(read, { repository, index: source.index, workTree: folder })
  const own = join(folder, path, '.git')
  const paths = gitFolders.map((below) => `${path}/${below}`)
  return existsSync(own) ? [`${path}/.git`, ...paths] : paths
}

/** The outermost repositories at or below a folder, and names that git refuses to take. */
function findRepositories(folder: string, path: string): readonly string[] {
  const entries = readdirSync(join(folder, path), { withFileTypes: true })
  if (entries.some((entry) => entry.name === '.git')) return [path]
  return entries.flatMap((entry) => {
    const below = `${path}/${entry.name}`
    if (isGitFolder(entry.name)) return [below]
    return entry.isDirectory() ? findRepositories(folder, below) : []
  })
}

/** A file without permission is still somebody's work. */
export function makeReadable(folder: string, path: string): void {
  for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
    if (path === '' && entry.name === '.git') continue
    const below = join(path, entry.name)
    if (!entry.isDirectory() && !entry.isFile()) continue
    const { mode } = lstatSync(join(folder, below))
    const needed = entry.isDirectory() ? 0o700 : 0o400
    if ((mode & needed) !== needed) chmodSync(join(folder, below), mode | needed)
    if (entry.isDirectory()) makeReadable(folder, below)
  }
}

function escapePattern(path: string): string {
  return path.replace(/[\\*?[\]]/g, '\\$&').replace(/ $/, '\\ ')
}

/** Puts a stored tree's files into a folder that has none of them. */
export async function restoreTree(
  git: Git,
  repository: string,
  tree: string,
  folder: string,
): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'slipway-tree-'))
  try {
    const options = { repository, workTree: folder, index: join(scratch, 'index') }
    await git.run(['read-tree', tree], options)
    await git.run(['checkout-index', '--all', '--force'], options)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
