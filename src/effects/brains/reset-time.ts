const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/**
 * As Claude Code names it: with a date where it is more than a day off, with a year in the next. An
 * older one names no zone, and means the clock of this machine.
 */
const RESET =
  /\bresets (?:at )?(?:(?<month>[a-z]{3}) (?<day>\d{1,2})(?:, (?<year>\d{4}))?(?:,| at) )?(?<hour>1[0-2]|[1-9])(?::(?<minute>[0-5]\d))? ?(?<half>[ap]m)\b(?: \((?<zone>[\w/+-]+)\)|(?! \())/i

/** As Codex names it, by the clock of this machine; where it offers nothing else, with a capital. */
const TRY_AGAIN =
  /\btry again at (?:(?<month>[a-z]{3}) (?<day>\d{1,2})(?:st|nd|rd|th), (?<year>\d{4}) )?(?<hour>1[0-2]|[1-9]):(?<minute>[0-5]\d) (?<half>[ap]m)\b/i

/** As Claude Code named it at first: the seconds since 1970. */
const RESET_SECONDS = /\blimit reached\|(\d{10})\b/i

/**
 * How long it is until a limit "resets 5:48pm (UTC)" or "resets Nov 19, 3pm (Europe/Rome)", or one
 * may "try again at 6:23 PM", and the minute that is named is over; undefined where nothing of the
 * kind is said, or it has been.
 */
export function readResetMs(message: string, nowMs: number): number | undefined {
  const seconds = RESET_SECONDS.exec(message)?.[1]
  if (seconds !== undefined) {
    const waitMs = Number(seconds) * 1_000 - nowMs
    return waitMs > 0 ? waitMs : undefined
  }
  const said = RESET.exec(message)?.groups ?? TRY_AGAIN.exec(message)?.groups
  if (said === undefined) return undefined
  const zone = said.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  const nowWallMs = wallMsOf(nowMs, zone)
  if (nowWallMs === undefined) return undefined
  const wallMs = readWallMs(said, nowWallMs)
  if (wallMs === undefined) return undefined
  const guessMs = nowMs + wallMs - nowWallMs
  // Clocks may be put forward or back until then.
  const resetMs = guessMs + wallMs - (wallMsOf(guessMs, zone) ?? wallMs)
  return resetMs + MINUTE_MS - nowMs
}

/** What is said, on the clock on the wall. */
function readWallMs(
  { month, day, year, hour, minute, half }: Readonly<Record<string, string | undefined>>,
  nowWallMs: number,
): number | undefined {
  const hours = (Number(hour) % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0)
  const timeMs = hours * HOUR_MS + Number(minute ?? 0) * MINUTE_MS
  if (month === undefined) {
    const todayMs = nowWallMs - (nowWallMs % DAY_MS) + timeMs
    const nextMs = todayMs > nowWallMs ? todayMs : todayMs + DAY_MS
    // It was just now, more likely than that it is a whole day off.
    return nextMs - nowWallMs > 23 * HOUR_MS ? undefined : nextMs
  }
  const thisYear = new Date(nowWallMs).getUTCFullYear()
  const index = MONTHS.indexOf(month)
  const wallMs = Date.UTC(Number(year ?? thisYear), index, Number(day)) + timeMs
  return index >= 0 && wallMs > nowWallMs ? wallMs : undefined
}

/** What the clocks of a time zone show, as if it were UTC; undefined where no such zone is known. */
function wallMsOf(timeMs: number, timeZone: string): number | undefined {
  try {
    // In Swedish a time is written as in ISO 8601, but for the space in it.
    const shown = new Date(timeMs).toLocaleString('sv-SE', { timeZone })
    const wallMs = Date.parse(`${shown.replace(' ', 'T')}Z`)
    return Number.isNaN(wallMs) ? undefined : wallMs
  } catch {
    return undefined
  }
}
