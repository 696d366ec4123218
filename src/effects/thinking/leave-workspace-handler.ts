import type { EffectHandler } from '../../runtime/effect-handler.ts'
import { readFields } from '../effect-input.ts'
import { machineOf } from '../machine.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import type { Desks } from './desks.ts'

/**
 * Carries out `leave_workspace`: { run, story }. What runs there is ended and what was done is
 * stored; the workspace stays, for whoever comes back to it.
 */
export function leaveWorkspaceHandler(workspaces: Workspaces, desks: Desks): EffectHandler {
  return {
    policy: { attemptsMax: 3 },
    async run({ input }) {
      const owner = readFields(input, ['run', 'story'], [])
      if (owner === undefined) {
        const message = 'not the input of leave_workspace'
        return { ok: false, error: { code: 'invalid_input', message, retry: 'never' } }
      }
      try {
        await desks.clear(owner)
        if ((await workspaces.find(owner)) !== undefined) await workspaces.checkpoint(owner)
        return { ok: true, value: null }
      } catch (error) {
        const message = String(error)
        const lacking = machineOf(error)
        return {
          ok: false,
          error: { code: 'workspace_failed', message, retry: 'later', ...lacking },
        }
      }
    },
  }
}
