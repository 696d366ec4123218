import { expect, test } from 'vitest'
import { readResetMs } from './reset-time.ts'

const NOW_MS = Date.parse('2026-11-16T15:48:20Z')

/** The moment until which is waited. */
function endOf(message: string, nowMs = NOW_MS): string | undefined {
  const waitMs = readResetMs(message, nowMs)
  return waitMs === undefined ? undefined : new Date(nowMs + waitMs).toISOString()
}

// The minute that is named has to be over.
test.each([
  ['resets 5:48pm (UTC)', '2026-11-16T17:49:00.000Z'],
  ['resets 5pm (UTC)', '2026-11-16T17:01:00.000Z'],
  ['resets 12pm (UTC)', '2026-11-17T12:01:00.000Z'],
  ['resets 12:30am (UTC)', '2026-11-17T00:31:00.000Z'],
  ['resets 5:48pm (Europe/Berlin)', '2026-11-16T16:49:00.000Z'],
  ['resets 9:30pm (Asia/Kolkata)', '2026-11-16T16:01:00.000Z'],
  ['resets 11am (America/Argentina/Buenos_Aires)', '2026-11-17T14:01:00.000Z'],
  ['resets Nov 19, 3:58pm (UTC)', '2026-11-19T15:59:00.000Z'],
  ['resets Nov 19 at 3pm (America/New_York)', '2026-11-19T20:01:00.000Z'],
  ['resets Nov 19, 3:00 PM (UTC)', '2026-11-19T15:01:00.000Z'],
  ['resets Jan 2, 2027, 9am (UTC)', '2027-01-02T09:01:00.000Z'],
])('%s', (words, end) => {
  expect(endOf(`You've hit your limit · ${words} · progress saved`)).toBe(end)
})

/** As people write it here, who have no zone to name. */
function saidHere(timeMs: number): string {
  const shown = new Date(timeMs).toLocaleString('en-US', { hour: 'numeric', minute: '2-digit' })
  return shown.replace(/\s/, ' ')
}

const HOUR_MS = 3_600_000

test.each([
  (time: string) => `You've hit your usage limit. Try again at ${time}.`,
  (time: string) => `5-hour limit reached ∙ resets ${time.replace(' ', '').toLowerCase()}`,
  (time: string) => `Session limit reached ∙ resets at ${time}`,
])('a time of today by the clock of this machine: %s', (say) => {
  const soonMs = Math.floor(NOW_MS / HOUR_MS) * HOUR_MS + 3 * HOUR_MS
  expect(endOf(say(saidHere(soonMs)))).toBe(new Date(soonMs + 60_000).toISOString())
})

test('a day by the clock of this machine, without a year', () => {
  const end = new Date(2026, 10, 19, 17, 1).toISOString()
  expect(endOf('Weekly limit reached ∙ resets Nov 19 at 5pm')).toBe(end)
})

test('a time in seconds', () => {
  expect(endOf('Claude AI usage limit reached|1794848400')).toBe('2026-11-16T17:00:00.000Z')
  expect(endOf('Claude AI usage limit reached|1794800000')).toBeUndefined()
})

test('a time by the clock of this machine', () => {
  const hour = Math.floor(NOW_MS / 3_600_000) * 3_600_000
  const [soonMs, thenMs] = [hour + 3 * 3_600_000, hour + 50 * 3_600_000]
  const words = `You’ve hit your usage limit. Upgrade to Pro or try again at`
  expect(endOf(`${words} ${saidHere(soonMs)}.`)).toBe(new Date(soonMs + 60_000).toISOString())
  const date = new Date(thenMs)
  const month = date.toLocaleString('en-US', { month: 'short' })
  const day = `${month} ${date.getDate()}th, ${date.getFullYear()}`
  const end = new Date(thenMs + 60_000).toISOString()
  expect(endOf(`${words} ${day} ${saidHere(thenMs)}.`)).toBe(end)
})

test('a clock that is put back meanwhile', () => {
  const nowMs = Date.parse('2026-10-31T16:00:00Z')
  expect(endOf('resets Nov 1, 3pm (America/New_York)', nowMs)).toBe('2026-11-01T20:01:00.000Z')
})

test.each([
  'resets 3:48pm (UTC)',
  'resets 3:10pm (UTC)',
  'resets Nov 15, 3pm (UTC)',
  'resets Foo 19, 3pm (UTC)',
  'resets 5:48pm (Nowhere/Land)',
  'resets 5:48pm (by the clock)',
  'resets 5:48 pmx',
  'resets 17:48 (UTC)',
  'resets 13pm (UTC)',
  'resets 5:60pm (UTC)',
  'resets soon',
])('is not guessed: %s', (words) => {
  expect(endOf(words)).toBeUndefined()
})
