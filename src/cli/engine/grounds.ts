import { createHash } from 'node:crypto'
import type { Environment } from '../config/place.ts'
import type { SlipwayConfig } from '../config/settings/defaults.ts'

/** What of an environment decides who thinks, and who lets us in. */
const DECIDING =
  /^(?:ANTHROPIC|OPENAI|GEMINI|GOOGLE|OLLAMA|GH|GITHUB)_|^SLIPWAY_(?:SCENARIO|RECORD)$/

/** What an engine works by, as a fingerprint: one that works by something else is to begin anew. */
export function groundsOf(config: SlipwayConfig, environment: Environment): string {
  const named = Object.values(config.models).flatMap((entry) =>
    entry !== null && 'apiKeyEnv' in entry && entry.apiKeyEnv !== undefined
      ? [entry.apiKeyEnv]
      : [],
  )
  const deciding = Object.keys(environment).filter((name) => DECIDING.test(name))
  const names = [...new Set([...deciding, ...named])].sort()
  const values = names.map((name) => [name, environment[name] ?? null])
  return createHash('sha256')
    .update(JSON.stringify([config, values]))
    .digest('hex')
}
