import { setTimeout as sleep } from 'node:timers/promises'
import type { RunStatus, StoredRow } from '../../runtime/records.ts'
import type { Health } from '../../runtime/runtime.ts'
import { waitOf } from '../engine/lack-of-room.ts'
import { printable } from '../printable.ts'
import { styleFor } from '../style.ts'
import { columnsOf, rowsOf } from '../terminal-size.ts'
import { drawBoard } from './board.ts'
import { newsOf } from './news.ts'
import { asksElsewhere, readJudgedView } from './read-view.ts'
import type { RunSource } from './run-source.ts'
import type { RunView } from './run-view.ts'

/** How a run is followed. */
export interface FollowSettings {
  /** `board` redraws a picture; `lines` prints what happens; `silent` only waits. */
  readonly as: 'board' | 'lines' | 'silent'
  readonly out: NodeJS.WriteStream
  readonly hint: string
  /** Whether nobody is there to do something about a run that cannot go on by itself. */
  readonly isUnattended?: boolean
  /** Whether who works on the run is in this process, and stays while it is paused. */
  readonly isWorkHere?: boolean
  /** Ends the following, and not the run. */
  readonly signal: AbortSignal
  /** Told every view, for those who act on what they see. */
  readonly onView?: (view: RunView) => void
  /** What to know when somebody is first seen suspended. */
  readonly describeOutage?: (view: RunView) => Promise<string>
  /** How who works on the run is doing; nobody says where it is absent. */
  readonly readHealth?: () => Promise<Health | null>
  /** Waited for before the board is drawn; true when the terminal was used for something else. */
  readonly attend?: (view: RunView) => Promise<boolean>
}

const POLL_MS = 120
/** Looking takes at most this share of the time, however many agents a run has. */
const LOOK_SHARE_MAX = 0.1
const ROWS_AT_ONCE = 2_000
const NEWS_KEPT = 40
/** As often as that it is asked whether anything goes on. */
const HEALTH_MS = 1_000
/** Mail may be on its way, and whoever is halted is revived. */
const SETTLE_MS = 2_500

/** What is seen of a run at the end, and whether its services stayed away for too long. */
export type Followed = RunView & { readonly isOut: boolean }

/**
 * Follows a run until it is over, paused, or nobody watches any more; unattended, also until only a
 * human can go on, or the services have been waited for in vain.
 */
export async function followRun(
  source: RunSource,
  run: string,
  settings: FollowSettings,
): Promise<Followed> {
  const { as, out, signal, hint, isUnattended = false, isWorkHere = false } = settings
  const outage = new Outage()
  const standstill = new Standstill(settings.readHealth)
  let restsSinceMs = Infinity
  const style = styleFor(out)
  const news: string[] = []
  const tell = (line: string | undefined) => {
    if (line === undefined) return
    if (as === 'lines') out.write(`${line}\n`)
    news.push(line)
  }
  const screen = new Screen(out)
  const viewer = new Viewer(source, run)
  let afterSeq = 0
  for (;;) {
    let lookedMs = performance.now()
    const rows = await source.rows(run, afterSeq, ROWS_AT_ONCE)
    for (const row of rows) {
      afterSeq = row.seq
      outage.note(row)
      tell(newsOf(row))
    }
    const view = await viewer.view(rows.length > 0)
    tell(await standstill.look())
    if (outage.isFirstSeen(view)) tell(await settings.describeOutage?.(view))
    news.splice(0, news.length - NEWS_KEPT)
    settings.onView?.(view)
    if (as === 'board') {
      const attendedMs = performance.now()
      if (await settings.attend?.(view)) screen.forget()
      // Whoever types an answer takes their time, which is none of looking.
      lookedMs += performance.now() - attendedMs
      const nowMs = Date.now()
      const isAskedElsewhere = await asksElsewhere(source, view)
      const size = { columns: columnsOf(out, 100), rows: rowsOf(out, 40) }
      screen.draw(drawBoard(view, { style, ...size, nowMs, news, hint, isAskedElsewhere }))
    }
    const isOut = outage.holds(view)
    const seen = { ...view, isOut }
    if (signal.aborted) return seen
    const isOver = view.status === 'done' || view.status === 'stopped'
    const isStuck = view.status === 'failed' || (isUnattended && view.status === 'waiting')
    const isPaused = view.status === 'paused' && !isWorkHere
    restsSinceMs = isStuck || isPaused ? Math.min(restsSinceMs, Date.now()) : Infinity
    const isSettled = Date.now() - restsSinceMs > SETTLE_MS
    if (rows.length < ROWS_AT_ONCE && (isOver || isSettled || (isUnattended && isOut))) return seen
    const restMs = (performance.now() - lookedMs) / LOOK_SHARE_MAX
    await sleep(Math.max(POLL_MS, restMs), undefined, { signal }).catch(() => {})
  }
}

/** A run as it is, read anew only when something has happened in it. */
class Viewer {
  readonly #source: RunSource
  readonly #run: string
  #known: { readonly view: RunView; readonly status: RunStatus | undefined } | undefined

  constructor(source: RunSource, run: string) {
    this.#source = source
    this.#run = run
  }

  async view(hasNews: boolean): Promise<RunView> {
    // That it was paused is in no row.
    const status = (await this.#source.runs()).find(({ id }) => id === this.#run)?.status
    if (this.#known === undefined || hasNews || status !== this.#known.status) {
      this.#known = { view: await readJudgedView(this.#source, this.#run), status }
    }
    return this.#known.view
  }
}

/** Whether the services were out for as long as they are waited for, and still are. */
class Outage {
  #hasTimedOut = false
  #isSeen = false

  note({ kind, move }: StoredRow): void {
    if (kind !== 'moved') return
    if (move === 'suspension_timed_out') this.#hasTimedOut = true
    else if (move === 'service_restored') this.#hasTimedOut = false
  }

  /** True once, when somebody is suspended. */
  isFirstSeen({ agents }: RunView): boolean {
    const wasSeen = this.#isSeen
    this.#isSeen ||= agents.some(({ state }) => state === 'SUSPEND')
    return this.#isSeen && !wasSeen
  }

  holds({ agents }: RunView): boolean {
    return this.#hasTimedOut && agents.some(({ state }) => state === 'SUSPEND')
  }
}

/** Whether who works on a run waits for its disk, which is in no row. */
class Standstill {
  readonly #readHealth: FollowSettings['readHealth']
  #lookedMs = 0
  /** At how many looks in a row. */
  #seen = 0

  constructor(readHealth: FollowSettings['readHealth']) {
    this.#readHealth = readHealth
  }

  /** What is new of that; a wait that is over by the next look is nothing to tell of. */
  async look(): Promise<string | undefined> {
    if (this.#readHealth === undefined || Date.now() - this.#lookedMs < HEALTH_MS) return undefined
    this.#lookedMs = Date.now()
    const health = await this.#readHealth()
    // Who does not say how it is may be gone; that one goes on no more than one that has failed.
    if (health === null || health.state === 'failed') return undefined
    const wait = waitOf(health)
    const before = this.#seen
    this.#seen = wait === undefined ? 0 : before + 1
    if (wait !== undefined) return before === 1 ? printable(`It waits: ${wait}`) : undefined
    return before > 1 ? 'It waits no longer, and goes on.' : undefined
  }
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
    // A terminal that finds a sign wider than we do cuts the line, and does not break it.
    this.#out.write(`\x1b[?7l${up}${drawn}\x1b[J\x1b[?7h`)
    this.#height = lines.length
  }

  /** What is drawn next goes below what is there. */
  forget(): void {
    this.#height = 0
  }
}
