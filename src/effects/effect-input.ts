import type { Json } from '../agents/values.ts'

/** The texts of an effect's input by name; undefined when one is missing or is no text. */
export function readFields<Name extends string, Optional extends string>(
  input: Json,
  names: readonly Name[],
  optional: readonly Optional[],
): (Record<Name, string> & Partial<Record<Optional, string>>) | undefined {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return undefined
  const given = input as Readonly<Record<string, Json>>
  const fields: Record<string, string> = {}
  for (const name of [...names, ...optional]) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    const isOptional = (optional as readonly string[]).includes(name)
    if (isOptional && (value === undefined || value === null)) continue
    if (typeof value !== 'string') return undefined
    fields[name] = value
  }
  return fields as Record<Name, string> & Partial<Record<Optional, string>>
}
