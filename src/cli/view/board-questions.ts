import { printable } from '../printable.ts'
import type { Style } from '../style.ts'
import { wrapShort } from '../terminal-text.ts'
import { choiceLines, choiceNames, exampleAnswer } from './question-lines.ts'
import { budgetHint, failureReason } from './run-end.ts'
import type { QuestionView, RunView } from './run-view.ts'

/** What is said in words takes no more lines than this. */
const WORDS_LINES_MAX = 4

/** What questions are drawn with. */
export interface QuestionSettings {
  readonly style: Style
  readonly columns: number
  /** Whether another run asks too, so that an answer has to say which question it is to. */
  readonly isAskedElsewhere: boolean
}

/** The lines that there are for what is asked. */
interface Room {
  /** For as many questions as fit into them as they are. */
  readonly wanted: number
  /** For the first question, whatever else has to go. */
  readonly most: number
}

/** What is asked, and why it failed, each with what to type: as many as fit, and at least one. */
export function questionLines(view: RunView, settings: QuestionSettings, room: Room): string[] {
  const asked = view.questions.map((each) => questionForms(each, view, settings)[0] ?? [])
  const told = toldLines(view, settings, WORDS_LINES_MAX)
  const isAll = asked.flat().length + told.length <= room.wanted
  const fits = asked.filter(
    (_, i) => asked.slice(0, i + 1).flat().length + told.length < room.wanted,
  )
  const shown = isAll ? asked.length : Math.max(1, fits.length)
  const others = hiddenLines(asked.length - shown, settings.style)
  const lines = [...asked.slice(0, shown).flat(), ...others, ...told]
  return lines.length <= room.most ? lines : fewLines(view, settings, room.most)
}

/** The lines without which nobody knows what is asked: one of the question, and its choices. */
export function leastQuestionLines(view: RunView, settings: QuestionSettings): number {
  const [first] = view.questions
  if (first === undefined) return toldLines(view, settings, 1).length
  return 1 + nameLines(first, settings, WORDS_LINES_MAX).length
}

/** The first question in at most so many lines; those that follow it are counted if that fits too. */
function fewLines(view: RunView, settings: QuestionSettings, linesMax: number): string[] {
  const least = leastQuestionLines(view, settings)
  const told = toldLines(view, settings, 1)
  const others = hiddenLines(view.questions.length - 1, settings.style)
  const after = [...others, ...told].slice(0, Math.max(0, linesMax - least))
  const [first] = view.questions
  if (first === undefined) return told.slice(0, linesMax)
  const left = linesMax - after.length
  const form = questionForms(first, view, settings).find((lines) => lines.length <= left)
  return [...(form ?? leastForm(first, settings, left)), ...after]
}

/**
 * A question in ever fewer lines: first as a whole, then without what comes of its choices, then
 * without what to type, and of its words fewer and fewer.
 */
function questionForms(
  asked: QuestionView,
  { questions }: RunView,
  settings: QuestionSettings,
): string[][] {
  const { style, isAskedElsewhere } = settings
  const which = questions.length === 1 && !isAskedElsewhere ? '' : `${asked.id} `
  const answer = `slipway answer ${which}${JSON.stringify(exampleAnswer(asked))}`
  const command = words('  ', answer, settings).map(style.dim)
  const offered = choiceLines(asked, ' | ').flatMap((line) => words('  ', line, settings))
  const names = nameLines(asked, settings, WORDS_LINES_MAX)
  const text = (linesMax: number) => textLines(asked, settings, linesMax)
  return [
    [...text(WORDS_LINES_MAX), ...offered.map(style.dim), ...command],
    ...[4, 3, 2].map((linesMax) => [...text(linesMax), ...names, ...command]),
    ...[4, 3, 2, 1].map((linesMax) => [...text(linesMax), ...names]),
  ]
}

/** Where there is not even room for the names of all choices. */
function leastForm(asked: QuestionView, settings: QuestionSettings, linesMax: number): string[] {
  if (linesMax < 1) return []
  return [...textLines(asked, settings, 1), ...nameLines(asked, settings, linesMax - 1)]
}

function textLines({ question }: QuestionView, settings: QuestionSettings, linesMax: number) {
  return words('? ', question, settings, linesMax).map((line) => settings.style.warn(line))
}

function nameLines(asked: QuestionView, settings: QuestionSettings, linesMax: number): string[] {
  const names = choiceNames(asked, ' | ')
  return names === '' ? [] : words('  ', names, settings, linesMax).map(settings.style.dim)
}

function hiddenLines(count: number, style: Style): string[] {
  const noun = count === 1 ? 'question' : 'questions'
  return count > 0 ? [style.dim(`  and ${count} more ${noun}: slipway answer shows them`)] : []
}

/** Why it failed, and what a budget lacks. */
function toldLines(view: RunView, settings: QuestionSettings, linesMax: number): string[] {
  return [failureReason(view), budgetHint(view)]
    .filter((line) => line !== undefined)
    .flatMap((line) => words('! ', line, settings, linesMax))
    .map((line) => settings.style.warn(line))
}

/** Words that belong together, below each other where they do not fit into one line. */
function words(
  mark: string,
  text: string,
  { columns }: QuestionSettings,
  linesMax = WORDS_LINES_MAX,
): string[] {
  const line = printable(text.replaceAll(/\s+/g, ' ').trim())
  const lines = wrapShort(line, columns - 1 - mark.length, linesMax)
  return lines.map((each, i) => `${i === 0 ? mark : ' '.repeat(mark.length)}${each}`)
}
