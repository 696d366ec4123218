import { type Decision, EFFECT_FINISHED, type Role, TIMER_FIRED } from '../../src/agents/role.ts'
import type { Json } from '../../src/agents/values.ts'
import { coderF } from '../../src/machines/tables/coder-f.ts'
import type { RuntimeParts } from '../../src/runtime/embedded-runtime.ts'
import { needingService, Stage } from './stage.ts'

/** A role that does what each event's payload says. */
export function obedient(change: Partial<Role> = {}): Role {
  return {
    name: 'obedient',
    machine: coderF,
    recycles: false,
    initialData: {},
    handle(agent, { type, payload }) {
      if (type === 'throw') throw new Error('it threw')
      if (type === 'do') return payload as unknown as Decision
      if (type === EFFECT_FINISHED || type === TIMER_FIRED || type === 'suspension_timed_out') {
        return { set: { told: [...((agent.data.told ?? []) as string[]), type] } }
      }
      return {}
    },
    ...change,
  }
}

export const THINK: Json = { effects: [{ kind: 'think', input: null }] }
/** An open stage with an obedient agent, and the ids of the effects that were carried out. */
export async function openStage(role = obedient(), parts: Partial<RuntimeParts> = {}) {
  const carriedOut: string[] = []
  const stage: Stage = new Stage(role, {
    handlers: {
      think: needingService(() => stage, carriedOut),
      clean_up: { run: async () => ({ ok: true, value: null }) },
    },
    answeredKinds: ['ask_human'],
    ...parts,
  })
  await stage.open()
  return { stage, carriedOut }
}
