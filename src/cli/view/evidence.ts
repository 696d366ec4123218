import type { Spec } from '../../agents/team/protocol.ts'
import type { StoryData } from '../../agents/team/story-agent.ts'
import type { JsonObject } from '../../agents/values.ts'
import type { AgentRecord, StoredRow } from '../../runtime/records.ts'
import type { Criterion } from '../../stories/story.ts'
import type { RunSource } from './run-source.ts'
import { placeOf } from './run-view.ts'

/** What shows that a criterion holds: the stories, their commits, and the tests at each. */
export interface CriterionEvidence extends Criterion {
  readonly verdict: 'shown' | 'not_shown' | 'waived'
  readonly stories: readonly StoryEvidence[]
}

export interface StoryEvidence {
  readonly id: string
  readonly title: string
  readonly state: string
  readonly commit: string | null
  readonly tests: TestEvidence | null
}

/** The test run on the very tree that became the target. */
export interface TestEvidence {
  readonly verdict: string
  readonly message: string
  readonly counts: {
    readonly passed: number
    readonly failed: number
    readonly skipped: number
  } | null
  /** How many tests more there were than on the commit before it; null where that is not known. */
  readonly more: number | null
  readonly commands: readonly string[]
}

export interface Evidence {
  readonly run: string
  readonly title: string
  readonly isComplete: boolean
  readonly criteria: readonly CriterionEvidence[]
}

const PAGE_ROWS = 2_000

/** Gathers the evidence of a run out of its journal. Nothing is done without it. */
export async function gatherEvidence(source: RunSource, run: string): Promise<Evidence> {
  const agents = await source.agents(run)
  const spec = specOf(agents)
  const tests = await testsByCommit(source, run)
  const stories = agents
    .filter(({ id }) => placeOf(id).startsWith('story/'))
    .flatMap((agent) => storyOf(agent, tests))
  const criteria = spec.criteria.map((criterion) => judge(criterion, stories))
  return {
    run,
    title: spec.title,
    isComplete: criteria.length > 0 && criteria.every(({ verdict }) => verdict !== 'not_shown'),
    criteria,
  }
}

/** What was asked for: the specs of all product managers, the first one first. */
function specOf(agents: readonly AgentRecord[]): { title: string; criteria: readonly Criterion[] } {
  const specs = agents
    .filter(({ role }) => role === 'pm')
    .toSorted((a, b) => a.key - b.key)
    .flatMap(({ data }) => (data.spec === undefined ? [] : [data.spec as unknown as Spec]))
  return {
    title: specs.map(({ title }) => title).join(', ') || 'no spec yet',
    criteria: specs.flatMap(({ criteria }) => criteria),
  }
}

type CoveringStory = StoryEvidence & { readonly criteria: readonly Criterion[] }

function storyOf(
  { state, data }: AgentRecord,
  tests: ReadonlyMap<string, TestEvidence>,
): CoveringStory[] {
  const { story, commit, tests: asItWas } = data as unknown as StoryData
  if (story === undefined) return []
  const at = commit ?? null
  // What needed no change was tested as it was, and then with everything that was merged after it.
  const newest = [...tests.values()].at(-1) ?? (asItWas ? evidenceIn(asItWas) : undefined)
  const asAWhole = newest && { ...newest, more: null }
  const isUnchanged = at === null && state === 'MERGED'
  return [
    {
      id: story.id,
      title: story.title,
      state: state ?? 'null',
      commit: at,
      tests: (isUnchanged ? asAWhole : tests.get(at ?? '')) ?? null,
      criteria: story.criteria,
    },
  ]
}

function judge(criterion: Criterion, stories: readonly CoveringStory[]): CriterionEvidence {
  // Criteria of two specs may have the same number.
  const isThis = ({ id, text }: Criterion) => id === criterion.id && text === criterion.text
  const covering = stories.filter(({ criteria }) => criteria.some(isThis))
  const isShown = ({ state, tests }: StoryEvidence) =>
    state === 'MERGED' && tests?.verdict === 'passed'
  const isWaived = ({ state }: StoryEvidence) => state === 'WAIVED' || state === 'CUT'
  const isFine = (story: StoryEvidence) => isShown(story) || isWaived(story)
  const verdict =
    covering.length === 0 || !covering.every(isFine)
      ? 'not_shown'
      : covering.some(isWaived)
        ? 'waived'
        : 'shown'
  return { ...criterion, verdict, stories: covering.map(({ criteria: _, ...story }) => story) }
}

/** The gate's test run of every merge, by the commit that it let through. */
async function testsByCommit(
  source: RunSource,
  run: string,
): Promise<ReadonlyMap<string, TestEvidence>> {
  const found = new Map<string, TestEvidence>()
  for (let afterSeq = 0; ; ) {
    const rows = await source.rows(run, afterSeq, PAGE_ROWS)
    for (const row of rows) {
      const merged = mergeIn(row)
      if (merged === undefined) continue
      const { commit, onto, tests } = merged
      found.set(commit, { ...tests, more: moreThan(found.get(onto), tests) })
    }
    const last = rows.at(-1)
    if (last === undefined) return found
    afterSeq = last.seq
  }
}

function mergeIn({ agentId, eventType, body }: StoredRow) {
  if (placeOf(agentId) !== 'merge-queue' || eventType !== 'effect_finished') return undefined
  const { result } = (body.payload ?? {}) as unknown as { result?: { value?: JsonObject } }
  const { kind, commit, onto, gate } = result?.value ?? {}
  if (kind !== 'merged' || typeof commit !== 'string' || !gate) return undefined
  return { commit, onto: String(onto), tests: evidenceIn(gate as JsonObject) }
}

function moreThan(before: TestEvidence | undefined, { counts }: TestEvidence): number | null {
  if (before?.counts == null || counts === null) return null
  const all = ({ passed, failed, skipped }: NonNullable<TestEvidence['counts']>) =>
    passed + failed + skipped
  return all(counts) - all(before.counts)
}

function evidenceIn({ verdict, message, counts, commands }: JsonObject): TestEvidence {
  return {
    verdict: String(verdict),
    message: String(message),
    counts: (counts ?? null) as TestEvidence['counts'],
    more: null,
    commands: ((commands ?? []) as readonly JsonObject[]).map(({ argv }) =>
      ((argv ?? []) as readonly string[]).join(' '),
    ),
  }
}
