import type { Criterion, Story } from './story.ts'

/** A story as it was proposed, with criteria by id. */
export interface ProposedStory extends Omit<Story, 'criteria'> {
  readonly criteria: readonly string[]
}

const CYCLES_MAX = 3

/**
 * What is wrong with a decomposition, in words for whoever made it; nothing when it can be built.
 * Checked before anything is spent on it.
 */
export function problemsOf(
  criteria: readonly Criterion[],
  stories: readonly ProposedStory[],
): readonly string[] {
  if (stories.length === 0) return ['There is no story.']
  const ids = new Set(stories.map(({ id }) => id))
  const known = new Set(criteria.map(({ id }) => id))
  const covered = new Set(stories.flatMap((story) => story.criteria))
  return [
    ...repeated(stories.map(({ id }) => id)).map((id) => `Two stories are called ${id}.`),
    ...criteria
      .filter(({ id }) => !covered.has(id))
      .map(({ id, text }) => `No story covers the criterion ${id}: ${text}`),
    ...stories.flatMap((story) => [
      ...story.criteria
        .filter((id) => !known.has(id))
        .map((id) => `${story.id} covers ${id}, which is no criterion of the spec.`),
      ...story.dependsOn
        .filter((id) => !ids.has(id))
        .map((id) => `${story.id} depends on ${id}, which does not exist.`),
    ]),
    ...findCycles(stories)
      .slice(0, CYCLES_MAX)
      .map((cycle) => `These depend on each other: ${cycle.join(' → ')}.`),
    ...(criteria.length === 1 && stories.length > 1
      ? ['The spec has one criterion; that is one story.']
      : []),
  ]
}

function repeated(names: readonly string[]): string[] {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const name of names) (seen.has(name) ? twice : seen).add(name)
  return [...twice]
}

/** Each cycle once, as the stories in their order, the first one again at the end. */
function findCycles(stories: readonly ProposedStory[]): string[][] {
  const needs = new Map(stories.map(({ id, dependsOn }) => [id, dependsOn]))
  const done = new Set<string>()
  const cycles: string[][] = []
  for (const { id } of stories) {
    // Depth first without recursion: a chain may be as long as there are stories.
    const path: { id: string; next: number }[] = [{ id, next: 0 }]
    const onPath = new Set([id])
    while (path.length > 0) {
      const step = path.at(-1) as (typeof path)[number]
      const next = done.has(step.id) ? undefined : needs.get(step.id)?.[step.next]
      step.next += 1
      if (next === undefined) {
        done.add(step.id)
        onPath.delete(step.id)
        path.pop()
      } else if (onPath.has(next)) {
        const from = path.findIndex((one) => one.id === next)
        cycles.push([...path.slice(from).map((one) => one.id), next])
      } else if (!done.has(next) && needs.has(next)) {
        path.push({ id: next, next: 0 })
        onPath.add(next)
      }
    }
  }
  return cycles
}
