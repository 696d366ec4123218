import { describe, expect, test } from 'vitest'
import { inSandbox, isRunning, type Subject, sleepMark, succeeding } from '../subject.ts'

const MIB = 1024 ** 2

/** What only a level that bounds its commands promises. */
export function describeLimits(subject: Subject): void {
  describe('there is a bound to', () => {
    test('processes: a fork bomb goes out, and the next command runs', () =>
      inSandbox(subject, { limits: { processesMax: 60 } }, async ({ sh }) => {
        const mark = sleepMark()
        const bomb = `b() { sleep ${mark} & b | b & }; b; sleep 2`
        const ended = await sh(bomb, { timeoutMs: 4_000 })
        expect(ended.how).not.toBe('not_started')
        expect(isRunning(mark)).toBe(false)
        expect((await sh('echo well')).stdout.toString()).toBe('well\n')
      }))

    test('memory: who takes more is killed, and the next command runs', () =>
      inSandbox(subject, { limits: { memoryBytesMax: 100 * MIB } }, async ({ sh }) => {
        // It keeps in memory what it has to print.
        const hog = 'head -c 500000000 /dev/zero | tail -c 400000000 | wc -c'
        const ended = await sh(hog)
        expect(ended.stdout.toString()).not.toContain('400000000')
        expect((await sh('echo well')).stdout.toString()).toBe('well\n')
      }))

    test('private places: they are full before the machine is', () =>
      inSandbox(subject, { limits: { scratchBytesMax: 10 * MIB } }, async ({ sh }) => {
        const places = ['$HOME', '/tmp', '/dev/shm', '/', '/dev', '/run', '/var', '/home', '/etc']
        const fill = (place: string) => `head -c ${80 * MIB} /dev/zero > ${place}/large`
        expect(await succeeding(sh, places.map(fill))).toEqual([])
        const again = ['rm -f $HOME/large; echo well > $HOME/small']
        expect(await succeeding(sh, again)).toEqual(again)
      }))
  })
}
