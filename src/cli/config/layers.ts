import { DEFAULTS, defaultSettings, type SlipwayConfig } from './settings/defaults.ts'
import type { ConfigFile } from './settings/schema.ts'
import { isHarmless, TRUST_RULES } from './settings/trust-rules.ts'

/** Where a value came from. */
type Origin = 'default' | 'user file' | 'repository file'

/** One value that is in force. */
interface EffectiveSetting {
  readonly key: string
  readonly value: unknown
  readonly origin: Origin
}

/** What a repository's file says and is not heard. */
interface IgnoredSetting {
  readonly key: string
  readonly value: unknown
  /** What holds in its place. */
  readonly present: unknown
}

/** What the files say, the stronger last. */
export interface Layers {
  readonly user: ConfigFile
  readonly repository: ConfigFile
  readonly isTrusted: boolean
}

export interface Merged {
  readonly config: SlipwayConfig
  readonly settings: readonly EffectiveSetting[]
  readonly ignored: readonly IgnoredSetting[]
}

/**
 * Puts a user's file over the defaults and a repository's file over that, value by value. A file
 * that is not trusted is heard only where its rule says that it does no harm.
 */
export function mergeLayers({ user, repository, isTrusted }: Layers): Merged {
  const settings: EffectiveSetting[] = []
  const ignored: IgnoredSetting[] = []
  for (const [key, otherwise] of defaultSettings()) {
    const own = valueAt(user, key)
    const present = own ?? otherwise
    const wanted = valueAt(repository, key)
    const rule = TRUST_RULES[key] ?? 'trusted'
    const isHeard = wanted !== undefined && (isTrusted || isHarmless(rule, wanted, present))
    if (wanted !== undefined && !isHeard) ignored.push({ key, value: wanted, present })
    const origin = isHeard ? 'repository file' : own === undefined ? 'default' : 'user file'
    settings.push({ key, value: isHeard ? wanted : present, origin })
  }
  return { config: toConfig(settings), settings, ignored }
}

/** Everything that a file says, whether it is heard or not. */
export function settingsIn(file: ConfigFile): readonly { key: string; value: unknown }[] {
  return [...defaultSettings().keys()].flatMap((key) => {
    const value = valueAt(file, key)
    return value === undefined ? [] : [{ key, value }]
  })
}

function valueAt(file: ConfigFile, key: string): unknown {
  let value: unknown = file
  for (const part of key.split('.')) {
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[part]
  }
  return value
}

/** The settings have every key of the defaults, each with a value of its type. */
function toConfig(settings: readonly EffectiveSetting[]): SlipwayConfig {
  const config = structuredClone(DEFAULTS) as unknown as Record<string, unknown>
  for (const { key, value } of settings) {
    const parts = key.split('.')
    const last = parts.pop() ?? ''
    let section = config
    for (const part of parts) section = section[part] as Record<string, unknown>
    section[last] = value
  }
  return config as unknown as SlipwayConfig
}
