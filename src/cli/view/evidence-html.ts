import type { Evidence, StoryEvidence } from './evidence.ts'
import { testsInWords } from './evidence-text.ts'

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid #8884 }
code { font-size: .9em }
.shown { color: #1a7f37 } .not_shown { color: #cf222e; font-weight: 600 } .waived { color: #9a6700 }
`

/** The evidence as a page of its own: no script, nothing from elsewhere. */
export function evidenceHtml({ title, run, criteria, isComplete }: Evidence): string {
  const rows = criteria.map(({ id, text, verdict, stories }) => {
    const told = stories.map(storyCell).join('<br>') || 'no story'
    const name = verdict === 'not_shown' ? 'not shown' : verdict
    return `<tr><td>${escapeHtml(id)}</td><td>${escapeHtml(text)}</td><td class="${verdict}">${name}</td><td>${told}</td></tr>`
  })
  const summary = isComplete
    ? 'Every criterion is shown or waived.'
    : 'Not every criterion is shown.'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Evidence: ${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Evidence: ${escapeHtml(title)}</h1>
<p>Run <code>${escapeHtml(run)}</code>. ${summary}</p>
<table>
<thead><tr><th></th><th>Criterion</th><th>Verdict</th><th>Story, commit and tests at that commit</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</body>
</html>
`
}

function storyCell({ id, title, state, commit, tests }: StoryEvidence): string {
  const tested = tests === null ? '' : `, ${escapeHtml(testsInWords(tests))}`
  const nothing = state === 'MERGED' ? ', nothing to change' : ''
  const at = commit === null ? nothing : `, <code>${escapeHtml(commit.slice(0, 10))}</code>`
  return `${escapeHtml(id)}: ${escapeHtml(title)} (${escapeHtml(state.toLowerCase())})${at}${tested}`
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
