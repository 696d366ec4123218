import { isSecretName } from '../../guards/secret-name.ts'
import type { Agent } from './agent.ts'

const SECRET_IN_JSON = /"\w*(?:key|token|secret|password)"\s*:\s*"([^"]{4,})"/gi

/** The values among an agent's own variables that nobody may see. */
export function secretsOf(
  { variables, areVariablesSecret }: Agent,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const values = variables.flatMap((name) => {
    const value = environment[name] ?? ''
    const inside = [...value.matchAll(SECRET_IN_JSON)].map(([, found = '']) => found)
    return areVariablesSecret || isSecretName(name) ? [value, ...inside] : inside
  })
  return values.filter((value) => value.trim() !== '')
}
