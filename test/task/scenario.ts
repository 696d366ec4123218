import { test } from 'vitest'
import { openTaskWorld, type TaskWorld, type TaskWorldSettings } from './world.ts'

export type Open = (settings: Omit<TaskWorldSettings, 'revision'>) => Promise<TaskWorld>

export const BOTH = ['1', '2'] as const
export const NEW = ['2'] as const
export const OLD = ['1'] as const

const TIMEOUT_MS = 300_000
const known = { registered: 0, ended: 0 }

/** Whether every scenario has been run, and not only some of them. */
export const isComplete = () => known.registered === known.ended

/** A test of a whole task, once for each revision. */
export function scenario(
  name: string,
  revisions: readonly ('1' | '2')[],
  play: (open: Open, revision: '1' | '2') => Promise<void>,
): void {
  for (const revision of revisions) {
    known.registered += 1
    test.concurrent(
      `${name} (coordinator@${revision})`,
      async () => {
        const worlds: TaskWorld[] = []
        const open: Open = async (settings) => {
          const world = await openTaskWorld({ ...settings, revision })
          worlds.push(world)
          return world
        }
        try {
          await play(open, revision)
          known.ended += 1
        } finally {
          for (const world of worlds) await world.close()
        }
      },
      TIMEOUT_MS,
    )
  }
}
