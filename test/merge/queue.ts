import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Forge, PullRequestDraft } from '../../src/effects/forge/forge.ts'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import type { Git } from '../../src/effects/git/git.ts'
import { inFreshClone } from '../../src/effects/merge/gate.ts'
import { type MergeOutcome, mergeStory } from '../../src/effects/merge/merge-story.ts'
import { openWorkspaces, type Workspaces } from '../../src/effects/workspace/workspaces.ts'
import { type GitWorld, plainGit } from '../git/world.ts'

const run = promisify(execFile)

/** The pull requests of each world: a merge is asked for by a number that the journal remembers. */
const numbers = new WeakMap<GitWorld, Map<string, number>>()

/** What a person sees of a merge queue, on a local forge; the gate is the repository's own script. */
export interface Queue {
  readonly workspaces: Workspaces
  readonly forge: Forge
  /** Changes a story's fresh workspace, and commits that. Without a base it stands on the target. */
  work(story: string, change: (folder: string) => void, base?: string): Promise<string>
  /** Makes the workspace of a merge that was none, changes it, and commits that. */
  mend(
    story: string,
    outcome: MergeOutcome<string>,
    change: (folder: string) => void,
  ): Promise<string>
  /** Hands in what is in the story's workspace and merges it. */
  merge(story: string, head: string, details?: MergeDetails): Promise<MergeOutcome<string>>
}

interface MergeDetails {
  readonly body?: string
  /** When it was asked for: the same merge, tried again, has the same moment. */
  readonly atMs?: number
}

interface QueueSettings {
  /** What the forge says of its checks; it has none of its own. */
  readonly checks?: Pick<Forge, 'readChecks' | 'checksGraceMs'>
  readonly checksWaitMsMax?: number
}

export const RUN = 'r1'
const AT_MS = Date.UTC(2026, 0, 1)

export async function openQueue(
  world: GitWorld,
  git: Git = world.git,
  settings: QueueSettings = {},
): Promise<Queue> {
  const { repositories, state } = world
  const { checks, ...waits } = settings
  const folder = join(state, 'pull-requests')
  const forge = { ...(await openLocalForge({ git, repositories, folder })), ...checks }
  const workspaces = openWorkspaces(git, repositories, state)
  const gate = (commit: string) =>
    inFreshClone(git, repositories, state, commit, async (folder) => {
      const { passed, said } = await runGate(folder)
      return { passed, gate: said }
    })
  const known = numbers.get(world) ?? new Map<string, number>()
  numbers.set(world, known)
  async function commit(story: string, base: string, content?: string, change = (_: string) => {}) {
    const owner = { run: RUN, story }
    const { folder } = await workspaces.prepare(owner, base, content)
    change(folder)
    return (await workspaces.commit(owner, `Work on ${story}`)) as string
  }
  return {
    workspaces,
    forge,
    work: (story, change, base = plainGit(repositories.mirror, 'rev-parse', 'main')) =>
      commit(story, base, undefined, change),
    async mend(story, outcome, change) {
      if (!('content' in outcome)) throw new Error(outcome.kind)
      return commit(story, outcome.onto, outcome.content, change)
    },
    async merge(story, head, { body = '', atMs = AT_MS } = {}) {
      const branch = `slipway/${RUN}/${story}`
      const draft = { branch, head, target: 'main', title: `Story ${story}`, body }
      const number = known.get(branch + head) ?? (await open(forge, draft))
      known.set(branch + head, number)
      const merge = { ...draft, owner: { run: RUN, story }, number, atMs }
      const parts = { git, repositories, forge, gate, ...waits }
      return mergeStory(parts, merge, new AbortController().signal)
    },
  }
}

async function open(forge: Forge, draft: PullRequestDraft): Promise<number> {
  const opened = await forge.openPullRequest(draft)
  if (opened.ok) return opened.value.number
  throw new Error(opened.error.message)
}

/** Runs `gate.sh` of a checked-out tree. */
export async function runGate(folder: string): Promise<{ passed: boolean; said: string }> {
  try {
    const { stdout } = await run('sh', ['gate.sh'], { cwd: folder })
    return { passed: true, said: stdout }
  } catch (error) {
    return { passed: false, said: String((error as { stdout?: string }).stdout) }
  }
}
