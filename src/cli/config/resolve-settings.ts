import { homedir } from 'node:os'
import type { TaskLimits } from '../../agents/coordinator/protocol.ts'
import type { TeamLimits, TeamSettings } from '../../agents/team/protocol.ts'
import type { IsolationSettings } from '../../effects/sandbox/choose-isolation.ts'
import type { RunTestsInput } from '../../effects/testing/run-tests-handler.ts'
import type { LedgerLimits } from '../../ledger/ledger.ts'
import type { Merged } from './layers.ts'
import type { Environment } from './place.ts'
import type { SlipwayConfig } from './settings/defaults.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const MICRODOLLARS = 1_000_000

/**
 * What a run and a story may spend. The limits in dollars that nobody chose do not keep models
 * without a known price out, which the limits in tokens bound; one that somebody chose does.
 */
export function resolveLedgerLimits({ config, settings }: Merged): LedgerLimits {
  const { run, story, allowUnpriced } = config.budget
  const isChosen = settings.some(
    ({ key, origin }) => /^budget\.\w+\.dollars$/.test(key) && origin !== 'default',
  )
  return {
    run: {
      microdollarsMax: Math.round(run.dollars * MICRODOLLARS),
      tokensMax: run.tokens,
      iterationsMax: run.iterations,
      elapsedMsMax: Math.round(run.hours * HOUR_MS),
    },
    story: {
      microdollarsMax: Math.round(story.dollars * MICRODOLLARS),
      tokensMax: story.tokens,
      iterationsMax: story.iterations,
      elapsedMsMax: Math.round(story.hours * HOUR_MS),
    },
    allowUnpriced: allowUnpriced ?? !isChosen,
    ...(allowUnpriced !== null && { isUnpricedChosen: true }),
  }
}

/** How outages are waited for, and how often agents are born again. */
export function resolveRuntime({ limits, outage }: SlipwayConfig) {
  return {
    suspension: {
      probeIntervalMs: outage.probeSeconds * 1_000,
      timeoutMs: Math.round(outage.minutes * MINUTE_MS),
      waitForReset: outage.waitForReset,
    },
    restarts: {
      restartsMax: limits.restarts,
      restartWindowMs: Math.round(limits.restartMinutes * MINUTE_MS),
    },
  }
}

/** The bounds of the team's loops. */
export function resolveTeamLimits({ limits }: SlipwayConfig): TeamLimits {
  const { escalationHours, taskRounds: _, restarts: __, restartMinutes: ___, ...counts } = limits
  return { ...counts, escalationMs: Math.round(escalationHours * HOUR_MS) }
}

/** The bounds of the loops of a task. */
export function resolveTaskLimits({ limits }: SlipwayConfig): TaskLimits {
  const { planningTurns, codingTurns, fixingTurns, reviewTurns, taskRounds, sameFailures } = limits
  return { planningTurns, codingTurns, fixingTurns, reviewTurns, taskRounds, sameFailures }
}

/** Who judges plans: unless it is said, nobody, but the architect where its document wants that. */
export function resolvePlanReview({
  review,
  revisions,
}: SlipwayConfig): TeamSettings['planReview'] {
  return review.plan ?? (revisions.architect === 'D' ? 'model' : 'auto')
}

/** What an effect `run_tests` is told beyond the workspace. */
export function resolveTests({ tests }: SlipwayConfig): Omit<RunTestsInput, 'workspace'> {
  const { commands, timeoutMinutes, requireReport } = tests
  const bounds = { timeoutMs: Math.round(timeoutMinutes * MINUTE_MS), requireReport }
  if (commands === null) return bounds
  return {
    ...bounds,
    commands: commands.map((command) => {
      if (Array.isArray(command)) return { argv: command }
      const { argv, cwd } = command
      return cwd === undefined ? { argv } : { argv, cwd }
    }),
  }
}

/** How commands are to be confined. */
export function resolveIsolation(
  { isolation }: SlipwayConfig,
  stateFolder: string,
  environment: Environment,
): IsolationSettings {
  const { level, image, engine, toolFolders } = isolation
  const home = environment.HOME || homedir()
  const container = image === null ? undefined : { image, ...(engine === null ? {} : { engine }) }
  return {
    stateFolder,
    toolFolders: toolFolders.map((folder) => folder.replace(/^~(?=\/)/, () => home)),
    ...(level === 'auto' ? {} : { level }),
    ...(container === undefined ? {} : { container }),
  }
}
