import { type CommandResult, TEST_CODES, type TestResult } from '../testing/test-result.ts'
import { GAP, LEFT_OUT_CHARS_MAX, type Portion, SHOWN_CHARS_MAX } from './output-files.ts'
import type { PrintedTests } from './tool.ts'

const FAILING_MAX = 30

/** What the verdicts and names may take, however many there are. */
const HEAD_CHARS_MAX = SHOWN_CHARS_MAX / 2
/** What commands that passed may take of the rest while others fail and need it. */
const PASSED_SHARE = 0.25
/** Less of one output, with the mark of what is left out, would tell nothing. */
const PORTION_CHARS_MIN = 400

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
  const outputsOf = (hasPassed: boolean) =>
    result.commands.flatMap((command, at) => {
      const output = printed[at] ?? ''
      const isOne = (command.verdict === 'passed') === hasPassed && output.trim() !== ''
      return isOne ? [`Output of ${lineOf(command)}\n${output}`] : []
    })
  const [passed, failed] = [outputsOf(true), outputsOf(false)]
  const head = headOf(result)
  const room = SHOWN_CHARS_MAX - charsOf(head)
  const outputs = shared(passed, failed, room)
  if (outputs.every(({ charsMax }) => charsMax > 0)) return [...head, ...outputs]
  return [...head, ...shared(passed, failed, room - LEFT_OUT_CHARS_MAX)]
}

/** The verdicts and the names; where they are too many, what has passed is only counted. */
function headOf({ message, counts, commands }: TestResult): readonly Portion[] {
  const numbers =
    counts === null
      ? ''
      : ` (${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped)`
  const names = commands.flatMap(namesOf).join(GAP)
  const headWith = (verdicts: readonly string[]) => {
    const said = [`${message}${numbers}`, ...verdicts].join(GAP)
    return divided(names === '' ? [said] : [said, names], HEAD_CHARS_MAX)
  }
  const head = headWith(commands.map(verdictOf))
  if (head.every(({ text, charsMax }) => text.length <= charsMax)) return head
  const failed = commands.filter(({ verdict }) => verdict !== 'passed')
  const passed = commands.length - failed.length
  const counted = passed === 0 ? [] : [`${passed} commands passed${ENDED}0`]
  return headWith([...counted, ...failed.map(verdictOf)])
}

function verdictOf(command: CommandResult): string {
  return `${lineOf(command)}\n${command.verdict}${ENDED}${command.exitCode ?? 'none'}`
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
  const reserved = Math.min(charsOf(divided(passed, room)), room * PASSED_SHARE)
  const failing = divided(failed, room - reserved)
  return [...divided(passed, room - charsOf(failing)), ...failing]
}

/** Gives each the same room; where that would be too little, the first ones are left out. */
function divided(texts: readonly string[], room: number): readonly Portion[] {
  let needed = 0
  const lastLeftOut = texts.findLastIndex((text) => {
    needed += Math.min(text.length, PORTION_CHARS_MIN) + GAP.length
    return needed > room
  })
  const shown = texts.slice(lastLeftOut + 1)
  const charsMax = fairMax(shown, room - shown.length * GAP.length)
  return texts.map((text, at) => ({ text, charsMax: at > lastLeftOut ? charsMax : 0 }))
}

/** What portions take, with what stands between them. */
function charsOf(portions: readonly Portion[]): number {
  const shown = portions.filter(({ charsMax }) => charsMax > 0)
  return shown.reduce((sum, { text, charsMax }) => {
    return sum + Math.min(text.length, charsMax) + GAP.length
  }, 0)
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
