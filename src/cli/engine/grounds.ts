import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { SCENARIO_VARIABLE } from '../config/brain-outline.ts'
import type { Environment } from '../config/place.ts'
import type { SlipwayConfig } from '../config/settings/defaults.ts'

/**
 * What of an environment decides who thinks, and who lets us in. Of GitHub's own it is what a token
 * is found by: an action has most of the others anew in each step.
 */
const DECIDING =
  /^(?:ANTHROPIC|OPENAI|GEMINI|GOOGLE|OLLAMA)_|^(?:GH|GITHUB)_(?:ENTERPRISE_)?TOKEN$|^GH_CONFIG_DIR$|^SLIPWAY_(?:MODEL|SCENARIO|RECORD)$/

/**
 * What an engine works by, as a fingerprint: one that works by something else is to begin anew. The
 * script is the text of a scenario or a cassette; null where none is played.
 */
export function groundsOf(
  config: SlipwayConfig,
  environment: Environment,
  script: string | null,
): string {
  const named = Object.values(config.models).flatMap((entry) =>
    entry !== null && 'apiKeyEnv' in entry && entry.apiKeyEnv !== undefined
      ? [entry.apiKeyEnv]
      : [],
  )
  const deciding = Object.keys(environment).filter((name) => DECIDING.test(name))
  const names = [...new Set([...deciding, ...named])].sort()
  const values = names.map((name) => [name, environment[name] ?? null])
  return createHash('sha256')
    .update(JSON.stringify([config, values, script]))
    .digest('hex')
}

/** What an engine in that folder would work by now. A script that cannot be read counts as none. */
export async function readGrounds(
  folder: string,
  config: SlipwayConfig,
  environment: Environment,
): Promise<string> {
  const { [SCENARIO_VARIABLE]: file } = atFolder(folder, environment)
  const script = file ? await readFile(file, 'utf8').catch(() => null) : null
  return groundsOf(config, environment, script)
}

/** The environment as it is for an engine, which works in that folder: so it reads its paths. */
export function atFolder(folder: string, environment: Environment): Environment {
  const file = environment[SCENARIO_VARIABLE]?.trim()
  return file ? { ...environment, [SCENARIO_VARIABLE]: resolve(folder, file) } : environment
}
