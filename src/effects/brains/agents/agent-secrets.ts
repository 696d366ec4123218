import { bareValues, isPlainWords, isSecretHeader, isSecretName } from '../../guards/secret-name.ts'
import type { Agent } from './agent.ts'

const SECRET_IN_JSON =
  /"[\w-]*(?:key|token|secret|password|authorization|cookie)"\s*:\s*"([^"]{4,})"/gi

const HEADERS_NAME = /HEADERS/i
const HEADER = /^[ \t]*([\w-]+)[ \t]*:(.*)$/gm

/** What people set to be served otherwise, and not to be let in. */
const OPEN_HEADER = /(?:^|-)(?:beta|version|referer|user-agent|title)$/i

/** The values among an agent's own variables that nobody may see. */
export function secretsOf(
  { variables, areVariablesSecret }: Agent,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const values = variables.flatMap((name) => {
    const value = environment[name] ?? ''
    const found = [...value.matchAll(SECRET_IN_JSON)].map(([, inner = '']) => inner)
    const inside = (HEADERS_NAME.test(name) ? [...found, ...headersIn(value)] : found).flatMap(
      bareValues,
    )
    return areVariablesSecret || isSecretName(name) ? [value, ...inside] : inside
  })
  return values.filter((value) => value.trim() !== '')
}

/** What a program sends with every request may be shown to it again without its name. */
function headersIn(text: string): readonly string[] {
  return [...text.matchAll(HEADER)].flatMap(([, name = '', after = '']) => {
    const value = after.trim()
    if (isSecretHeader(name)) return [value]
    return isPlainWords(value) || OPEN_HEADER.test(name) ? [] : [value]
  })
}
