import { setTimeout as sleep } from 'node:timers/promises'
import { styleFor } from '../style.ts'
import { drawBoard } from './board.ts'
import { newsOf } from './news.ts'
import type { RunSource } from './run-source.ts'
import { type RunView, viewRun } from './run-view.ts'

/** How a run is followed. */
export interface FollowSettings {
  /** `board` redraws a picture; `lines` prints what happens; `silent` only waits. */
  readonly as: 'board' | 'lines' | 'silent'
  readonly out: NodeJS.WriteStream
  readonly hint: string
  /** Ends the following, and not the run. */
  readonly signal: AbortSignal
  /** Told every view, for those who act on what they see. */
  readonly onView?: (view: RunView) => void
}

const POLL_MS = 120
const ROWS_AT_ONCE = 2_000
const NEWS_KEPT = 40

/** Follows a run until it is over, needs a human alone, or nobody watches any more. */
export async function followRun(
  source: RunSource,
  run: string,
  settings: FollowSettings,
): Promise<RunView> {
  const { as, out, signal, hint } = settings
  const style = styleFor(out)
  const news: string[] = []
  const screen = new Screen(out)
  let afterSeq = 0
  for (;;) {
    const rows = await source.rows(run, afterSeq, ROWS_AT_ONCE)
    for (const row of rows) {
      afterSeq = row.seq
      const line = newsOf(row)
      if (line === undefined) continue
      if (as === 'lines') out.write(`${line}\n`)
      news.push(line)
    }
    news.splice(0, news.length - NEWS_KEPT)
    const view = await readView(source, run)
    settings.onView?.(view)
    if (as === 'board') {
      const { columns = 100, rows: height = 40 } = out
      const nowMs = Date.now()
      screen.draw(drawBoard(view, { style, columns, rows: height, nowMs, news, hint }))
    }
    const isOver = view.status === 'done' || view.status === 'failed' || view.status === 'stopped'
    if ((isOver && rows.length < ROWS_AT_ONCE) || signal.aborted) return view
    await sleep(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

/** A run as it is now. */
export async function readView(source: RunSource, run: string): Promise<RunView> {
  const [runs, agents, effects] = await Promise.all([
    source.runs(),
    source.agents(run),
    source.effects(run),
  ])
  const found = runs.find(({ id }) => id === run)
  if (found === undefined) throw new Error(`there is no run ${run}`)
  return viewRun(found, agents, effects)
}

/** Lines that are drawn over the ones before them. */
class Screen {
  readonly #out: NodeJS.WriteStream
  #height = 0

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
  }

  draw(lines: readonly string[]): void {
    const up = this.#height > 0 ? `\x1b[${this.#height}A` : ''
    const drawn = lines.map((line) => `\x1b[2K${line}\n`).join('')
    this.#out.write(`${up}${drawn}\x1b[J`)
    this.#height = lines.length
  }
}
