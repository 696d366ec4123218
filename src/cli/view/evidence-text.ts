import { layOut } from '../columns.ts'
import { printable } from '../printable.ts'
import type { Style } from '../style.ts'
import type { CriterionEvidence, Evidence, StoryEvidence } from './evidence.ts'

const VERDICTS: Readonly<Record<CriterionEvidence['verdict'], string>> = {
  shown: 'shown',
  not_shown: 'NOT SHOWN',
  waived: 'waived',
}

/** The evidence as a table for a terminal. */
export function printEvidence({ title, criteria }: Evidence, style: Style, width: number): string {
  const rows = criteria.flatMap((criterion) => {
    const [first, ...others] = criterion.stories
    const head = [criterion.id, oneLine(criterion.text), VERDICTS[criterion.verdict]]
    const rest = others.map((story) => ['', '', '', ...cellsOf(story)])
    return [[...head, ...(first === undefined ? ['no story', '', ''] : cellsOf(first))], ...rest]
  })
  const table = layOut(
    [['', 'CRITERION', 'VERDICT', 'STORY', 'COMMIT', 'TESTS AT THAT COMMIT'], ...rows],
    width,
    [style.dim, undefined, style.bold].map((paint) => paint ?? ((text: string) => text)),
  )
  return `${style.bold(`Evidence: ${printable(title)}`)}\n${table}`
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

function cellsOf({ id, state, commit, tests }: StoryEvidence): string[] {
  const counts = tests?.counts
  const figures = counts ? ` (${counts.passed} passed, ${counts.failed} failed)` : ''
  return [
    state === 'MERGED' ? printable(id) : `${printable(id)} (${state.toLowerCase()})`,
    commit?.slice(0, 10) ?? (state === 'MERGED' ? 'nothing to change' : ''),
    tests === null ? '' : `${tests.verdict}${figures}`,
  ]
}

function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' ').trim())
}
