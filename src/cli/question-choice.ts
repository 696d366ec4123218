import { UsageError } from './usage-error.ts'
import type { QuestionView } from './view/run-view.ts'

/** A question, and what is said to it. */
interface ChosenQuestion {
  readonly question: QuestionView
  readonly text: string
}

/** Longer than anybody types: it is said to a model, and kept in several places. */
const ANSWER_CHARS_MAX = 60_000

/** The form of a question's id: the agent that asks, its row, and which of the row's effects. */
const QUESTION_ID = /^[^\s/:]+\/[^\s:]+:\d+\.\d+$/

/**
 * The open question that words are an answer to. What was meant for one that is not open any more
 * is never said to another.
 */
export function chooseQuestion(
  open: readonly QuestionView[],
  words: readonly string[],
): ChosenQuestion {
  const [first = '', ...rest] = words
  const named = open.find(({ id }) => id === first)
  if (named !== undefined) return { question: named, text: requireWords(rest) }
  if (QUESTION_ID.test(first)) {
    throw new UsageError(
      `The question ${first} is not open any more: it timed out, or was answered before.`,
    )
  }
  const [only, ...others] = open
  if (only === undefined) throw new UsageError('Nothing is asked at present.')
  if (others.length > 0) {
    throw new UsageError(`Say which question: ${open.map(({ id }) => id).join(', ')}.`)
  }
  return { question: only, text: requireWords(words) }
}

function requireWords(words: readonly string[]): string {
  const text = words.join(' ').trim()
  if (text === '') throw new UsageError('Say what the answer is.')
  return text
}

/** A choice, and words to that; either may be empty or the same as the other. */
interface Answer {
  readonly choice: string
  readonly text: string
}

/** Where words do nothing by themselves. */
const NEEDS_CHOICE: readonly string[] = ['story', 'budget_review']

/**
 * What is said to a question, as its choice and words to that. What about a story is asked takes
 * one of its choices; to write it anew takes words.
 */
export function answerTo(question: QuestionView, text: string): Answer {
  if (text.length > ANSWER_CHARS_MAX) {
    throw new UsageError(
      `The answer has ${text.length} characters; at most ${ANSWER_CHARS_MAX} are taken.`,
    )
  }
  const { kind, choices } = question
  const choice = choiceIn(text, choices)
  if (choice === undefined) return wordsTo(question, text)
  const said = text.slice(choice.length).replace(/^:\s*/, '')
  if (kind === 'story' && choice === 'rewrite' && said === '') {
    throw new UsageError('Say how, as in: slipway answer "rewrite: what is to be built instead".')
  }
  return { choice, text: said === '' ? choice : said }
}

/**
 * Words without a choice, as what they count as. Those that begin with the letters of another one
 * are refused: whoever says `approved` means no changes.
 */
function wordsTo(question: QuestionView, text: string): Answer {
  const { kind, choices, wordsAs } = question
  if (wordsAs === '' && NEEDS_CHOICE.includes(kind)) {
    const example = choices[0] ?? ''
    throw new UsageError(
      `The answer is one of ${choices.join(', ')}, as in: slipway answer ${example}.`,
    )
  }
  const said = text.toLowerCase()
  const begun = choices.find((each) => each !== wordsAs && said.startsWith(each.toLowerCase()))
  if (wordsAs !== '' && begun !== undefined) {
    throw new UsageError(
      `Is that ${begun}? Then put a colon after it, as in "${begun}: …", or begin with "${wordsAs}:".`,
    )
  }
  return { choice: wordsAs, text }
}

/** How an answer was understood. */
export function describeAnswer({ choice, text }: Answer): string {
  if (choice === '') return 'Answered with your words.'
  return `Answered: ${choice}${text === choice ? '' : ', with your words'}.`
}

/**
 * The choice that words name: all of them, or what is before a colon. Of several that would do, it
 * is the one that is written exactly so, then the longest.
 */
function choiceIn(text: string, choices: readonly string[]): string | undefined {
  const exact = choices.find((each) => each === text)
  if (exact !== undefined) return exact
  const said = text.toLowerCase()
  return choices
    .filter((each) => `${said}:`.startsWith(`${each.toLowerCase()}:`))
    .toSorted((one, other) => other.length - one.length)[0]
}
