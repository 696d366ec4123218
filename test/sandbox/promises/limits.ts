import { describe, expect, test } from 'vitest'
import { countRunning, inSandbox, type Subject, sleepMark, succeeding } from '../subject.ts'

const MIB = 1024 ** 2

/** What only a level that bounds its commands promises. */
export function describeLimits(subject: Subject): void {
  describe('there is a bound to', () => {
    test('processes: a fork bomb goes out, and the next command runs', () =>
      inSandbox(subject, { limits: { processesMax: 60 } }, async ({ sh }) => {
        const mark = sleepMark()
        // It ends at some thousands by itself, for the sake of this machine.
        const bomb = `b() { [ $1 -gt 10 ] && return; sleep ${mark} & b $(($1 + 1)) | b $(($1 + 1)) & }`
        let most = 0
        const count = setInterval(() => {
          most = Math.max(most, countRunning(mark))
        }, 20)
        const ended = await sh(`${bomb}; b 0; sleep 0.5`, { timeoutMs: 4_000 })
        clearInterval(count)
        expect(ended.how).not.toBe('not_started')
        expect(most).toBeLessThan(500)
        expect(countRunning(mark)).toBe(0)
        expect((await sh('echo well')).stdout.toString()).toBe('well\n')
      }))

    test('memory: who takes more is killed, and the next command runs', () =>
      inSandbox(subject, { limits: { memoryBytesMax: 100 * MIB } }, async ({ sh }) => {
        // It keeps in memory what it has to print.
        const hog = 'head -c 250000000 /dev/zero | tail -c 200000000 | wc -c'
        const ended = await sh(hog)
        expect(ended.stdout.toString()).not.toContain('200000000')
        expect((await sh('echo well')).stdout.toString()).toBe('well\n')
      }))

    test('private places: they are full before the machine is', () =>
      inSandbox(subject, { limits: { scratchBytesMax: 10 * MIB } }, async ({ sh }) => {
        const places = ['$HOME', '/tmp', '/dev/shm', '/', '/run', '/var', '/home', '/etc']
        const fill = (place: string, mib: number) =>
          `head -c ${mib * MIB} /dev/zero > ${place}/large`
        // Engines give a container 64 MiB there.
        const fills = [...places.map((place) => fill(place, 12)), fill('/dev', 80)]
        expect(await succeeding(sh, fills)).toEqual([])
        const again = ['rm -f $HOME/large; echo well > $HOME/small']
        expect(await succeeding(sh, again)).toEqual(again)
      }))
  })
}
