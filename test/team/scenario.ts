import { test } from 'vitest'
import type { RunStart } from '../../src/cli/engine/team.ts'
import type { TeamWorldSettings } from './parts.ts'
import { openTeamWorld, type TeamWorld } from './world.ts'

type Revisions = RunStart['revisions']
const pair = (coder: 'D' | 'F', architect: 'D' | 'I'): Revisions => ({ coder, architect })

/** Every combination of revisions. */
export const ALL = [pair('F', 'I'), pair('F', 'D'), pair('D', 'I'), pair('D', 'D')]
/** Every revision once. */
export const BOTH = [pair('F', 'I'), pair('D', 'D')]
export const NEW = [pair('F', 'I')]
export const OLD = [pair('D', 'D')]
/** The coder that can ask, with either architect. */
export const ASKING = [pair('F', 'I'), pair('F', 'D')]

/** Opens the world of a scenario; it is closed, and what its journal says is checked, at the end. */
export type Open = (
  settings: Omit<TeamWorldSettings, 'revisions' | 'replies'> & Pick<TeamWorldSettings, 'replies'>,
) => Promise<TeamWorld>

/** Far more than any scenario takes, also of those that are only run when asked for. */
const TIMEOUT_MS = 3_600_000

const known = { registered: 0, ended: 0 }

/** Whether every scenario has been run, and not only some of them. */
export const isComplete = () => known.registered === known.ended

/** A test of a whole team, once for each pair of revisions. */
export function scenario(
  name: string,
  pairs: readonly Revisions[],
  play: (open: Open, revisions: Revisions) => Promise<void>,
): void {
  for (const revisions of pairs) {
    known.registered += 1
    const who = `coder@${revisions.coder}, architect@${revisions.architect}`
    test.concurrent(
      `${name} (${who})`,
      async () => {
        const worlds: TeamWorld[] = []
        const open: Open = async (settings) => {
          const world = await openTeamWorld({ ...settings, revisions })
          worlds.push(world)
          return world
        }
        try {
          await play(open, revisions)
          known.ended += 1
        } finally {
          for (const world of worlds) await world.close()
        }
      },
      TIMEOUT_MS,
    )
  }
}
