import { type CommandResult, TEST_CODES } from '../testing/test-result.ts'
import { type Portion, SHOWN_CHARS_MAX } from './output-files.ts'
import type { PrintedTests } from './tool.ts'

const FAILING_MAX = 30

/** What the verdicts and names may take, however many there are. */
const HEAD_CHARS_MAX = SHOWN_CHARS_MAX / 2
/** What commands that passed may take of the rest while others fail and need it. */
const PASSED_SHARE = 0.25

const ENDED = ', exit code '
const [, NOTHING_TO_RUN] = TEST_CODES.no_command

/**
 * Whether an answer of `run_tests` tells of a run, or that there is nothing to run: advice and
 * refusals are answers too.
 */
export function tellsOfRun(answer: string): boolean {
  return answer.includes(ENDED) || answer === NOTHING_TO_RUN
}

/**
 * A test run in words: what each command came to, the failing tests, and then what was printed,
 * each command with its share of the room. What failed comes last, since a text that is cut once
 * more keeps its beginning and its end.
 */
export function describeTests({ result, printed }: PrintedTests): readonly Portion[] {
  const { message, counts, commands } = result
  const numbers =
    counts === null
      ? ''
      : ` (${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped)`
  const verdicts = commands.map(
    (command) => `${lineOf(command)}\n${command.verdict}${ENDED}${command.exitCode ?? 'none'}`,
  )
  const head = [`${message}${numbers}`, ...verdicts, ...commands.flatMap(namesOf)].join('\n\n')
  const outputs = commands.flatMap((command, at) => {
    const output = printed[at] ?? ''
    const text = `Output of ${lineOf(command)}\n${output}`
    return output.trim() === '' ? [] : [{ text, hasPassed: command.verdict === 'passed' }]
  })
  const textsOf = (hasPassed: boolean) =>
    outputs.filter((output) => output.hasPassed === hasPassed).map(({ text }) => text)
  const room = SHOWN_CHARS_MAX - Math.min(head.length, HEAD_CHARS_MAX)
  return [{ text: head, charsMax: HEAD_CHARS_MAX }, ...shared(textsOf(true), textsOf(false), room)]
}

function lineOf({ argv, cwd }: CommandResult): string {
  const line = `$ ${argv.join(' ')}`
  return cwd === null ? line : `${line} (in ${cwd})`
}

function namesOf(command: CommandResult): readonly string[] {
  const names = command.failing.slice(0, FAILING_MAX).map((name) => `- ${name}`)
  return names.length === 0 ? [] : [[`Failing in ${lineOf(command)}`, ...names].join('\n')]
}

/** What each is shown of, so that all fit, and first of all those that failed. */
function shared(
  passed: readonly string[],
  failed: readonly string[],
  room: number,
): readonly Portion[] {
  const portionsOf = (texts: readonly string[], charsMax: number) =>
    texts.map((text) => ({ text, charsMax: fairMax(texts, charsMax) }))
  const reserved = Math.min(charsOf(portionsOf(passed, room)), room * PASSED_SHARE)
  const failing = portionsOf(failed, room - reserved)
  return [...portionsOf(passed, room - charsOf(failing)), ...failing]
}

function charsOf(portions: readonly Portion[]): number {
  return portions.reduce((sum, { text, charsMax }) => sum + Math.min(text.length, charsMax), 0)
}

/** The most that each of these texts may have where they have that room together. */
function fairMax(texts: readonly string[], room: number): number {
  const lengths = texts.map(({ length }) => length).sort((a, b) => a - b)
  let left = room
  for (const [at, length] of lengths.entries()) {
    const share = Math.floor(left / (lengths.length - at))
    if (length > share) return share
    left -= length
  }
  return room
}
