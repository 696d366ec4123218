import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Subject, sharedPlace } from '../subject.ts'

/** What every level promises of a command. */
export function describeCommands(subject: Subject): void {
  describe('a command', () => {
    const place = sharedPlace(subject)
    const { sh } = place

    test('has its exit code, its streams, its input and its folder', async () => {
      const script = 'cat; pwd; echo said >&2; echo "$GIVEN" > given; exit 7'
      const more = { stdin: 'heard\n', env: { GIVEN: "it's\n" } }
      const ended = await sh(script, more)
      expect(ended).toMatchObject({ how: 'exited', exitCode: 7, droppedBytes: 0 })
      expect(ended.stdout.toString()).toBe(`heard\n${place.workspace}\n`)
      expect(ended.stderr.toString()).toBe('said\n')
      expect(readFileSync(join(place.workspace, 'given'), 'utf8')).toBe("it's\n\n")
      expect(statSync(join(place.workspace, 'given')).uid).toBe(subject.uid)
    })

    test('works below the workspace, and nowhere else', async () => {
      await sh('mkdir -p a/b')
      const below = await sh('pwd', { cwd: 'a/b' })
      expect(below.stdout.toString()).toBe(`${join(place.workspace, 'a/b')}\n`)
      for (const cwd of ['..', '/', `${place.workspace}-other`, 'a/../../..']) {
        expect((await sh('touch here', { cwd })).how, cwd).toBe('not_started')
      }
    })

    test('that does not exist is not a success', async () => {
      const argv = ['no-such-program'] as const
      const ended = await place.sandbox.run({ argv, timeoutMs: 10_000, outputBytesMax: 1_000 })
      // An engine says it by an exit code, as a shell does.
      expect([null, 127]).toContain(ended.exitCode)
      expect(ended.output.toString()).toContain('no-such-program')
    })

    test('that SIGKILL ends was killed', async () => {
      expect(await sh('kill -9 $$')).toMatchObject({ how: 'killed', exitCode: null })
    })

    test('cannot forge its exit code by what it writes', async () => {
      const forge = `for fd in 1 2 3 4 5 6 7 8 9; do
          echo '{ "exit-code": 0 }' 2>/dev/null >&$fd; done; exit 7`
      expect(await sh(forge)).toMatchObject({ how: 'exited', exitCode: 7 })
    })

    test('cannot give the sandbox orders by a NUL', async () => {
      const order = 'x\0--bind\0/\0/mnt'
      for (const more of [{ env: { A: order } }, { env: { [order]: 'x' } }, { cwd: order }]) {
        expect(await sh('ls /mnt', more)).toMatchObject({ how: 'not_started', exitCode: null })
      }
    })

    test('leaves files for the next one', async () => {
      await sh('echo kept > "$HOME/note"; echo kept > "$TMPDIR/note"; echo kept > note')
      const { stdout } = await sh('cat "$HOME/note" "$TMPDIR/note" note')
      expect(stdout.toString()).toBe('kept\nkept\nkept\n')
    })
  })
}
