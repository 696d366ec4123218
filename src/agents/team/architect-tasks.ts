import type { BlobRef } from '../values.ts'
import { reasonOf } from './architect-question.ts'
import type { Ask, RequestMessage } from './protocol.ts'

/** What a request is thought about with: the prompt, and what it is filled in with. */
export interface ArchitectTask {
  readonly task: string
  readonly variables: Readonly<Record<string, string | BlobRef>>
}

/** The task of a request; a merge needs no thought. */
export function taskOf({ ask, story }: RequestMessage): ArchitectTask | undefined {
  const about: Readonly<Record<string, string>> =
    story === null
      ? {}
      : {
          story: `${story.title}\n\n${story.description}`,
          criteria:
            story.criteria.map(({ id, text }) => `${id}. ${text}`).join('\n') ||
            'As the story says.',
        }
  switch (ask.kind) {
    case 'merge':
      return undefined
    case 'plan':
      return {
        task: 'architect/plan-review',
        variables: {
          ...about,
          plan: ask.plan,
          situation: oneLine(situationOf(ask)),
          remarks: ask.earlier ?? '',
        },
      }
    case 'code':
      return {
        task: 'architect/code-review',
        variables: {
          ...about,
          diff: ask.diff,
          tests: ask.tests,
          situation: oneLine(situationOf(ask)),
          remarks: ask.earlier,
        },
      }
    case 'completion':
      return {
        task: 'architect/completion-review',
        variables: { ...about, evidence: ask.evidence, remarks: ask.earlier ?? '' },
      }
    case 'budget_review':
      return budgetTask(ask, about)
    case 'question': {
      const { question, tried, plan, spec } = ask
      const variables = { ...about, question, tried, plan, ...(spec && { spec }) }
      return { task: 'architect/question', variables }
    }
    case 'spec': {
      const { spec, problems } = ask
      const criteria = spec.criteria.map(({ id, text }) => `${id}. ${text}`).join('\n')
      const variables = { spec: `${spec.title}\n\n${spec.body}`, criteria, problems }
      return { task: 'architect/spec-review', variables }
    }
  }
}

function budgetTask(
  ask: Extract<Ask, { kind: 'budget_review' }>,
  about: Readonly<Record<string, string>>,
): ArchitectTask {
  const { state, used, grants, history = '', decisions, plan, failures, diff } = ask
  return {
    task: 'architect/budget-review',
    variables: {
      ...about,
      plan,
      state,
      used: oneLine(reasonOf(used)),
      grants: String(grants),
      history,
      decisions,
      failures,
      ...(diff !== null && { diff }),
    },
  }
}

function situationOf({ round, note }: { readonly round: number; readonly note: string }): string {
  const again = round > 1 ? `It is round ${round}.` : ''
  return [again, note].filter((part) => part !== '').join(' ')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 500)
}
