import {
  DEFAULT_LIMITS,
  ledgerOf,
  type TeamLimits,
  type TeamSettings,
} from '../../src/agents/team/protocol.ts'
import { openTeam, type RunStart, type Team } from '../../src/cli/engine/team.ts'
import type { Usage } from '../../src/effects/brains/brain.ts'
import type { Forge } from '../../src/effects/forge/forge.ts'
import { openLocalForge } from '../../src/effects/forge/local-forge.ts'
import { openBubblewrap } from '../../src/effects/sandbox/bubblewrap.ts'
import type { Isolation } from '../../src/effects/sandbox/sandbox.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import type { NamedBrain } from '../../src/effects/thinking/think-handler.ts'
import type { LedgerLimits } from '../../src/ledger/ledger.ts'
import type { GitWorld } from '../git/world.ts'
import { type Reply, scripted } from './replies.ts'

/** The one run of a world. */
export const RUN = 'run-1'

/** What a world is made with. */
export interface TeamWorldSettings {
  readonly replies: readonly Reply[]
  readonly revisions: RunStart['revisions']
  readonly files?: Readonly<Record<string, string>>
  readonly spec?: string
  readonly isWish?: boolean
  readonly preview?: 'auto' | 'human'
  readonly coders?: number
  readonly architects?: number
  readonly limits?: Partial<TeamLimits>
  readonly budget?: Partial<LedgerLimits>
  /** Whether nobody knows what the models cost, or what that of the coders does. */
  readonly isUnpriced?: true | 'coder'
  readonly planReview?: TeamSettings['planReview']
  readonly tests?: TeamSettings['tests']
  readonly isolation?: 'bubblewrap' | 'none'
  /** The isolation, made of the one that is there. */
  readonly isolate?: (isolation: Isolation) => Isolation
  /** Whether the services answer when they are asked. */
  readonly isUp?: () => boolean
  readonly suspensionMs?: number
  /** Whether the architect's own brain is configured; it is unless said. */
  readonly hasJudge?: boolean
  /** Whether agents are halted in it, and somebody looks after them. */
  readonly isSupervised?: true
  /** The forge, made of the one on this machine. */
  readonly forge?: (local: Forge) => Forge
}

export const SPEC = `# Greeter

A greeter in shell.

## Acceptance criteria

1. It greets.
2. It says goodbye.
`

export const FILES = {
  'test.sh': 'for t in tests/*.sh; do sh "$t" || exit 1; done\n',
  'tests/0.sh': 'true\n',
}

const priceOf = async ({ inputTokens, outputTokens }: Usage) =>
  (inputTokens ?? 0) * 3 + (outputTokens ?? 0) * 15

/** Opens the team of a world on its state folder. */
export async function openPart(git: GitWorld, settings: TeamWorldSettings): Promise<Team> {
  const open = settings.isolation === 'bubblewrap' ? openBubblewrap : openUnconfined
  const { forge, isolate = (isolation) => isolation } = settings
  const probe = async () => settings.isUp?.() ?? true
  const model = { brain: scripted(settings.replies), service: 'model', priceOf }
  const brains: Record<string, NamedBrain> = { model, judge: model }
  const team = await openTeam({
    stateFolder: git.state,
    openIsolation: async (processes) => isolate(await open(processes, { stateFolder: git.state })),
    openBrains: async () => ({
      brains,
      services: { model: { probe }, forge: { probe } },
    }),
    hosts: [],
    testTimeoutMs: 60_000,
    secrets: [],
    suspension: { probeIntervalMs: 20, timeoutMs: settings.suspensionMs ?? 900_000 },
    ...(forge && { openForge: async (parts) => forge(await openLocalForge(parts)) }),
  })
  // A team that lacked it at the start would not go on with its run.
  if (settings.hasJudge === false) delete brains.judge
  return team
}

/** What the run of a world is told. */
export function settingsOf(settings: TeamWorldSettings): TeamSettings {
  const price = { inputPerMillion: 3_000_000, outputPerMillion: 15_000_000 }
  const mind = {
    brain: 'model',
    contextTokens: 100_000,
    outputTokensMax: 4_096,
    price: settings.isUnpriced === true ? null : price,
    ledger: ledgerOf(RUN),
  }
  return {
    run: RUN,
    target: 'main',
    minds: {
      pm: mind,
      architect: { ...mind, brain: 'judge' },
      coder: { ...mind, price: settings.isUnpriced ? null : price },
    },
    limits: { ...DEFAULT_LIMITS, ...settings.limits },
    planReview: settings.planReview ?? 'auto',
    tests: settings.tests ?? { commands: [{ argv: ['sh', 'test.sh'] }] },
  }
}

/** How the run of a world is started. */
export function startOf(git: GitWorld, settings: TeamWorldSettings): RunStart {
  const { spec = SPEC, preview = 'auto', isWish = false } = settings
  return {
    id: RUN,
    repository: git.user,
    settings: settingsOf(settings),
    spec: { document: spec, preview, isWish },
    coders: settings.coders ?? 1,
    architects: settings.architects ?? 1,
    revisions: settings.revisions,
    budget: { run: {}, story: {}, allowUnpriced: false, ...settings.budget },
  }
}
