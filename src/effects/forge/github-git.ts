import { type Git, GitError, type GitOptions } from '../git/git.ts'
import { isAncestor } from '../git/objects.ts'
import { changeRefs, readRef } from '../git/refs.ts'
import type { Repositories } from '../git/repositories.ts'
import { ForgeFailure } from './forge-failure.ts'
import { explainGitError } from './github-failure.ts'
import { branchRef } from './story-branch.ts'

export interface GithubGitParts {
  readonly git: Git
  readonly repositories: Pick<Repositories, 'mirror' | 'work'>
  readonly gitUrl: string
  readonly token: string
}

/** A transfer that brings less than this for so long has stopped. */
const SLOWEST_BYTES_PER_S = 1
const SLOWEST_S = 60
const LOOK_TIMEOUT_MS = 120_000

/** Why a push is refused that came too late. */
const STALE = /stale info|fetch first|failed to lock|reference already exists/i

/** Where the forge itself had a target when it was last seen: what is beyond was merged elsewhere. */
const shownRef = (target: string) => `refs/forge/shown/${target}`

/**
 * A remote repository over HTTPS. The token is in the environment of the git that needs it: on no
 * command line, in no file.
 */
export class GithubGit {
  readonly #git: Git
  readonly #mirror: string
  readonly #work: string
  readonly #url: string
  readonly #access: GitOptions

  constructor({ git, repositories, gitUrl, token }: GithubGitParts) {
    this.#git = git
    this.#mirror = repositories.mirror
    this.#work = repositories.work
    this.#url = gitUrl
    const { protocol, origin } = new URL(gitUrl)
    const credentials = Buffer.from(`x-access-token:${token}`).toString('base64')
    this.#access = {
      protocols: protocol.slice(0, -1),
      secretConfig: {
        [`http.${origin}/.extraHeader`]: `Authorization: Basic ${credentials}`,
        // A redirect would take the header along.
        'http.followRedirects': 'false',
        'http.lowSpeedLimit': String(SLOWEST_BYTES_PER_S),
        'http.lowSpeedTime': String(SLOWEST_S),
      },
    }
  }

  /** The commit of a remote ref, or undefined when there is none. */
  async readRemote(ref: string): Promise<string | undefined> {
    const args = ['ls-remote', '--quiet', this.#url, ref]
    const { text } = await this.#reach(this.#work, args, { timeoutMs: LOOK_TIMEOUT_MS })
    // The name is a pattern for git, which also matches the ends of longer names.
    const line = text.split('\n').find((each) => each.endsWith(`\t${ref}`))
    return line?.split('\t')[0]
  }

  /** Whether we have a commit, as we have all that we ever published. */
  async has(commit: string): Promise<boolean> {
    const args = ['cat-file', '-e', `${commit}^{commit}`]
    const { exitCode } = await this.#git.run(args, { repository: this.#work, accept: [0, 1, 128] })
    return exitCode === 0
  }

  /** Moves a remote ref, if it is still where it was; null stands for a ref that is not there. */
  async push(ref: string, from: string | null, to: string | null): Promise<boolean> {
    const lease = `--force-with-lease=${ref}:${from ?? ''}`
    const args = ['push', '--quiet', '--porcelain', lease, this.#url, `${to ?? ''}:${ref}`]
    try {
      await this.#git.run(args, { ...this.#access, repository: this.#work })
      return true
    } catch (cause) {
      if (!(cause instanceof GitError)) throw cause
      // Without a word about the ref, the server was not asked, or did not answer.
      const reason = /^!\t.*\t(.*)$/m.exec(cause.output)?.[1]
      if (reason === undefined) throw explainGitError(cause.message)
      if (STALE.test(reason)) return false
      throw new ForgeFailure('invalid', `the push was refused: ${reason}`)
    }
  }

  /** Brings the mirror's target to where the remote has it. It only ever goes forward. */
  async fetchTarget(target: string): Promise<string> {
    const ref = branchRef(target)
    const seen = `refs/forge/heads/${target}`
    const flags = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance']
    await this.#reach(this.#mirror, ['fetch', ...flags, this.#url, `+${ref}:${seen}`])
    const to = await readRef(this.#git, this.#mirror, seen)
    const from = await readRef(this.#git, this.#mirror, ref)
    if (to === undefined) throw new ForgeFailure('not_found', `there is no branch ${target}`)
    if (
      from !== undefined &&
      to !== from &&
      !(await isAncestor(this.#git, this.#mirror, from, to))
    ) {
      throw await this.#explainDivergence(target, from, to)
    }
    const shown = shownRef(target)
    if (to === from && (await readRef(this.#git, this.#mirror, shown)) === to) return to
    const changes = [
      { ref, to, from: from ?? null },
      { ref: shown, to },
    ]
    if (await changeRefs(this.#git, this.#mirror, changes)) return to
    throw new ForgeFailure('storage', `${target} was changed by somebody else in the mirror`)
  }

  async #explainDivergence(target: string, from: string, to: string): Promise<ForgeFailure> {
    const isBefore = (commit: string, other: string) =>
      isAncestor(this.#git, this.#mirror, commit, other)
    if (!(await isBefore(to, from))) {
      return new ForgeFailure('diverged', `${target} was rewritten on the forge`)
    }
    const shown = await readRef(this.#git, this.#mirror, shownRef(target))
    if (shown !== undefined && (await isBefore(from, shown))) {
      return new ForgeFailure('server_error', `the forge shows an older ${target} than it did`)
    }
    const push = `git -C ${this.#mirror} push ${this.#url} ${target}`
    return new ForgeFailure(
      'diverged',
      `${target} has commits that were merged on this machine and are not on the forge. To bring them there: ${push}`,
    )
  }

  async #reach(repository: string, args: readonly string[], options: GitOptions = {}) {
    try {
      return await this.#git.run(args, { ...this.#access, ...options, repository })
    } catch (cause) {
      throw cause instanceof GitError ? explainGitError(cause.message) : cause
    }
  }
}
