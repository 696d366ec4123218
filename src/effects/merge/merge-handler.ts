import type { JsonObject } from '../../agents/values.ts'
import {
  type Attempt,
  type AttemptError,
  DEFAULT_POLICY,
  type Effect,
  type EffectContext,
  type EffectHandler,
} from '../../runtime/effect-handler.ts'
import { readFields } from '../effect-input.ts'
import type { Forge } from '../forge/forge.ts'
import { FORGE_SERVICE } from '../forge/pull-request-handler.ts'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { GitGuardError } from '../guards/git-guard.ts'
import { redact } from '../guards/redaction.ts'
import { machineOf } from '../machine.ts'
import type { RunTestsValue } from '../testing/run-tests-handler.ts'
import { Turns } from '../turns.ts'
import { inFreshClone } from './gate.ts'
import { holdAgainstTarget, keepEvidence } from './gate-evidence.ts'
import { CHECKS_WAIT_MS_MAX, type MergeOutcome, mergeStory } from './merge-story.ts'

export interface MergeHandlerParts {
  readonly git: Git
  readonly repositories: Repositories
  readonly forge: Forge
  readonly stateFolder: string
  /** Carries out `run_tests`, which is the gate. */
  readonly tests: EffectHandler
  readonly secrets: readonly string[]
}

/** What git and the forge may take beside the tests and the wait for the forge's own checks. */
const OWN_MS_MAX = 1_800_000

/** Before the merge, on the target for comparison, and after it where the target had moved. */
const TEST_RUNS_MAX = 3

/**
 * Carries out `merge`: { run, story, target, head, title, body, number, atMs }, and `tests`, the
 * rest of an input of `run_tests`. One at a time: the second merge starts from the first.
 */
export function mergeHandler(parts: MergeHandlerParts): EffectHandler {
  const turns = new Turns()
  const testsMs = parts.tests.policy?.timeoutMs ?? DEFAULT_POLICY.timeoutMs
  const timeoutMs = TEST_RUNS_MAX * testsMs + CHECKS_WAIT_MS_MAX + OWN_MS_MAX
  return {
    policy: { timeoutMs, attemptsMax: 3, outputBytesMax: 131_072 },
    ...(parts.forge.kind === 'local' ? {} : { serviceOf: () => FORGE_SERVICE }),
    run: async (effect, context) => {
      const attempt = await turns.take(['merge'], () => merge(parts, effect, context))
      if (attempt.ok) return attempt
      const message = redact(attempt.error.message, parts.secrets)
      return { ok: false, error: { ...attempt.error, message } }
    },
  }
}

/** The gate could not be run: neither passed nor failed. */
class GateError extends Error {
  readonly error: AttemptError

  constructor(error: AttemptError) {
    super(error.message)
    this.error = error
  }
}

async function merge(
  parts: MergeHandlerParts,
  effect: Effect,
  context: EffectContext,
): Promise<Attempt> {
  const names = ['run', 'story', 'target', 'head', 'title', 'body'] as const
  const fields = readFields(effect.input, names, [])
  const { number, atMs, tests } = (effect.input ?? {}) as JsonObject
  if (fields === undefined || typeof number !== 'number' || typeof atMs !== 'number') {
    return failed({ code: 'invalid_input', message: 'not the input of merge', retry: 'never' })
  }
  const { run, story, ...texts } = fields
  const request = { ...texts, owner: { run, story }, number, atMs }
  const gate = (commit: string) => test(parts, effect, tests as JsonObject, commit, context)
  try {
    const outcome = await mergeStory({ ...parts, gate }, request, context.signal)
    if (outcome.kind === 'merged') {
      await keepEvidence(parts, tests as JsonObject, outcome.commit, outcome.gate)
    }
    return attemptOf(outcome, parts.secrets)
  } catch (error) {
    if (error instanceof GateError) return failed(error.error)
    if (error instanceof GitGuardError)
      return failed({ code: 'invalid_input', message: String(error), retry: 'never' })
    const lacking = machineOf(error)
    return failed({ code: 'merge_failed', message: String(error), retry: 'later', ...lacking })
  }
}

async function test(
  { git, repositories, stateFolder, tests }: MergeHandlerParts,
  effect: Effect,
  settings: JsonObject | undefined,
  commit: string,
  context: EffectContext,
): Promise<{ readonly passed: boolean; readonly gate: RunTestsValue }> {
  const attempt = await inFreshClone(git, repositories, stateFolder, commit, (workspace) =>
    tests.run({ ...effect, kind: 'run_tests', input: { ...settings, workspace } }, context),
  )
  if (!attempt.ok) throw new GateError(attempt.error)
  const result = attempt.value as unknown as RunTestsValue
  const ground = { git, repositories, stateFolder }
  const gate = await holdAgainstTarget(ground, settings, commit, result)
  return { passed: gate.verdict === 'passed', gate }
}

function attemptOf(outcome: MergeOutcome<RunTestsValue>, secrets: readonly string[]): Attempt {
  if (outcome.kind === 'forge_failed') return failed(outcome.error)
  if (outcome.kind === 'refused') {
    return { ok: true, value: { ...outcome, reason: redact(outcome.reason, secrets) } }
  }
  return { ok: true, value: JSON.parse(JSON.stringify(outcome)) }
}

const failed = (error: AttemptError): Attempt => ({ ok: false, error })
