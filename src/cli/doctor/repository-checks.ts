import { findGithubRepository } from '../../effects/forge/github-repository.ts'
import { findGithubToken } from '../../effects/forge/github-token.ts'
import { type Git, openGit } from '../../effects/git/git.ts'
import { guardGit } from '../../effects/guards/git-guard.ts'
import type { Processes } from '../../effects/process/processes.ts'
import { detectTestCommands } from '../../effects/testing/detect-test-commands.ts'
import { describeChanges } from '../changed-files.ts'
import type { Environment, RepositoryPlace } from '../config/place.ts'
import type { SlipwayConfig } from '../config/settings/defaults.ts'
import { printable } from '../printable.ts'
import { findTrackedState } from '../tracked-state.ts'
import { type Check, missing, ok, warn } from './check.ts'

const GIT_MS_MAX = 10_000

/** Where the checks look. */
export interface RepositoryGround {
  readonly processes: Processes
  readonly repository: RepositoryPlace | undefined
  readonly stateFolder: string
  readonly config: SlipwayConfig
  readonly environment: Environment
}

/** Whether there is something to work on, and nobody has prepared our state for us. */
export async function checkRepository(ground: RepositoryGround): Promise<readonly Check[]> {
  const { processes, repository, stateFolder, config } = ground
  if (repository === undefined) {
    const fix = 'Go to a git repository, or make one: git init.'
    return [missing('repository', 'this folder is in none', fix)]
  }
  const git = openGit(processes)
  return [
    await checkTarget(git, repository, config.target),
    ...(await checkTracked(git, repository, stateFolder)),
    ...(await checkChanges(repository)),
    await checkTests(repository, config),
    ...(await checkForge(git, repository, ground)),
  ]
}

/** A run works from a commit, and what is in none is not there for it. */
async function checkChanges(repository: RepositoryPlace): Promise<readonly Check[]> {
  const changes = await describeChanges(repository)
  if (changes === undefined) return []
  const fix = 'Commit what a run is to build on.'
  return [warn('work tree', `${changes}: a run does not see that`, fix)]
}

/** A story is not merged before its tests ran: a spec may bring them, and has to know that. */
async function checkTests({ root }: RepositoryPlace, { tests }: SlipwayConfig): Promise<Check> {
  const configured = tests.commands?.length ?? 0
  if (configured > 0) return ok('tests', `${configured} configured (tests.commands)`)
  const { commands } = await detectTestCommands(root)
  if (commands.length > 0) {
    return ok('tests', commands.map(({ argv }) => printable(argv.join(' '))).join(', '))
  }
  const fix = 'Set tests.commands, or let the first story of the spec set tests up.'
  return warn('tests', 'nothing says how this repository is tested', fix)
}

async function checkTarget(
  git: Git,
  { root, git: folder }: RepositoryPlace,
  target: string | null,
): Promise<Check> {
  const ask = (args: readonly string[]) =>
    git.run(args, {
      repository: folder,
      workTree: root,
      accept: [0, 1, 128],
      timeoutMs: GIT_MS_MAX,
    })
  const head = await ask(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  const branch = target ?? (head.exitCode === 0 ? head.text : undefined)
  if (branch === undefined) {
    return missing('repository', 'no branch is checked out', 'Check one out, or set target.')
  }
  const ref = `refs/heads/${guardGit('branch', branch)}`
  const commit = await ask(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`])
  if (commit.exitCode === 0) return ok('repository', `${root}, target ${branch}`)
  return missing('repository', `${branch} has no commit`, 'Commit something to it first.')
}

/** A state folder that comes with a repository was written by somebody else: what it says is theirs. */
async function checkTracked(
  git: Git,
  place: RepositoryPlace,
  stateFolder: string,
): Promise<readonly Check[]> {
  const path = await findTrackedState(git, place, stateFolder)
  if (path === undefined) return []
  const fix = `Do not run here before you know why. To remove it: git rm -r --cached ${path}, and delete the folder.`
  return [missing('tracked state', `${path} came with the repository`, fix)]
}

async function checkForge(
  git: Git,
  { root, git: folder }: RepositoryPlace,
  { config, environment, processes }: RepositoryGround,
): Promise<readonly Check[]> {
  const { kind, apiUrl } = config.forge
  if (kind !== 'github') return []
  const remote = await git.run(['config', '--local', '--get', 'remote.origin.url'], {
    repository: folder,
    workTree: root,
    accept: [0, 1],
    timeoutMs: GIT_MS_MAX,
  })
  const address = findGithubRepository(remote.text, apiUrl ?? undefined)
  if (address.kind === 'refused') {
    const fix = 'Point the remote origin at GitHub, or set forge.kind to local.'
    return [missing('github', address.reason, fix)]
  }
  const { host, owner, repo } = address.repository
  const token = await findGithubToken(host, { env: environment, processes })
  if (token !== undefined) return [ok('github', `${host}/${owner}/${repo}, with a token`)]
  const fix = 'Set GH_TOKEN, or sign in with gh auth login.'
  return [missing('github', `there is no token for ${host}`, fix)]
}
