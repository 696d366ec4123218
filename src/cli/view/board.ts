import { printable } from '../printable.ts'
import type { Style } from '../style.ts'
import { printDuration, printMoney } from './figures.ts'
import { budgetHint, failureReason } from './run-end.ts'
import { isStoryOver, type RunView, type StoryView, storiesLeft } from './run-view.ts'

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

/** A sequence that changes the style of what follows. */
const STYLING = new RegExp(`(${'\x1b'}\\[[0-9;]*m)`)

const BAR_CELLS = 24
const BAR_CELLS_MIN = 8
const BETWEEN = '  '
const NEWS_SHOWN = 6

/** The run as lines that fit the terminal: stories, agents, spend, what is left, what is asked. */
export function drawBoard(view: RunView, settings: BoardSettings): string[] {
  const { style, columns, rows, news, hint } = settings
  const head = headLine(view, settings)
  const questions = questionLines(view, settings)
  const agents = agentLines(view, style)
  const fixed = 4 + agents.length + questions.length + Math.min(news.length, NEWS_SHOWN) + 3
  const stories = storyLines(view.stories, style, Math.max(3, rows - fixed))
  const lines = [
    head,
    '',
    ...stories,
    '',
    ...agents,
    ...(questions.length > 0 ? ['', ...questions] : []),
    '',
    ...news.slice(-NEWS_SHOWN).map((line) => style.dim(line)),
    style.dim(hint),
  ]
  return lines.map((line) => cut(line, columns)).slice(0, Math.max(1, rows - 1))
}

/** What is asked, and why it failed, each with what to type; a command that does not fit would be no use. */
function questionLines(view: RunView, { style, isAskedElsewhere }: BoardSettings): string[] {
  const hint = budgetHint(view)
  const isOne = view.questions.length === 1 && !isAskedElsewhere
  const asked = view.questions.flatMap(({ id, question, choices }) => {
    const [example = '…'] = choices
    const which = isOne ? '' : `${id} `
    return [
      style.warn(`? ${firstLine(question)}`),
      ...(choices.length > 0 ? [style.dim(`  ${choices.map(printable).join(' | ')}`)] : []),
      style.dim(`  slipway answer ${which}${printable(JSON.stringify(example))}`),
    ]
  })
  const told = [failureReason(view), hint].filter((line) => line !== undefined)
  return [...asked, ...told.map((line) => style.warn(`! ${line}`))]
}

/** Where it is narrow, the bar and then the run's name give way: how it stands is never cut off. */
function headLine(view: RunView, { style, nowMs, columns: width }: BoardSettings): string {
  const columns = width - 1
  const { stories, spent, startedMs, endedMs, status, task } = view
  const left = storiesLeft(view)
  const done = stories.length - left
  const count = stories.length === 0 ? 'spec under review' : `${done} of ${stories.length} stories`
  const run = printable(view.run)
  const time = printDuration((endedMs ?? nowMs) - startedMs)
  const what = task === null ? count : taskWords(task)
  const figures = [what, printMoney(spent), time].join(BETWEEN)
  const others = status.length + figures.length + 2 * BETWEEN.length + 1
  const wanted = Math.max(BAR_CELLS_MIN, Math.min(BAR_CELLS, columns - others - run.length))
  // A task has no parts of which some could be done.
  const cells = task === null ? wanted : 0
  const full = stories.length === 0 ? 0 : Math.round((done / stories.length) * cells)
  const bar = `${'█'.repeat(full)}${'░'.repeat(cells - full)} `
  const room = Math.max(1, columns - others - cells)
  const name = run.length <= room ? run : `${run.slice(0, room - 1)}…`
  return [style.bold(name), status, `${bar.trimStart()}${figures}`].join(BETWEEN)
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
  const width = Math.max(0, ...shown.map(({ id }) => id.length))
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
    return `${paint(mark)} ${printable(id).padEnd(width)}  ${printable(title)}  ${style.dim(printable(detail))}`
  })
  const hidden = stories.length - shown.length
  return hidden > 0 ? [...lines, style.dim(`  and ${hidden} more`)] : lines
}

const plain = (text: string) => text

function agentLines({ agents }: RunView, style: Style): string[] {
  const busy = agents.filter(({ state }) => state !== 'WAITING' && state !== 'DONE')
  const idle = agents.length - busy.length
  const lines = busy.map(({ id, state, story, turn, generation, isHalted, outage }) => {
    const thinks = turn === null ? '' : `turn ${turn}`
    const what = [story, thinks, isHalted ? 'halted' : '', outage]
    const detail = what.filter(Boolean).join(', ')
    const again = generation > 1 ? style.dim(` #${generation}`) : ''
    const paint = state === 'SUSPEND' || state === 'ERROR' || isHalted ? style.warn : plain
    return `  ${printable(id).padEnd(12)} ${paint(state.padEnd(14))} ${style.dim(printable(detail))}${again}`
  })
  return idle > 0 ? [...lines, style.dim(`  ${idle} idle`)] : lines
}

function firstLine(text: string): string {
  return printable(text.split('\n')[0] ?? '')
}

/** A line of at most so many columns; styles take none. */
function cut(line: string, columns: number): string {
  let width = 0
  let out = ''
  for (const part of line.split(STYLING)) {
    if (part.startsWith('\x1b[')) {
      out += part
      continue
    }
    for (const character of part) {
      if (width >= columns - 1) continue
      out += character
      width += 1
    }
  }
  return out
}
