import { printable } from '../printable.ts'
import type { Style } from '../style.ts'
import { cut, padTo, widthOf, wrap, wrapShort } from '../terminal-text.ts'
import { leastQuestionLines, type QuestionSettings, questionLines } from './board-questions.ts'
import { printDuration, printMoney, printTime } from './figures.ts'
import { isStoryOver, type RunView, type StoryView, storiesLeft } from './run-view.ts'

/** What the board is drawn with. */
export interface BoardSettings extends QuestionSettings {
  readonly rows: number
  readonly nowMs: number
  /** The last things that happened, newest last. */
  readonly news: readonly string[]
  readonly hint: string
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

/** Who is waited for, where the view has no name. */
const WAITED_FOR: Readonly<Record<string, string>> = { human: 'you', architect: 'an architect' }

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
/** Empty lines, of which one is before each part: stories, agents, questions, news with keys. */
const GAPS = 4
/** The states in which a board has no use for keys: it is about to end. */
const OVER: readonly RunView['status'][] = ['done', 'failed', 'stopped']

/**
 * The run as lines that fit the terminal: stories, agents, spend, what is left, what is asked.
 * Where room is short, log lines go first, then agents, then stories, then all of what is asked but
 * its first line and its choices, then what the keys do, and the head line never.
 */
export function drawBoard(view: RunView, settings: BoardSettings): string[] {
  const { style, columns, rows, news } = settings
  const room = Math.max(1, rows - 1)
  const head = headFor(view, settings, room - leastFoot(view, settings))
  const { questions, keys } = drawFoot(view, settings, room - head.length)
  const below = room - head.length - questions.length - keys.length
  const count = view.stories.length
  const left = below - Math.max(0, Math.min(GAPS, below - Math.min(count, STORIES_MIN) - 1))
  // One line is too little for stories.
  const agentsMin = left > Math.min(count, STORIES_MIN) || left === 1 ? 1 : 0
  const agentsMax = Math.max(agentsMin, left - Math.min(count, STORIES_FIRST))
  const agents = agentLines(view, style, agentsMax)
  const stories = storyLines(view.stories, style, left - agents.length)
  const newsMax = Math.max(0, Math.min(NEWS_SHOWN, left - agents.length - stories.length))
  const end = [...news.slice(news.length - Math.min(news.length, newsMax)), ...keys]
  const parts = [stories, agents, questions, end.map((line) => style.dim(line))]
  return [...head, ...spaced(parts, room - head.length)].map((line) => cut(line, columns - 1))
}

/** The lines of the parts, with an empty one before as many of the last of them as there is room for. */
function spaced(parts: readonly string[][], room: number): string[] {
  const shown = parts.filter((lines) => lines.length > 0)
  const first = shown.length - Math.max(0, room - shown.flat().length)
  return shown.flatMap((lines, i) => (i < first ? lines : ['', ...lines]))
}

/** What is asked, and what the keys do: in one line, or none, where the questions need the room. */
function drawFoot(view: RunView, settings: BoardSettings, room: number) {
  const { hint, columns } = settings
  const withKeys = (keys: readonly string[]) => {
    const most = Math.max(0, room - keys.length)
    const wanted = most - GAPS - STORIES_MIN - 1
    return { keys, questions: questionLines(view, settings, { wanted, most }) }
  }
  if (!hasKeys(view, settings) || room < leastFoot(view, settings)) return withKeys([])
  const whole = withKeys(wrap(hint, columns - 1))
  const short = withKeys(wrapShort(hint, columns - 1, 1))
  const isEnough = whole.questions.length >= short.questions.length
  return isEnough && whole.keys.length <= room ? whole : short
}

function leastFoot(view: RunView, settings: BoardSettings): number {
  return leastQuestionLines(view, settings) + (hasKeys(view, settings) ? 1 : 0)
}

function hasKeys({ status }: RunView, { hint }: BoardSettings): boolean {
  return !OVER.includes(status) && hint !== ''
}

/** The head in at most so many lines, but at least one. */
function headFor(view: RunView, settings: BoardSettings, linesMax: number): string[] {
  const head = headLines(view, settings)
  if (head.length <= linesMax) return head
  const mark = ' …'
  const narrow = { ...settings, columns: settings.columns - mark.length }
  const lines = headLines(view, narrow).slice(0, Math.max(1, linesMax))
  return lines.map((line, i) => (i === lines.length - 1 ? line + mark : line))
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

/** Those that fit, and how many do not; nothing where that would be all. */
function storyLines(stories: readonly StoryView[], style: Style, linesMax: number): string[] {
  if (stories.length > linesMax && linesMax < 2) return []
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

/** Those at work, in as many lines as there may be. */
function agentLines({ agents }: RunView, style: Style, linesMax: number): string[] {
  if (linesMax < 1) return []
  const busy = agents.filter(({ state }) => state !== 'WAITING' && state !== 'DONE')
  const idle = agents.length - busy.length
  const lines = busy.map((agent) => {
    const { id, state, story, turn, waitsFor, generation, isHalted, outage, outageUntilMs } = agent
    const thinks = turn === null ? '' : `turn ${turn}`
    const waits = waitsFor === null ? '' : `waits for ${WAITED_FOR[waitsFor] ?? waitsFor}`
    const until = outageUntilMs == null ? '' : `until ${printTime(outageUntilMs)}`
    const what = [story, thinks, waits, isHalted ? 'halted' : '', until, outage]
    const detail = what.filter(Boolean).join(', ')
    const again = generation > 1 ? style.dim(` #${generation}`) : ''
    const paint = state === 'SUSPEND' || state === 'ERROR' || isHalted ? style.warn : plain
    return `  ${padTo(printable(id), 12)} ${paint(state.padEnd(14))} ${style.dim(printable(detail))}${again}`
  })
  const isAll = lines.length + Math.min(1, idle) <= linesMax
  const shown = isAll ? lines : lines.slice(0, linesMax - 1)
  const hidden = lines.length - shown.length
  const working = `${shown.length > 0 ? `and ${hidden} more` : hidden} at work`
  const others = [hidden > 0 ? working : '', idle > 0 ? `${idle} idle` : ''].filter(Boolean)
  return others.length === 0 ? shown : [...shown, style.dim(`  ${others.join(', ')}`)]
}
