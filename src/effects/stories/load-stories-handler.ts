import {
  dispatcherOf,
  STORIES_LOADED,
  STORY_LOADED,
  type StoriesLoaded,
  type StoryLoaded,
  storyAgentOf,
  type TeamSettings,
} from '../../agents/team/protocol.ts'
import type { StoryData } from '../../agents/team/story-agent.ts'
import type { AgentId, EventId, Json, RunId } from '../../agents/values.ts'
import type { Attempt, EffectHandler } from '../../runtime/effect-handler.ts'
import type { Journal } from '../../runtime/journal.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { type ProposedStory, problemsOf } from '../../stories/decomposition.ts'
import type { Criterion, Story } from '../../stories/story.ts'

/** What an effect `load_stories` asks for: stories as the architect's tool has them. */
type LoadStoriesInput = {
  readonly run: string
  readonly criteria: readonly Criterion[]
  /** What the stories are of, for those who are asked about them. A former version did not say. */
  readonly spec?: string
  readonly settings: TeamSettings
  readonly stories: readonly SubmittedStory[]
}

type SubmittedStory = {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly criteria: readonly string[]
  readonly depends_on: readonly string[]
  readonly expected_files: readonly string[]
  readonly kind: Story['kind']
  readonly estimate: Story['estimate']
}

/** Who makes agents and brings them mail. */
type Registry = Pick<Runtime, 'createAgent' | 'deliver'>

/**
 * Carries out `load_stories`: makes an agent of each story, unless the decomposition has problems,
 * which are the outcome then. Done again, it changes nothing: ids follow from the effect.
 */
export function loadStoriesHandler(
  registry: () => Registry,
  journal: Pick<Journal, 'loadAgents'>,
): EffectHandler {
  return {
    policy: { timeoutMs: 600_000, attemptsMax: 3 },
    async run({ id, input }, { blobs }): Promise<Attempt> {
      const { run, criteria, spec: text, settings, stories } = input as unknown as LoadStoriesInput
      const proposed = stories.map(toProposed)
      const texts = new Map(criteria.map((criterion) => [criterion.id, criterion]))
      const whole = proposed.map((story) => ({
        ...story,
        criteria: story.criteria.flatMap((one) => texts.get(one) ?? []),
      }))
      const known = await findKnown(journal, run, whole)
      const problems = [...problemsOf(criteria, proposed), ...known.others.map(taken)]
      if (problems.length > 0) return { ok: true, value: { problems, count: 0 } }
      const count: StoriesLoaded = { count: proposed.length - known.same.size, settings }
      const tell = (agent: AgentId, type: string, payload: unknown) =>
        registry().deliver({
          id: `${id}:${type}:${agent}` as EventId,
          agent,
          type,
          payload: payload as Json,
        })
      await tell(dispatcherOf(run), STORIES_LOADED, count)
      for (const { id: story } of proposed) {
        await registry().createAgent({
          id: storyAgentOf(run, story),
          run: run as RunId,
          role: 'story',
        })
      }
      const dependents = dependentsOf(proposed)
      const spec = text === undefined ? null : { ...(await blobs.put(text)) }
      for (const story of inOrder(whole, known.same)) {
        const loaded: StoryLoaded = {
          story,
          dependents: dependents.get(story.id) ?? [],
          spec,
          settings,
        }
        await tell(storyAgentOf(run, story.id), STORY_LOADED, loaded)
      }
      return { ok: true, value: { problems: [], count: proposed.length } }
    },
  }
}

/**
 * The first that is ready is handed out at once. One of an earlier spec may be over, and says so to
 * those who wait for it, who have to know by then that they do.
 */
function inOrder(stories: readonly Story[], known: ReadonlySet<string>): readonly Story[] {
  const rank = ({ id, kind }: Story) => (known.has(id) ? 2 : kind === 'devops' ? 0 : 1)
  return stories.toSorted((a, b) => rank(a) - rank(b))
}

const taken = (id: string) =>
  `The run has a story ${id} already, and it is another one: choose another name.`

/** Stories of an earlier spec: the same ones need not be built again, others have to be renamed. */
async function findKnown(
  journal: Pick<Journal, 'loadAgents'>,
  run: string,
  stories: readonly Story[],
): Promise<{ readonly same: ReadonlySet<string>; readonly others: readonly string[] }> {
  const wanted = new Map(stories.map((story) => [storyAgentOf(run, story.id) as string, story]))
  const found = await journal.loadAgents([...wanted.keys()] as AgentId[])
  const pairs = found.flatMap(({ record }) => {
    const { story } = record.data as unknown as Partial<StoryData>
    const asked = wanted.get(record.id)
    return story === undefined || asked === undefined ? [] : [{ story, asked }]
  })
  const idsOf = (are: boolean) =>
    pairs.filter(({ story, asked }) => isSame(story, asked) === are).map(({ asked }) => asked.id)
  return { same: new Set(idsOf(true)), others: idsOf(false) }
}

function isSame(a: Story, b: Story): boolean {
  const words = ({ title, criteria }: Story) => JSON.stringify([title, criteria])
  return words(a) === words(b)
}

function toProposed(story: SubmittedStory): ProposedStory {
  const { depends_on: dependsOn, expected_files: expectedFiles, ...rest } = story
  return { ...rest, dependsOn, expectedFiles }
}

function dependentsOf(stories: readonly ProposedStory[]): ReadonlyMap<string, string[]> {
  const dependents = new Map<string, string[]>()
  for (const { id, dependsOn } of stories) {
    for (const needed of new Set(dependsOn)) {
      dependents.set(needed, [...(dependents.get(needed) ?? []), id])
    }
  }
  return dependents
}
