import { join } from 'node:path'
import { detectTestCommands } from './detect-test-commands.ts'
import { fingerprintOf } from './failure-fingerprint.ts'
import { tailOf } from './plain-text.ts'
import { readCommands } from './read-commands.ts'
import { hasTests } from './test-presence.ts'
import { type CommandResult, TEST_CODES, type TestResult } from './test-result.ts'

/** A test command that shows by more than its exit code that tests are executed. */
export type ProvenCommand = {
  readonly argv: readonly string[]
  readonly cwd: string | null
}

const NAME_CHARS_MAX = 200

/** The commands of a run that did show it. */
export function provenIn({ commands }: TestResult): readonly ProvenCommand[] {
  return commands.filter(isProven).map(({ argv, cwd }) => ({ argv, cwd }))
}

/**
 * The commands of a workspace that would show it: what they start has to report, and where they
 * start it there seem to be tests. A runner without any has shown nothing, so that whoever brings
 * the first tests may choose how they are run. Executes nothing.
 */
export async function provenByReading(
  workspace: string,
  given: Parameters<typeof readCommands>[1] | undefined,
): Promise<readonly ProvenCommand[]> {
  const commands = given
    ? await readCommands(workspace, given)
    : (await detectTestCommands(workspace)).commands
  const proven: ProvenCommand[] = []
  for (const { argv, cwd = null, reports } of commands) {
    const reporting = reports !== undefined && (await hasTests(join(workspace, cwd ?? '.')))
    if (reporting) proven.push({ argv, cwd })
  }
  return proven
}

/** Whether any command of a run passed by its exit code alone. */
export function isUnproven({ verdict, commands }: TestResult): boolean {
  return verdict === 'passed' && commands.some(({ evidence }) => evidence === 'exit_code')
}

/**
 * A run, held against what the commands showed before a change: it is no pass any more where one of
 * them shows by its exit code alone what it showed by a report, or where no command is left that
 * reports at all. Whoever changes what is tested could else make it test nothing.
 */
export function holdAgainst<Result extends TestResult>(
  before: readonly ProvenCommand[],
  result: Result,
): Result {
  if (before.length === 0 || !isUnproven(result)) return result
  const silent = result.commands.filter(({ evidence }) => evidence === 'exit_code')
  const lost = silent.filter((command) => before.some((proven) => isSame(proven, command)))
  if (lost.length === 0 && result.commands.some(isProven)) return result
  const code = 'evidence_lost'
  const [verdict, meaning] = TEST_CODES[code]
  const culprits = lost.length > 0 ? lost : silent
  return {
    ...result,
    verdict,
    code,
    message: `${culprits.map(nameOf).join(', ')}: ${meaning}`,
    fingerprint: fingerprintOf(
      culprits.map(({ argv }) => ({ facts: [...argv, code], failing: [], text: '' })),
    ),
    commands: result.commands.map((command) =>
      culprits.includes(command) ? { ...command, verdict, code } : command,
    ),
  }
}

function isProven({ evidence }: CommandResult): boolean {
  return evidence === 'counted' || evidence === 'reported'
}

function isSame(one: ProvenCommand, other: ProvenCommand): boolean {
  return one.cwd === other.cwd && JSON.stringify(one.argv) === JSON.stringify(other.argv)
}

function nameOf({ argv }: CommandResult): string {
  return tailOf(argv.join(' '), NAME_CHARS_MAX)
}
