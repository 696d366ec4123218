import { bounded } from './coder-work.ts'
import { AGAIN, type Ask, type RequestMessage } from './protocol.ts'

/** Enough of a plan, or of what tests said, to decide by. */
const PART_CHARS_MAX = 1_500

/** What a human is asked where no model decides: the request itself, and why nobody did. */
export function questionOf({ ask, story }: RequestMessage, why: string | null): string {
  const title = story === null ? '' : `“${story.title}”`
  const undecided = why === null ? '' : `The architect could not decide it: ${bounded(why, 500)}`
  return [...partsOf(ask, title), undecided].filter((part) => part !== '').join('\n')
}

function partsOf(ask: Ask, title: string): readonly string[] {
  switch (ask.kind) {
    case 'question':
      return [`A coder asks: ${bounded(ask.question, PART_CHARS_MAX)}`, named('Tried', ask.tried)]
    case 'plan':
      return [`Is this plan right for ${title}?`, part(ask.plan), ask.note, before(ask.earlier)]
    case 'code':
      return [
        `Is the code of ${title} right?`,
        named('The tests', ask.tests),
        ask.note,
        before(ask.earlier),
        `It is the commit ${ask.head} in git/work.git of the state folder.`,
      ]
    case 'completion':
      return [
        `Is ${title} there already, as a coder says?`,
        part(ask.evidence),
        before(ask.earlier),
      ]
    case 'budget_review':
      return [
        `Should the coder of ${title} go on? It stopped in ${ask.state}: ${reasonOf(ask.used)}`,
        grantsBefore(ask.grants),
        named('What fails', ask.failures),
      ]
    case 'merge':
      return [`Should ${title} be merged?`]
    case 'spec':
      return [`No stories could be made of the spec “${ask.spec.title}”.`, part(ask.problems)]
  }
}

/** What is used up is named in a word or two; any other reason is a sentence. */
export function reasonOf(used: string): string {
  return used.split(' ').length > 2 ? used : `its budget is spent (${used})`
}

function grantsBefore(grants: number): string {
  if (grants === 0) return ''
  return `More turns were granted before: ${grants === 1 ? 'once' : `${grants} times`}.`
}

/** What a reviewer required in earlier rounds. */
function before(earlier = ''): string {
  return named('Required before', earlier)
}

function part(text: string): string {
  return bounded(text, PART_CHARS_MAX)
}

function named(name: string, text: string): string {
  return text === '' ? '' : `${name}: ${part(text)}`
}

/** What a human can say to a request, and what comes of each. */
export interface Choices {
  readonly choices: readonly string[]
  /** Those of them that a model has thought of. */
  readonly options: readonly string[]
  /** By choice; one that a model has thought of speaks for itself. */
  readonly does: Readonly<Record<string, string>>
  /** What comes of words without a choice; empty where nothing does. */
  readonly words: string
  /** The choice that they count as; empty where they are an answer by themselves. */
  readonly wordsAs: string
}

type Meanings = Readonly<Record<string, string>>

const NEEDS_CHANGES = 'needs_changes'
const ABANDON = 'this attempt at the story is given up'

/** By kind of request. Nobody but the architect can make stories of a spec. */
const MEANINGS: Readonly<Record<Exclude<Ask['kind'], 'budget_review'>, Meanings>> = {
  question: {},
  merge: {},
  plan: {
    approve: 'the coder builds it by this plan',
    needs_changes: 'it plans again; say after a colon what is wrong',
  },
  code: {
    approve: 'it is merged if the tests pass on the merged tree',
    needs_changes: 'it goes back to the coder; say after a colon what is wrong',
  },
  completion: {
    approve: 'the story is done if the tests pass as it is',
    needs_changes: 'the coder plans again; say after a colon what is missing',
  },
  spec: { needs_changes: 'it is written again; say after a colon what is wrong' },
}

/** What can be said to a request, by a human in the place of a model that may have had `options`. */
export function choicesOf(
  request: RequestMessage | null,
  options: readonly string[],
  isSpent: boolean,
): Choices {
  const kind = request?.ask.kind ?? 'merge'
  const own = request === null ? {} : meaningsOf(request)
  const again: Meanings = isSpent
    ? { [AGAIN]: 'the architect decides it, once more is allowed' }
    : {}
  const abandon = kind === 'spec' ? 'the spec is given up' : ABANDON
  const isOpen = kind === 'question' || kind === 'merge'
  const does = { ...again, ...own, abandon }
  const offered = isOpen ? apartFrom(Object.keys(does), options) : []
  const wordsAs = Object.hasOwn(own, NEEDS_CHANGES) ? NEEDS_CHANGES : ''
  const counted = wordsAs === '' ? '' : `they count as ${wordsAs}`
  return {
    choices: [...Object.keys(again), ...(isOpen ? offered : Object.keys(own)), 'abandon'],
    options: offered,
    does,
    words: kind === 'question' ? 'the answer that the coder gets' : counted,
    wordsAs,
  }
}

/** The options of a model, each once. One that is called as a choice of ours says that it is none. */
function apartFrom(ours: readonly string[], options: readonly string[]): readonly string[] {
  const named = options.map((option) =>
    ours.includes(option.trim().toLowerCase()) ? `${option.trim()} (as an answer)` : option,
  )
  return [...new Set(named)]
}

function meaningsOf(request: RequestMessage): Meanings {
  const { ask } = request
  return ask.kind === 'budget_review' ? grantsOf(request, ask) : MEANINGS[ask.kind]
}

/** More turns than the limit allows are not offered: the story would be given up all the same. */
function grantsOf(
  { settings }: RequestMessage,
  { grants, decisions }: Extract<Ask, { kind: 'budget_review' }>,
): Meanings {
  const approve = 'it has as many turns again; it is told what you say after a colon'
  const mayGrant = grants < settings.limits.budgetGrants
  // A revision without that decision goes on with its work instead.
  const isReviewed = decisions.includes('escalate')
  return {
    ...(mayGrant && { approve }),
    ...(isReviewed && { needs_changes: 'its code is reviewed as it is' }),
    ...(mayGrant && !isReviewed && { needs_changes: approve }),
  }
}
