import { z } from 'zod'
import { parseCommented } from './commented-json.ts'

const settingsSchema = z.record(z.string(), z.unknown())

/**
 * The user's settings of Gemini CLI where a state only reads: without hooks, which are commands, and
 * without servers, which are not started there and may hold keys. What it could not read either
 * stays as it is.
 */
export function geminiReading(text: string): string {
  const { data: settings } = settingsSchema.safeParse(parseCommented(text))
  if (settings === undefined) return text
  const { hooks: _, mcpServers: __, ...others } = settings
  return JSON.stringify(others)
}
