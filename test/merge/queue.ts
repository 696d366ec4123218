import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Forge, PullRequestDraft } from '../../src/effects/forge/forge.ts'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import type { Git } from '../../src/effects/git/git.ts'
import { inFreshClone } from '../../src/effects/merge/gate.ts'
import { type MergeOutcome, mergeStory } from '../../src/effects/merge/merge-story.ts'
import { openWorkspaces, type Workspaces } from '../../src/effects/workspace/workspaces.ts'
import type { GitWorld } from '../git/world.ts'

const run = promisify(execFile)

/** The pull requests of each world: a merge is asked for by a number that the journal remembers. */
const numbers = new WeakMap<GitWorld, Map<string, number>>()

/** What a person sees of a merge queue, on a local forge; the gate is the repository's own script. */
export interface Queue {
  readonly workspaces: Workspaces
  readonly forge: Forge
  /** Hands in what is in the story's workspace and merges it. */
  merge(story: string, head: string, body?: string): Promise<MergeOutcome<string>>
}

export const RUN = 'r1'
const AT_MS = Date.UTC(2026, 0, 1)

export async function openQueue(world: GitWorld, git: Git = world.git): Promise<Queue> {
  const { repositories, state } = world
  const forge = await openLocalForge({ git, repositories, folder: join(state, 'pull-requests') })
  const workspaces = openWorkspaces(git, repositories, state)
  const gate = (commit: string) =>
    inFreshClone(git, repositories, state, commit, async (folder) => {
      const { passed, said } = await runGate(folder)
      return { passed, gate: said }
    })
  const known = numbers.get(world) ?? new Map<string, number>()
  numbers.set(world, known)
  return {
    workspaces,
    forge,
    async merge(story, head, body = '') {
      const branch = `slipway/${RUN}/${story}`
      const draft = { branch, head, target: 'main', title: `Story ${story}`, body }
      const number = known.get(branch + head) ?? (await open(forge, draft))
      known.set(branch + head, number)
      const merge = { ...draft, owner: { run: RUN, story }, number, atMs: AT_MS }
      const parts = { git, repositories, forge, gate }
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
