import { EXIT_CODE } from './exit-code.ts'
import type { StateOptions } from './state-folder.ts'
import { newsOf } from './view/news.ts'
import { chooseRun } from './view/open-source.ts'
import { readView } from './view/read-view.ts'

export interface LogsOptions extends StateOptions {
  readonly follow?: true
  readonly json?: true
}

const PAGE_ROWS = 2_000
const POLL_MS = 300

/** `slipway logs [run]`: what happened, a line for each transition; `-f` goes on. */
export async function logs(name: string | undefined, options: LogsOptions): Promise<number> {
  const { source, run, close } = await chooseRun(name, options)
  const leaving = new AbortController()
  process.once('SIGINT', () => leaving.abort())
  try {
    let afterSeq = 0
    for (;;) {
      const rows = await source.rows(run, afterSeq, PAGE_ROWS)
      for (const row of rows) {
        afterSeq = row.seq
        const line = options.json ? JSON.stringify(row) : newsOf(row)
        if (line !== undefined) process.stdout.write(`${line}\n`)
      }
      if (rows.length > 0) continue
      const { status } = await readView(source, run)
      const isOver = status === 'done' || status === 'failed' || status === 'stopped'
      if (!options.follow || isOver || leaving.signal.aborted) return EXIT_CODE.done
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  } finally {
    await close()
  }
}
