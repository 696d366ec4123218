import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { guardGit } from '../guards/git-guard.ts'
import { claim } from './claim.ts'
import { removeNonsense } from './damage.ts'
import type { Git } from './git.ts'
import { isAncestor } from './objects.ts'
import { changeRefs, readRef } from './refs.ts'

type Places = Readonly<Record<'mirror' | 'work', string>>

const NOTED = 'refs/slipway/targets/'
const FLAGS = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance']

/** The ref of the work that says where a target of the mirror was. */
export const notedTargetRef = (target: string) => `${NOTED}${target}`

const sourceFile = (mirror: string) => join(dirname(mirror), 'source')

/** Whether it is noted where the mirror is fetched from, be it there or lost. */
export const hasSource = (mirror: string) => existsSync(sourceFile(mirror))

/** Notes where the mirror is fetched from, so that one that is lost can be made again. */
export async function noteSource({ mirror }: Places, source: string): Promise<void> {
  const path = sourceFile(mirror)
  if ((await readFile(path, 'utf8').catch(() => undefined)) === source) return
  await writeFile(`${path}.new`, source, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/**
 * Makes a mirror that was lost, or whose targets cannot be read, again from the user's repository,
 * the work, and what is left of it. Says what it found, and what to type where stories cannot be had
 * back; such a target is left without a branch, and nothing is merged into it.
 */
export async function mendMirror(
  git: Git,
  places: Places,
  fresh: string,
  wasLost: boolean,
): Promise<readonly string[]> {
  const { mirror, work } = places
  const noted = await readHeads(git, work, NOTED)
  const before = await readHeads(git, mirror, 'refs/heads/')
  // One that was being made again when the process ended has nothing in it yet.
  const isEmpty = wasLost || (await readHeads(git, mirror, 'refs/')).size === 0
  const isReadable = !isEmpty && (await canRead(git, mirror, [...before.values()]))
  const missing = await findMissing(git, work, noted, before)
  if (isReadable && missing.size === 0) {
    await noteTargets(git, work, noted, before)
    return []
  }
  const notes: string[] = []
  if (!isReadable) {
    const rest = isEmpty ? undefined : await putAway(mirror)
    if (rest !== undefined) await cp(fresh, mirror, { recursive: true })
    const source = await readSource(mirror)
    const fetched = source !== '' && (await fetchOrigin(git, mirror, source))
    // Nothing was in it yet, or in a repository of the user's that has no commit.
    if (noted.size === 0 && before.size === 0 && !(wasLost && fetched)) return []
    const what = rest === undefined ? 'was gone' : `could not be read and is kept as ${rest}`
    const how = fetched
      ? `it was fetched again from ${source}`
      : 'it is fetched again when the next run begins'
    notes.push(`mirror.git ${what}; ${how}`)
  }
  const others = [...(await claimRests(mirror, fresh)), work]
  for (const target of new Set([...before.keys(), ...noted.keys()])) {
    if (isReadable && !missing.has(target)) continue
    const commits = [...(isReadable ? [] : [before.get(target)]), noted.get(target)]
    notes.push(await restoreTarget(git, places, others, target, commits))
  }
  return notes
}

/**
 * Where the mirror was fetched from. A state folder may have come with a repository: one that lies
 * in a repository is believed when it names that repository, and no other of this machine.
 */
async function readSource(mirror: string): Promise<string> {
  const source = await readFile(sourceFile(mirror), 'utf8').catch(() => '')
  for (let folder = dirname(mirror); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder === source ? source : ''
    if (folder === dirname(folder)) return source
  }
}

/** Branches below a prefix that lead to something, by their names. */
async function readHeads(
  git: Git,
  repository: string,
  prefix: string,
): Promise<ReadonlyMap<string, string>> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', prefix]
  const { text } = await git.run(args, { repository })
  const lines = text.split('\n').filter(Boolean)
  return new Map(lines.map((line) => [line.slice(41 + prefix.length), line.slice(0, 40)]))
}

/**
 * Targets that were noted and are not there, or are where they were long ago: a target only goes
 * forward, and git takes an old place out of its packed refs where the file of a branch is lost.
 */
async function findMissing(
  git: Git,
  work: string,
  noted: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>()
  for (const [target, commit] of noted) {
    const at = before.get(target)
    if (at === commit) continue
    if (at === undefined || (await isAncestor(git, work, at, commit))) missing.add(target)
  }
  return missing
}

/** Whether all folders of these commits can be read, and no file of them is missing. */
async function canRead(git: Git, repository: string, commits: readonly string[]): Promise<boolean> {
  if (commits.length === 0) return true
  const args = ['rev-list', '--objects', '--no-walk', '--quiet', '--stdin']
  const stdin = commits.map((commit) => `${commit}\n`).join('')
  const { exitCode } = await git.run(args, { repository, stdin, accept: [0, 1, 128] })
  return exitCode === 0
}

async function noteTargets(
  git: Git,
  work: string,
  noted: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): Promise<void> {
  const changed = [...now].filter(([target, commit]) => noted.get(target) !== commit)
  if (changed.length === 0) return
  await changeRefs(
    git,
    work,
    changed.map(([target, to]) => ({ ref: notedTargetRef(target), to })),
  )
}

const AWAY = '.damaged-'

/** What was put away of mirrors, the newest first: a start that was ended has not used it. */
async function claimRests(mirror: string, fresh: string): Promise<readonly string[]> {
  const prefix = `${basename(mirror)}${AWAY}`
  const names = (await readdir(dirname(mirror))).filter((name) => name.startsWith(prefix))
  const numberOf = (name: string) => Number(name.slice(prefix.length))
  const newest = names.sort((a, b) => numberOf(b) - numberOf(a))
  const rests = newest.map((name) => join(dirname(mirror), name))
  for (const rest of rests) await claim(rest, fresh, undefined)
  return rests
}

async function putAway(mirror: string): Promise<string> {
  for (let i = 1; ; i += 1) {
    const place = `${mirror}${AWAY}${i}`
    if (existsSync(place)) continue
    await rename(mirror, place)
    return place
  }
}

async function fetchOrigin(git: Git, repository: string, source: string): Promise<boolean> {
  const refs = ['+refs/heads/*:refs/origin/heads/*', '+refs/tags/*:refs/origin/tags/*']
  const args = ['fetch', ...FLAGS, '--end-of-options', guardGit('url', source), ...refs]
  return (await git.run(args, { repository, accept: [0, 1, 128] })).exitCode === 0
}

/** Takes a target from whoever has it whole, where the mirror had it before where it was noted. */
async function restoreTarget(
  git: Git,
  { mirror, work }: Places,
  others: readonly string[],
  target: string,
  commits: readonly (string | undefined)[],
): Promise<string> {
  const ref = branchRefOf(target)
  await removeNonsense(mirror, ref)
  for (const [place, commit] of commits.flatMap((each) => others.map((one) => [one, each]))) {
    if (place === undefined || commit === undefined) continue
    const args = ['fetch', ...FLAGS, '--end-of-options', place, `+${commit}:${ref}`]
    const { exitCode } = await git.run(args, { repository: mirror, accept: [0, 1, 128] })
    const isThere = exitCode === 0 && (await canRead(git, mirror, [commit]))
    if (isThere && (await readRef(git, mirror, ref)) === commit) {
      return `the branch ${target} of mirror.git is back at ${commit}`
    }
    await changeRefs(git, mirror, [{ ref, to: null }])
  }
  const commit = commits.find((each) => each !== undefined)
  return explainLoss({ mirror, work }, target, commit)
}

/** What is lost of a target that was noted and is not there; undefined where that is none. */
export async function findLoss(
  git: Git,
  places: Places,
  target: string,
): Promise<string | undefined> {
  const ref = branchRefOf(target)
  if ((await readRef(git, places.mirror, ref)) !== undefined) return undefined
  const commit = (await readHeads(git, places.work, NOTED)).get(target)
  return commit === undefined ? undefined : explainLoss(places, target, commit)
}

function explainLoss({ mirror, work }: Places, target: string, commit: string | undefined): string {
  const ref = branchRefOf(target)
  return `the branch ${target} of mirror.git was at ${commit}, with stories that are nowhere else, and cannot be read any more. Nothing is merged into it until it is back or given up. A forge that has it brings it back by itself. Where a repository of yours has that commit: git -C ${mirror} fetch <repository> ${commit}:${ref}. To go on without those stories: git -C ${work} update-ref -d ${notedTargetRef(target)}`
}

const branchRefOf = (target: string) => `refs/heads/${guardGit('branch', target)}`
