import { DEFAULT_LIMITS, type TeamLimits } from '../../../agents/team/protocol.ts'
import { DEFAULT_LIMITS as RUNTIME_LIMITS } from '../../../runtime/handle.ts'
import { DEFAULT_SUSPENSION } from '../../../runtime/suspension.ts'
import type { BrainEntry, ConfiguredCommand, ModelEntry } from './schema.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** Everything that can be configured, complete. Null means that it is found out when it is needed. */
export interface SlipwayConfig {
  readonly target: string | null
  readonly models: {
    readonly default: ModelEntry | null
    readonly pm: ModelEntry | null
    readonly architect: BrainEntry | null
    readonly coder: BrainEntry | null
    readonly reviewer: BrainEntry | null
    readonly tester: BrainEntry | null
  }
  readonly budget: {
    readonly run: {
      readonly dollars: number
      readonly tokens: number
      readonly iterations: number
      readonly hours: number
    }
    readonly story: {
      readonly dollars: number
      readonly tokens: number
      readonly iterations: number
      readonly hours: number
    }
    readonly allowUnpriced: boolean | null
  }
  readonly limits: Omit<TeamLimits, 'escalationMs'> & {
    readonly taskRounds: number
    readonly escalationHours: number
    readonly restarts: number
    readonly restartMinutes: number
  }
  readonly outage: {
    readonly probeSeconds: number
    readonly minutes: number
    readonly waitForReset: boolean
  }
  readonly team: { readonly coders: number; readonly architects: number }
  readonly revisions: {
    readonly coder: 'D' | 'F'
    readonly architect: 'D' | 'I'
    readonly coordinator: '1' | '2'
  }
  readonly review: {
    readonly plan: 'auto' | 'model' | 'human' | null
    readonly spec: 'auto' | 'human'
  }
  readonly tests: {
    readonly commands: readonly ConfiguredCommand[] | null
    readonly timeoutMinutes: number
    readonly requireReport: boolean
  }
  readonly forge: {
    readonly kind: 'local' | 'github'
    readonly apiUrl: string | null
    readonly checksGraceSeconds: number
  }
  readonly isolation: {
    readonly level: 'auto' | 'bubblewrap' | 'container' | 'none'
    readonly image: string | null
    readonly engine: 'podman' | 'docker' | null
    readonly hosts: readonly string[]
    readonly toolFolders: readonly string[]
  }
}

const { escalationMs, ...counts } = DEFAULT_LIMITS

/** What holds where nobody says anything. */
export const DEFAULTS: SlipwayConfig = {
  target: null,
  models: { default: null, pm: null, architect: null, coder: null, reviewer: null, tester: null },
  budget: {
    run: { dollars: 50, tokens: 200_000_000, iterations: 20_000, hours: 48 },
    story: { dollars: 10, tokens: 30_000_000, iterations: 1_000, hours: 48 },
    allowUnpriced: null,
  },
  limits: {
    ...counts,
    taskRounds: 5,
    escalationHours: escalationMs / HOUR_MS,
    restarts: RUNTIME_LIMITS.restartsMax,
    restartMinutes: RUNTIME_LIMITS.restartWindowMs / MINUTE_MS,
  },
  outage: {
    probeSeconds: DEFAULT_SUSPENSION.probeIntervalMs / 1_000,
    minutes: DEFAULT_SUSPENSION.timeoutMs / MINUTE_MS,
    waitForReset: DEFAULT_SUSPENSION.waitForReset,
  },
  team: { coders: 3, architects: 2 },
  revisions: { coder: 'F', architect: 'I', coordinator: '2' },
  review: { plan: null, spec: 'auto' },
  tests: { commands: null, timeoutMinutes: 30, requireReport: false },
  forge: { kind: 'local', apiUrl: null, checksGraceSeconds: 30 },
  isolation: { level: 'auto', image: null, engine: null, hosts: [], toolFolders: [] },
}

/** What a null among the defaults comes to, in words for people. */
export const FOUND_OUT: Readonly<Record<string, string>> = {
  target: 'the branch that is checked out',
  'models.default': 'chosen by the keys in the environment',
  'models.pm': 'models.default',
  'models.architect': 'models.default',
  'models.coder': 'models.default',
  'models.reviewer': 'models.default',
  'models.tester': 'models.default',
  'budget.allowUnpriced': 'yes, until a file sets a limit in dollars',
  'review.plan': 'auto; model under architect@D',
  'tests.commands': 'found by looking at the repository',
  'forge.apiUrl': "GitHub's own",
  'isolation.image': 'none',
  'isolation.engine': 'podman, or else docker',
}

/** A value that is a section of others, and no value itself. */
function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The keys of all settings with their defaults, such as `budget.run.dollars`. */
export function defaultSettings(): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>()
  const walk = (section: Readonly<Record<string, unknown>>, prefix: string) => {
    for (const [name, value] of Object.entries(section)) {
      if (isSection(value)) walk(value, `${prefix}${name}.`)
      else found.set(`${prefix}${name}`, value)
    }
  }
  walk({ ...DEFAULTS }, '')
  return found
}
