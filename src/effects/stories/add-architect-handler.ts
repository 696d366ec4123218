import { runOf } from '../../agents/team/protocol.ts'
import type { AgentId, RunId } from '../../agents/values.ts'
import type { Attempt, EffectHandler } from '../../runtime/effect-handler.ts'
import type { Journal } from '../../runtime/journal.ts'
import type { Runtime } from '../../runtime/runtime.ts'

/** What an effect `add_architect` asks for: a further one, of the same revision as another. */
type AddArchitectInput = { readonly agent: AgentId; readonly like: AgentId }

/** Carries out `add_architect`. Done again, it finds the agent there and changes nothing. */
export function addArchitectHandler(
  registry: () => Pick<Runtime, 'createAgent'>,
  journal: Pick<Journal, 'loadAgents'>,
): EffectHandler {
  return {
    async run({ input }): Promise<Attempt> {
      const { agent, like } = input as AddArchitectInput
      const [found] = await journal.loadAgents([like])
      if (found === undefined) {
        const message = `there is no ${like} to make another of`
        return { ok: false, error: { code: 'no_agent', message, retry: 'never' } }
      }
      const run = runOf(agent) as RunId
      await registry().createAgent({ id: agent, run, role: found.record.role })
      return { ok: true, value: null }
    },
  }
}
