import { layOut } from '../columns.ts'
import { printable } from '../printable.ts'
import type { Style } from '../style.ts'
import { widthOf, wrap } from '../terminal-text.ts'
import type { CriterionEvidence, Evidence, StoryEvidence, TestEvidence } from './evidence.ts'

const VERDICTS: Readonly<Record<CriterionEvidence['verdict'], string>> = {
  shown: 'shown',
  not_shown: 'NOT SHOWN',
  waived: 'waived',
}

const HEADS = ['', 'CRITERION', 'VERDICT', 'STORY', 'COMMIT', 'TESTS AT THAT COMMIT']

/** A table of fewer columns would have a word or two in each line of a cell. */
const TABLE_WIDTH_MIN = 76

/** The evidence for a terminal: a table, or where that would not fit a list. */
export function printEvidence({ title, criteria }: Evidence, style: Style, width: number): string {
  const rows = [HEADS, ...criteria.flatMap(rowsOf)]
  const isFit = layOut(rows, width)
    .split('\n')
    .every((line) => widthOf(line) <= width)
  const evidence =
    isFit && width >= TABLE_WIDTH_MIN
      ? layOut(rows, width, [style.dim, (text) => text, style.bold])
      : layOut(criteria.flatMap(itemOf), width, [style.dim])
  const heading = wrap(`Evidence: ${oneLine(title)}`, width).map(style.bold)
  return `${heading.join('\n')}\n${evidence}`
}

function rowsOf({ id, text, verdict, stories }: CriterionEvidence): string[][] {
  const [first, ...others] = stories
  const head = [id, oneLine(text), VERDICTS[verdict]]
  const rest = others.map((story) => ['', '', '', ...cellsOf(story)])
  return [[...head, ...(first === undefined ? ['no story', '', ''] : cellsOf(first))], ...rest]
}

/** A criterion, and below it what shows it. */
function itemOf({ id, text, verdict, stories }: CriterionEvidence): string[][] {
  const told = stories.map((story) => cellsOf(story).filter(Boolean).join(', '))
  const shown = (told.length === 0 ? ['no story'] : told).map((words) => [
    '',
    `${VERDICTS[verdict]}: ${words}`,
  ])
  return [[id, oneLine(text)], ...shown]
}

/** The evidence as Markdown. */
export function evidenceMarkdown({ title, run, criteria, isComplete }: Evidence): string {
  const cell = (text: string) => oneLine(text).replaceAll('|', '\\|')
  const lines = criteria.flatMap((criterion) => {
    const stories = criterion.stories.length === 0 ? [undefined] : criterion.stories
    return stories.map((story) => {
      const cells = story === undefined ? ['no story', '', ''] : cellsOf(story)
      const all = [criterion.id, criterion.text, VERDICTS[criterion.verdict], ...cells]
      return `| ${all.map(cell).join(' | ')} |`
    })
  })
  return [
    `# Evidence: ${oneLine(title)}`,
    '',
    `Run \`${run}\`. ${isComplete ? 'Every criterion is shown or waived.' : 'Not every criterion is shown.'}`,
    '',
    '| | criterion | verdict | story | commit | tests at that commit |',
    '| --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
  ].join('\n')
}

/** What the tests came to, and whether there were more of them than before; nothing where none ran. */
export function testsInWords(tests: TestEvidence | null): string {
  if (tests === null) return ''
  const { verdict, counts, more } = tests
  if (counts === null) return verdict
  return `${verdict} (${counts.passed} passed, ${counts.failed} failed${moreInWords(more)})`
}

function moreInWords(more: number | null): string {
  if (more === null) return ''
  if (more === 0) return ', no test more than before'
  const count = Math.abs(more)
  return `, ${count} ${count === 1 ? 'test' : 'tests'} ${more > 0 ? 'more' : 'fewer'} than before`
}

function cellsOf({ id, state, commit, tests }: StoryEvidence): string[] {
  return [
    state === 'MERGED' ? printable(id) : `${printable(id)} (${state.toLowerCase()})`,
    commit?.slice(0, 10) ?? (state === 'MERGED' ? 'nothing to change' : ''),
    testsInWords(tests),
  ]
}

function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' ').trim())
}
