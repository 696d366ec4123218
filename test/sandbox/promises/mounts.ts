import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inSandbox, makeFolder, type Subject } from '../subject.ts'

/** What may not be shown, by whatever name. */
export function describeMounts(name: string, open: () => Promise<Subject>): void {
  test(`${name} that would show a home or the state folder is refused, also by a link`, async () => {
    const subject = await open()
    const folder = makeFolder(subject.uid)
    const links = [homedir(), '/', subject.stateFolder].map((place, i) => {
      const link = join(folder, `link-${i}`)
      symlinkSync(place, link)
      return [place, link]
    })
    mkdirSync(join(folder, 'shown'))
    try {
      const show = (outside: string) => {
        const mounts = [{ outside, inside: '/run/x', access: 'read' }] as const
        return inSandbox(subject, { mounts }, async ({ sh }) => {
          expect((await sh('ls /run/x')).exitCode).toBe(0)
        })
      }
      for (const outside of links.flat()) {
        await expect(show(outside), outside).rejects.toThrow(`${outside} holds what`)
      }
      await show(join(folder, 'shown'))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}
