import { existsSync } from 'node:fs'
import { cp, lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { guardGit } from '../guards/git-guard.ts'
import { Turns } from '../turns.ts'
import { claim } from './claim.ts'
import { removeLeftovers } from './damage.ts'
import type { Git } from './git.ts'
import { hasSource, mendMirror, noteSource } from './lost-mirror.ts'
import { noteUserExcludes, spreadExcludes } from './user-excludes.ts'

/**
 * The two bare repositories of a state folder. Both are ours alone: no model and no user ever
 * writes their configuration, so git can be run in them.
 */
export interface Repositories {
  /** What workspaces are cloned from: the user's branches and the targets of the runs. */
  readonly mirror: string
  /**
   * What is being worked on: branches of stories and checkpoints. It borrows the mirror's objects,
   * and is apart from it so that a clone does not copy what earlier stories tried.
   */
  readonly work: string
  /** What each clone starts with instead of the templates of this machine. */
  readonly template: string
  /** For files of a moment; what a kill has left in it goes at the next start. */
  readonly scratch: string
  /** A file of the patterns that the user ignores beside what .gitignore files say. */
  readonly excludes: string
  /** Clones copy the files of the mirror, and packing deletes some: both take the turn `files`. */
  readonly turns: Turns
  /** What was damaged at the start and what became of it, for people. */
  readonly notes: readonly string[]
}

/**
 * Wins over every .gitattributes of a repository: files are taken byte by byte, no filter runs, and
 * no attribute merges two sides without a word.
 */
const ATTRIBUTES = '* -text !eol -filter -ident !working-tree-encoding !merge !diff !export-subst\n'

/** Where the work borrows objects. */
const BORROWED = '../../mirror.git/objects\n'

const WORK_LOST =
  'work.git was gone, with the archive of what was removed and with checkpoints; workspaces that are there are stored again'

/** Makes the repositories of a state folder, or finds them and mends what a kill has left. */
export async function openRepositories(git: Git, stateFolder: string): Promise<Repositories> {
  const folder = join(stateFolder, 'git')
  const notes: string[] = []
  const repositories: Repositories = {
    mirror: join(folder, 'mirror.git'),
    work: join(folder, 'work.git'),
    template: join(folder, 'template'),
    scratch: join(folder, 'scratch'),
    excludes: join(folder, 'excludes'),
    turns: new Turns(),
    notes,
  }
  const { mirror, work, template, scratch } = repositories
  const fresh = join(folder, 'fresh.git')
  // A copy of somebody's link may be left in the scratch, which goes.
  await refuseLinks(folder, [scratch])
  for (const path of [template, fresh, scratch]) await rm(path, { recursive: true, force: true })
  await mkdir(join(template, 'info'), { recursive: true, mode: 0o700 })
  await mkdir(scratch, { mode: 0o700 })
  await writeFile(join(template, 'info', 'attributes'), ATTRIBUTES)
  await git.run(['init', '--quiet', '--bare', `--template=${template}`, fresh])
  const isFirst = !existsSync(work) && !hasSource(mirror)
  const wasLost = !isFirst && !existsSync(mirror)
  if (!isFirst && !existsSync(work)) notes.push(WORK_LOST)
  for (const repository of [mirror, work]) {
    const draft = `${repository}.new`
    await rm(draft, { recursive: true, force: true })
    const isNew = !existsSync(repository)
    if (isNew) {
      await cp(fresh, draft, { recursive: true })
      await rename(draft, repository)
    }
    const damage = await claim(repository, fresh, repository === work ? BORROWED : undefined)
    if (!isNew) notes.push(...damage)
  }
  await spreadExcludes(repositories)
  // Those of the repositories, and the locks of the indexes of workspaces.
  await removeLeftovers(folder)
  if (!isFirst) notes.push(...(await mendMirror(git, repositories, fresh, wasLost)))
  await rm(fresh, { recursive: true })
  return repositories
}

/** What would have us write elsewhere is not ours. Git itself makes no link in a repository. */
async function refuseLinks(folder: string, leaveOut: readonly string[]): Promise<void> {
  const isLink = (await lstat(folder).catch(() => undefined))?.isSymbolicLink()
  const inside = isLink ? [] : await readdir(folder, { withFileTypes: true }).catch(() => [])
  if (isLink || inside.some((entry) => entry.isSymbolicLink())) {
    throw new Error(`${folder} has links in it, and so was made by somebody else`)
  }
  for (const entry of inside) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && !leaveOut.includes(path)) await refuseLinks(path, leaveOut)
  }
}

/** The user's repository cannot be worked on as it is; the message says what to type. */
class SourceError extends Error {
  override readonly name = 'SourceError'
}

/**
 * Brings the mirror up to date with the user's repository, which is only read. Runs may begin at
 * once, and two fetches of one branch would lock each other out.
 */
export function updateMirror(git: Git, repositories: Repositories, source: string): Promise<void> {
  return repositories.turns.take(['mirror'], () => fetchAll(git, repositories, source))
}

async function fetchAll(git: Git, repositories: Repositories, source: string): Promise<void> {
  const refs = ['+refs/heads/*:refs/origin/heads/*', '+refs/tags/*:refs/origin/tags/*']
  const flags = [
    '--quiet',
    '--no-tags',
    '--prune',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
  ]
  const args = ['fetch', ...flags, '--end-of-options', guardGit('url', source), ...refs]
  const isFolder = source.startsWith('/') && existsSync(source)
  if (isFolder) await refuseHalf(git, source)
  await git.run(args, { repository: repositories.mirror }).catch(async (error) => {
    if (isFolder && (await isPartial(git, source))) {
      throw new SourceError(
        `${source} is a partial clone: git has not fetched all of its files. Run \`git fetch --refetch --no-filter\` in it, or clone it again without --filter.`,
      )
    }
    if (isFolder) await refuseDangling(git, source, error)
    throw error
  })
  await noteSource(repositories, source)
  if (isFolder) await noteUserExcludes(git, repositories, source)
}

const NAMED_MAX = 5

/** Names the branches and tags whose objects are gone: of one, git says nothing but the id. */
async function refuseDangling(git: Git, source: string, error: unknown): Promise<void> {
  const options = { workTree: source }
  const format = '--format=%(objectname) %(refname)'
  const { text } = await git.run(['for-each-ref', format, 'refs/heads', 'refs/tags'], options)
  const refs = text.split('\n').map((line) => line.split(' '))
  const stdin = refs.map(([id]) => `${id}\n`).join('')
  const look = ['cat-file', '--batch-check=%(objectname)']
  const answers = (await git.run(look, { ...options, stdin })).text.split('\n')
  const lost = refs.flatMap(([, ref], i) =>
    ref !== undefined && answers[i]?.endsWith(' missing') ? [ref] : [],
  )
  if (lost.length > 0) {
    const named = lost.slice(0, NAMED_MAX)
    const commands = named.map((ref) => `\n  git update-ref -d '${ref}'`)
    throw new SourceError(
      `${source} has branches or tags whose commits are gone: ${named.join(', ')}${lost.length > NAMED_MAX ? ' …' : ''}. Fetch these commits again, or delete the names there:${commands.join('')}`,
    )
  }
  if (!String(error).includes('not our ref')) return
  throw new SourceError(
    `${source} has a branch or tag that cannot be read. \`git for-each-ref\` names it; delete its file below .git/refs.`,
  )
}

/** Git would leave out the branches of such a repository without a word, or say what helps nobody. */
async function refuseHalf(git: Git, source: string): Promise<void> {
  const args = ['rev-parse', '--is-shallow-repository', '--show-object-format']
  // Without a repository named, git finds the one of the folder, which need not be called .git.
  const { text } = await git.run(args, { workTree: source, accept: [0, 128] })
  const [isShallow, format] = text.split('\n')
  if (isShallow === 'true') {
    throw new SourceError(
      `${source} is a shallow clone, without the history that merging needs. Run \`git fetch --unshallow\` in it first.`,
    )
  }
  if (format !== undefined && format !== 'sha1') {
    throw new SourceError(
      `${source} names its objects by ${format}, and only repositories with sha1 can be worked on so far.`,
    )
  }
}

async function isPartial(git: Git, source: string): Promise<boolean> {
  const settings = '^(remote\\..*\\.(promisor|partialclonefilter)|extensions\\.partialclone)$'
  const args = ['config', '--get-regexp', settings]
  const { text } = await git.run(args, { workTree: source, accept: [0, 1, 128] })
  return text !== ''
}
