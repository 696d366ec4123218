import { describe, expect, test } from 'vitest'
import {
  inSandbox,
  isRunning,
  type Place,
  type Subject,
  sharedPlace,
  sleepMark,
} from '../subject.ts'

/** Ways of a process to get away from the command that started it. */
const ESCAPES: Readonly<Record<string, (sleep: string) => string>> = {
  'runs in the background': (sleep) => `${sleep} &`,
  'ignores signals': (sleep) => `(trap "" HUP TERM INT; ${sleep}) &`,
  'has a session of its own': (sleep) => `setsid ${sleep} &`,
  'has lost its parent': (sleep) => `(${sleep} &) &`,
  'has cleared its environment': (sleep) => `env -i ${sleep} &`,
}

const FUGITIVE = (sleep: string) => `(env -i setsid ${sleep} </dev/null >/dev/null 2>&1 &)`

/** A script that ends when its process has got away, and sleeps. */
function letFlee(flee: (sleep: string) => string, mark: string): string {
  const sleep = `sh -c 'touch up.${mark}; exec sleep ${mark}'`
  return `${flee(sleep)}\nuntil [ -e up.${mark} ]; do :; done`
}

/** What every level promises of the processes that a command starts, and what only some do. */
export function describeProcesses(subject: Subject, fugitivesEnd: boolean): void {
  describe('a descendant ends with its command', () => {
    const { sh } = sharedPlace(subject)

    for (const [name, flee] of Object.entries(ESCAPES)) {
      test(`when it ${name}`, async () => {
        const mark = sleepMark()
        const ended = await sh(letFlee(flee, mark))
        expect(ended).toMatchObject({ how: 'exited', exitCode: 0 })
        expect(isRunning(mark)).toBe(false)
      })
    }

    test.skipIf(!fugitivesEnd)('when it does all of it', async () => {
      const mark = sleepMark()
      expect(await sh(letFlee(FUGITIVE, mark))).toMatchObject({ how: 'exited', exitCode: 0 })
      expect(isRunning(mark)).toBe(false)
    })

    test('when the command takes too long', async () => {
      const mark = sleepMark()
      const ended = await sh(`setsid sleep ${mark} & sleep ${mark}`, { timeoutMs: 500 })
      expect(ended).toMatchObject({ how: 'timed_out', exitCode: null })
      expect(ended.durationMs).toBeLessThan(6_000)
      expect(isRunning(mark)).toBe(false)
    })

    test('when the command is aborted', async () => {
      const mark = sleepMark()
      const abort = new AbortController()
      const run = sh(`setsid sleep ${mark} & sleep ${mark}`, { signal: abort.signal })
      await expect.poll(() => isRunning(mark), { timeout: 10_000 }).toBe(true)
      abort.abort()
      expect((await run).how).toBe('aborted')
      expect(isRunning(mark)).toBe(false)
    })

    test('when the sandbox is closed', () =>
      inSandbox(subject, {}, async (place) => {
        const mark = sleepMark()
        const run = place.sh(`sleep ${mark}`)
        await expect.poll(() => isRunning(mark), { timeout: 10_000 }).toBe(true)
        await place.sandbox.close()
        expect(isRunning(mark)).toBe(false)
        expect((await place.sh('true')).how).toBe('not_started')
        expect((await run).how).toBe('aborted')
      }))

    describeOutput(sh)
  })
}

/** Lines without end, and a line without end. */
const FLOODS = ['yes', 'tr "\\0" a < /dev/zero']

/** However much it prints, and however long. */
function describeOutput(sh: Place['sh']): void {
  describe('and its output is bounded', () => {
    test.each(FLOODS)('in memory: %s', async (script) => {
      const before = process.memoryUsage().rss
      const ended = await sh(`${script} | head -c 50000000`)
      expect(ended).toMatchObject({ how: 'exited', exitCode: 0 })
      expect(ended.output.length).toBeLessThan(101_000)
      expect(ended.droppedBytes).toBeGreaterThan(49_000_000)
      expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 ** 2)
    })

    test.each(FLOODS)('in time: %s', async (script) => {
      const ended = await sh(script, { timeoutMs: 600 })
      expect(['timed_out', 'flooded']).toContain(ended.how)
      expect(ended.output.length).toBeLessThan(101_000)
    })
  })
}
