import { printable } from '../printable.ts'
import type { Style } from '../style.ts'
import { cut, padTo, widthOf, wrap, wrapShort } from '../terminal-text.ts'
import { printDuration, printMoney } from './figures.ts'
import { choiceLines, exampleAnswer } from './question-lines.ts'
import { budgetHint, failureReason } from './run-end.ts'
import {
  isStoryOver,
  type QuestionView,
  type RunView,
  type StoryView,
  storiesLeft,
} from './run-view.ts'

/** What the board is drawn with. */
export interface BoardSettings {
  readonly style: Style
  readonly columns: number
  readonly rows: number
  readonly nowMs: number
  /** The last things that happened, newest last. */
  readonly news: readonly string[]
  readonly hint: string
  /** Whether another run asks too, so that an answer has to say which question it is to. */
  readonly isAskedElsewhere: boolean
}

const MARKS: Readonly<Record<string, string>> = {
  BLOCKED: '·',
  READY: '○',
  ASSIGNED: '●',
  MERGED: '✔',
  WAIVED: '–',
  CUT: '✂',
  FAILED: '✘',
}

/** The states of a story whose next attempt is the one that is meant. */
const UNDER_WAY = ['READY', 'ASSIGNED']

const BAR_CELLS = 24
const BAR_CELLS_MIN = 8
/** A name of fewer columns says nothing: before that, the figures get lines of their own. */
const NAME_COLUMNS_MIN = 8
const BETWEEN = '  '
const NEWS_SHOWN = 6
/** Stories that are not hidden so that agents can be shown. */
const STORIES_FIRST = 8
const STORIES_MIN = 3
/** What is said in words takes no more lines than this. */
const WORDS_LINES_MAX = 4
/** The states in which a board has no use for keys: it is about to end. */
const OVER: readonly RunView['status'][] = ['done', 'failed', 'stopped']

/**
 * The run as lines that fit the terminal: stories, agents, spend, what is left, what is asked.
 * Where room is short, log lines go first, then agents, then stories, and what is asked stays.
 */
export function drawBoard(view: RunView, settings: BoardSettings): string[] {
  const { style, columns, rows, news, hint } = settings
  const room = Math.max(1, rows - 1)
  const head = headLines(view, settings)
  const keys = OVER.includes(view.status) || hint === '' ? [] : wrap(hint, columns - 1)
  // Four empty lines are between five parts.
  const open = room - head.length - keys.length - 4
  const questions = questionLines(view, settings, open - STORIES_MIN - 1)
  const left = open - questions.length
  const agents = agentLines(view, style, left - Math.min(view.stories.length, STORIES_FIRST))
  const storiesMax = Math.max(STORIES_MIN, left - agents.length)
  const stories = storyLines(view.stories, style, storiesMax)
  const newsMax = Math.max(0, Math.min(NEWS_SHOWN, left - agents.length - stories.length))
  const end = [...news.slice(news.length - Math.min(news.length, newsMax)), ...keys]
  const parts = [stories, agents, questions, end.map((line) => style.dim(line))]
  return fit(head, parts, room).map((line) => cut(line, columns - 1))
}

/** The lines with an empty one before each part; where that is too much, the last ones stay. */
function fit(head: readonly string[], parts: readonly string[][], room: number): string[] {
  const shown = parts.filter((lines) => lines.length > 0)
  const spaced = shown.flatMap((lines) => ['', ...lines])
  if (head.length + spaced.length <= room) return [...head, ...spaced]
  const dense = shown.flat()
  const last = Math.max(0, room - head.length)
  return [...head, ...dense.slice(Math.max(0, dense.length - last))].slice(0, room)
}

/** What is asked, and why it failed, each with what to type: as many as fit, and at least one. */
function questionLines(view: RunView, settings: BoardSettings, linesMax: number): string[] {
  const { style } = settings
  const told = [failureReason(view), budgetHint(view)]
    .filter((line) => line !== undefined)
    .flatMap((line) => words('! ', line, settings).map((each) => style.warn(each)))
  const asked = view.questions.map((question) => questionText(question, view, settings))
  const isAll = asked.flat().length + told.length <= linesMax
  const whole = asked.filter((_, i) => asked.slice(0, i + 1).flat().length + told.length < linesMax)
  const shown = isAll ? asked.length : Math.max(1, whole.length)
  const hidden = asked.length - shown
  const more = `  and ${hidden} more ${hidden === 1 ? 'question' : 'questions'}: slipway answer shows them`
  return [...asked.slice(0, shown).flat(), ...(hidden > 0 ? [style.dim(more)] : []), ...told]
}

function questionText(
  asked: QuestionView,
  { questions }: RunView,
  settings: BoardSettings,
): string[] {
  const { style, isAskedElsewhere } = settings
  const which = questions.length === 1 && !isAskedElsewhere ? '' : `${asked.id} `
  const command = `slipway answer ${which}${JSON.stringify(exampleAnswer(asked))}`
  const offered = [...choiceLines(asked, ' | '), command]
  return [
    ...words('? ', asked.question, settings).map((line) => style.warn(line)),
    ...offered.flatMap((line) => words('  ', line, settings)).map(style.dim),
  ]
}

/** Words that belong together, below each other where they do not fit into one line. */
function words(mark: string, text: string, { columns }: BoardSettings): string[] {
  const line = printable(text.replaceAll(/\s+/g, ' ').trim())
  const lines = wrapShort(line, columns - 1 - mark.length, WORDS_LINES_MAX)
  return lines.map((each, i) => `${i === 0 ? mark : ' '.repeat(mark.length)}${each}`)
}

/**
 * Where it is narrow, the run's name and the bar give way, and then the figures go to lines of
 * their own: how it stands is never cut off.
 */
function headLines(view: RunView, { style, nowMs, columns: width }: BoardSettings): string[] {
  const columns = width - 1
  const { stories, spent, startedMs, endedMs, status, task } = view
  const left = storiesLeft(view)
  const done = stories.length - left
  const count = stories.length === 0 ? 'spec under review' : `${done} of ${stories.length} stories`
  const run = printable(view.run)
  const time = printDuration((endedMs ?? nowMs) - startedMs)
  const figures = [task === null ? count : taskWords(task), printMoney(spent), time]
  const line = [status, ...figures].join(BETWEEN)
  const room = columns - widthOf(line) - BETWEEN.length
  const nameMin = Math.min(widthOf(run), NAME_COLUMNS_MIN)
  if (room < nameMin) {
    const name = cut(run, Math.max(nameMin, columns - status.length - BETWEEN.length))
    return [[style.bold(name), status].join(BETWEEN), ...pack(figures, columns)]
  }
  const wanted = Math.max(BAR_CELLS_MIN, Math.min(BAR_CELLS, room - widthOf(run) - 1))
  // A task has no parts of which some could be done.
  const cells = task === null && room - wanted - 1 >= nameMin ? wanted : 0
  const full = stories.length === 0 ? 0 : Math.round((done / stories.length) * cells)
  const bar = cells === 0 ? '' : `${'█'.repeat(full)}${'░'.repeat(cells - full)} `
  const name = cut(run, cells === 0 ? room : room - cells - 1)
  return [[style.bold(name), status, `${bar}${figures.join(BETWEEN)}`].join(BETWEEN)]
}

/** Figures in as few lines as they fit into, each of them whole. */
function pack(figures: readonly string[], columns: number): string[] {
  const lines: string[] = []
  for (const figure of figures) {
    const last = lines.at(-1)
    const joined = `${last}${BETWEEN}${figure}`
    if (last !== undefined && widthOf(joined) <= columns) lines.splice(-1, 1, joined)
    else lines.push(...wrap(figure, columns))
  }
  return lines
}

function taskWords({ mode, round, state, outcome, deliveryError }: NonNullable<RunView['task']>) {
  const end = outcome ?? `in ${state}`
  return `${mode}, round ${round}, ${end}${deliveryError === null ? '' : ', not handed in'}`
}

function storyLines(stories: readonly StoryView[], style: Style, linesMax: number): string[] {
  const shown =
    stories.length <= linesMax
      ? stories
      : [...stories.filter((story) => !isStoryOver(story)), ...stories.filter(isStoryOver)].slice(
          0,
          linesMax - 1,
        )
  const width = Math.max(0, ...shown.map(({ id }) => widthOf(printable(id))))
  const lines = shown.map((story) => {
    const { id, title, state, coder, activity, attempts, dependsOn, failedDependencies } = story
    const mark = MARKS[state] ?? '?'
    const paint = state === 'MERGED' ? style.good : state === 'FAILED' ? style.warn : plain
    const doing = coder === null ? '' : `${coder} ${activity ?? ''}`
    const waits = state === 'BLOCKED' ? `waits for ${dependsOn.join(', ')}` : ''
    const trouble = failedDependencies.length > 0 ? `failed: ${failedDependencies.join('; ')}` : ''
    const attempt = UNDER_WAY.includes(state) ? attempts + 1 : attempts
    const again = attempts > 0 && state !== 'MERGED' ? `attempt ${attempt}` : ''
    const detail = [doing || state.toLowerCase(), again, trouble || waits]
      .filter(Boolean)
      .join(', ')
    return `${paint(mark)} ${padTo(printable(id), width)}  ${printable(title)}  ${style.dim(printable(detail))}`
  })
  const hidden = stories.length - shown.length
  return hidden > 0 ? [...lines, style.dim(`  and ${hidden} more`)] : lines
}

const plain = (text: string) => text

/** Those at work, in as many lines as there may be, but at least one. */
function agentLines({ agents }: RunView, style: Style, linesMax: number): string[] {
  const busy = agents.filter(({ state }) => state !== 'WAITING' && state !== 'DONE')
  const idle = agents.length - busy.length
  const lines = busy.map(({ id, state, story, turn, generation, isHalted, outage }) => {
    const thinks = turn === null ? '' : `turn ${turn}`
    const what = [story, thinks, isHalted ? 'halted' : '', outage]
    const detail = what.filter(Boolean).join(', ')
    const again = generation > 1 ? style.dim(` #${generation}`) : ''
    const paint = state === 'SUSPEND' || state === 'ERROR' || isHalted ? style.warn : plain
    return `  ${padTo(printable(id), 12)} ${paint(state.padEnd(14))} ${style.dim(printable(detail))}${again}`
  })
  const isAll = lines.length + Math.min(1, idle) <= linesMax
  const shown = isAll ? lines : lines.slice(0, Math.max(0, linesMax - 1))
  const hidden = lines.length - shown.length
  const working = `${shown.length > 0 ? `and ${hidden} more` : hidden} at work`
  const others = [hidden > 0 ? working : '', idle > 0 ? `${idle} idle` : ''].filter(Boolean)
  return others.length === 0 ? shown : [...shown, style.dim(`  ${others.join(', ')}`)]
}
