import { afterEach, describe, expect, test, vi } from 'vitest'
import { TurnWatch } from '../turn-watch.ts'
import { TurnReport } from './turn-report.ts'

const LONG = { firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
const watches: TurnWatch[] = []

afterEach(() => {
  vi.useRealTimers()
  for (const watch of watches.splice(0)) watch.close()
})

function begin(timeouts = LONG, tokensMax?: number) {
  const watch = new TurnWatch(timeouts, new AbortController().signal)
  watches.push(watch)
  return { watch, report: new TurnReport(watch, { stepsMax: 3, updatesMax: 10 }, tokensMax) }
}

test.each([
  ['messages', (report: TurnReport) => report.update(), 10],
  ['requests', (report: TurnReport) => report.requested(), 3],
  ['steps', (report: TurnReport, i: number) => report.stepBegan(`step ${i}`), 3],
])('%s are bounded', (what, act, max) => {
  const { watch, report } = begin()
  for (let i = 0; i < max; i += 1) act(report, i)
  expect(watch.verdict).toBeUndefined()
  act(report, max)
  expect(watch.verdict).toMatchObject({
    kind: 'invalid_output',
    message: expect.stringContaining(`${max} ${what}`),
  })
})

test('an agent that reads no answer is ended, unless it has called', () => {
  const { watch, report } = begin()
  report.unread()
  const message = 'the agent does not read what it is answered'
  expect(watch.verdict).toEqual({ kind: 'invalid_output', message })
  const over = begin()
  over.watch.close()
  over.report.unread()
  expect(over.watch.verdict).toBeUndefined()
})

test('whoever has said how it ended is through: no clock and no budget counts any more', () => {
  vi.useFakeTimers()
  const outer = new AbortController()
  const watch = new TurnWatch(LONG, outer.signal)
  const report = new TurnReport(watch, { stepsMax: 3, updatesMax: 10 })
  report.text('Done.')
  report.through()
  report.text('Goodbye.')
  for (let i = 0; i < 20; i += 1) report.update()
  vi.advanceTimersByTime(120_000)
  expect(watch.verdict).toBeUndefined()
  outer.abort()
  expect(watch.verdict).toMatchObject({ kind: 'aborted' })
})

test.each([
  ['said', (report: TurnReport) => report.text('Hm.')],
  ['done', (report: TurnReport) => report.stepBegan('step')],
  ['asked', (report: TurnReport) => report.requested()],
])('an agent has worked once something is %s', (_, act) => {
  const { report } = begin()
  report.update()
  expect(report.hasWorked).toBe(false)
  act(report)
  expect(report.hasWorked).toBe(true)
})

describe('tokens', () => {
  const USED_UP = {
    kind: 'invalid_output',
    message: 'the agent used up 100 tokens without ending its work',
  }

  test('of one request after another are added up, until they are used up', () => {
    const { watch, report } = begin(LONG, 100)
    report.used(60)
    expect(watch.verdict).toBeUndefined()
    report.used(40)
    expect(watch.verdict).toEqual(USED_UP)
  })

  test('are without a bound where none is told', () => {
    const { watch, report } = begin()
    report.used(1_000_000_000)
    expect(watch.verdict).toBeUndefined()
  })

  test('that are used up leave a step its time, and no request after it', () => {
    const { watch, report } = begin(LONG, 100)
    report.stepBegan('a')
    report.stepBegan('b')
    report.used(100)
    report.stepEnded('a')
    expect(watch.verdict).toBeUndefined()
    report.stepEnded('b')
    expect(watch.verdict).toEqual(USED_UP)
  })

  test('that are used up allow no request while a step lasts', () => {
    const { watch, report } = begin(LONG, 100)
    report.stepBegan('an agent below it')
    report.used(100)
    report.used(1)
    expect(watch.verdict).toEqual(USED_UP)
  })

  test('in the context are those of one request until a step has ended', () => {
    const { watch, report } = begin(LONG, 100)
    report.contextIs(40)
    report.stepBegan('a')
    report.contextIs(45)
    report.contextIs(45)
    report.stepEnded('a')
    report.contextIs(50)
    report.stepBegan('b')
    expect(watch.verdict).toBeUndefined()
    report.contextIs(55)
    expect(watch.verdict).toBeUndefined()
    report.stepEnded('b')
    expect(watch.verdict).toEqual(USED_UP)
  })

  test('in the context are used up by a request that begins while a step lasts', () => {
    const { watch, report } = begin(LONG, 100)
    report.stepBegan('a')
    report.stepBegan('b')
    report.contextIs(100)
    report.stepEnded('a')
    expect(watch.verdict).toBeUndefined()
    report.contextIs(1)
    expect(watch.verdict).toEqual(USED_UP)
  })
})

test('nothing is exceeded once the turn is over', () => {
  const { watch, report } = begin(LONG, 100)
  report.stepBegan('a')
  report.used(100)
  watch.close()
  report.stepEnded('a')
  expect(watch.verdict).toBeUndefined()
})

test('silence is no stall while a step lasts, and one when it is over', () => {
  vi.useFakeTimers()
  const { watch, report } = begin({ ...LONG, idleMs: 20 })
  report.stepBegan('a')
  report.stepBegan('b')
  report.stepEnded('a')
  vi.advanceTimersByTime(1_000)
  expect(watch.verdict).toBeUndefined()
  report.stepEnded('b')
  vi.advanceTimersByTime(19)
  expect(watch.verdict).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(watch.verdict?.kind).toBe('stalled')
})

test('what is said before and after a step is kept apart', async () => {
  const { report } = begin()
  report.text('I look')
  report.text(' at it.')
  report.stepBegan('a')
  expect(report.hasLastWord).toBe(false)
  report.text('Done.')
  report.end()
  const texts: string[] = []
  for await (const event of report.events()) if (event.type === 'text') texts.push(event.text)
  expect(texts.join('')).toBe('I look at it.\n\nDone.')
  expect(report.hasLastWord).toBe(true)
})
