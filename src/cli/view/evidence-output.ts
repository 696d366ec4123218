import { styleFor } from '../style.ts'
import { columnsOf } from '../terminal-size.ts'
import { gatherEvidence } from './evidence.ts'
import { evidenceHtml } from './evidence-html.ts'
import { evidenceMarkdown, printEvidence } from './evidence-text.ts'
import type { RunSource } from './run-source.ts'

/** The evidence of a run in the form that was asked for, with a line break at its end. */
export async function evidenceFor(
  source: RunSource,
  run: string,
  form: 'text' | 'markdown' | 'json' | 'html',
): Promise<string> {
  const evidence = await gatherEvidence(source, run)
  switch (form) {
    case 'json':
      return `${JSON.stringify(evidence, null, 2)}\n`
    case 'markdown':
      return evidenceMarkdown(evidence)
    case 'html':
      return evidenceHtml(evidence)
    case 'text':
      return `${printEvidence(evidence, styleFor(process.stdout), columnsOf(process.stdout, 100))}\n`
  }
}
