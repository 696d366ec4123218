import { MACHINES } from '../../machines/catalog.ts'
import { nearest } from '../nearest.ts'
import { TASKS } from '../prompts/prompt-catalog.ts'

const TASK_NAMES = Object.keys(TASKS)
const ROLES = [...new Set(TASK_NAMES.map((name) => name.slice(0, name.indexOf('/'))))]
const THINKING = MACHINES.filter(({ id }) => ROLES.includes(id))

/** All that a turn can have, by what a scenario calls it. Stories and tools are not ours to name. */
const KNOWN = {
  role: ROLES,
  task: TASK_NAMES,
  state: [...new Set(THINKING.flatMap(({ states }) => Object.keys(states)))],
} as const

/** Why no turn has such a name; undefined where one can. */
export function explainUnknown(kind: keyof typeof KNOWN, name: string): string | undefined {
  const known = KNOWN[kind]
  if (known.includes(name)) return undefined
  const meant = nearest(name, known)
  const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`
  return `no turn has the ${kind} ${JSON.stringify(name)}: ${hint}`
}
