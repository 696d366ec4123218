import type { AgentView } from '../role.ts'
import type { BlobRef, Json, JsonObject } from '../values.ts'
import type { Lesson, RequestMessage, StoryMessage } from './protocol.ts'

/** What a coder knows about its story, in its data. */
export interface CoderWork {
  readonly isAtWork: boolean
  readonly work: StoryMessage
  readonly place: { readonly folder: string; readonly branch: string; readonly base: string } | null
  readonly plan: string
  /** The commit that the tests ran on, and what it changes. */
  readonly head: string | null
  readonly diff: BlobRef | null
  readonly tests: string
  /** What is being mended. */
  readonly fix: Fix | null
  readonly counts: Counts
  /** What reviewers required of the plan, or of the claim that none is needed, and of the code. */
  readonly earlier: EarlierRemarks
  /** What it asked, and what it was answered: a later conversation knows nothing of it. */
  readonly answers: string
  /** Whether coding was begun, so that its files may be there already. */
  readonly isBegun: boolean
  /** The request whose answer is waited for. */
  readonly pending: RequestMessage | null
  /** What was used up when a budget review was asked for. */
  readonly spent: string
  /** The fingerprint of the last test run that failed. */
  readonly failure: string | null
}

export type Fix = {
  readonly kind: 'tests' | 'review' | 'conflict'
  readonly text: string
  /** Of tests: what those said that failed before, where they did. */
  readonly earlier?: string
}

export type EarlierRemarks = { readonly plan: string; readonly code: string }

/** What the loops of a story are bounded by. */
export type Counts = {
  readonly planRounds: number
  readonly codeRounds: number
  readonly grants: number
  /** Test runs in a row that failed in the same way. */
  readonly sameFailures: number
  readonly mergeRounds: number
  /** How often planning could not go on at all. */
  readonly stuck: number
}

export const NO_COUNTS: Counts = {
  planRounds: 0,
  codeRounds: 0,
  grants: 0,
  sameFailures: 0,
  mergeRounds: 0,
  stuck: 0,
}

/** What a removed key stands for. Without a story there is no `work`, and nobody asks for it. */
const NOTHING: Omit<CoderWork, 'work'> = {
  isAtWork: false,
  place: null,
  plan: '',
  head: null,
  diff: null,
  tests: '',
  fix: null,
  counts: NO_COUNTS,
  earlier: { plan: '', code: '' },
  answers: '',
  isBegun: false,
  pending: null,
  spent: '',
  failure: null,
}

export function workOf({ data }: Pick<AgentView, 'data'>): CoderWork {
  return { ...NOTHING, ...(data as unknown as CoderWork) }
}

/** Data as a decision stores it. */
export function asData(changed: Partial<CoderWork>): JsonObject {
  return changed as unknown as JsonObject
}

const CHARS_MAX = 20_000
const REMARKS_CHARS_MAX = 12_000

/** What every prompt about a story begins with. */
export function storyVariables({ work }: CoderWork, turns: number): Record<string, string> {
  const { story } = work
  const criteria = story.criteria.map(({ id, text }) => `${id}. ${text}`).join('\n')
  return {
    story: `${story.title}\n\n${story.description}`,
    criteria: criteria === '' ? 'As the story says.' : criteria,
    turns: String(turns),
  }
}

/** What earlier attempts came to, for the next one. */
export function lessonsText(lessons: readonly Lesson[]): string {
  return lessons
    .map(({ reason, failures }, i) =>
      [`Attempt ${i + 1}: ${reason}`, failures].filter((line) => line !== '').join('\n'),
    )
    .join('\n\n')
    .slice(0, CHARS_MAX)
    .toWellFormed()
}

/** A text that fits a message. */
export function bounded(text: string, charsMax = CHARS_MAX, cut = '[…]'): string {
  if (text.length <= charsMax) return text
  const half = Math.floor(charsMax / 2)
  // A character may be cut in two.
  return `${text.slice(0, half)}\n${cut}\n${text.slice(-half)}`.toWellFormed()
}

/** With one more round, so that the next reviewer sees what was required before. */
export function addRemarks(
  earlier: EarlierRemarks,
  of: keyof EarlierRemarks,
  round: string,
  remarks: string,
): EarlierRemarks {
  const all = [earlier[of], `${round}:\n${remarks}`].filter((part) => part !== '').join('\n\n')
  return { ...earlier, [of]: bounded(all, REMARKS_CHARS_MAX) }
}

/** A field of an effect's outcome. */
export function fieldOf(value: Json, name: string): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
  return (value as JsonObject)[name] ?? null
}

/** A test run, as far as it shows something. */
export function summaryOf(value: Json): JsonObject {
  const commands = (fieldOf(value, 'commands') ?? []) as readonly JsonObject[]
  return {
    verdict: fieldOf(value, 'verdict'),
    message: fieldOf(value, 'message'),
    counts: fieldOf(value, 'counts'),
    commands: commands.map(({ argv }) => ({ argv: argv ?? [] })),
  }
}

/**
 * A test run, as far as others need to know it: what each command came to and the failing tests
 * first, and what failed last, since whoever has less room cuts the middle.
 */
export function describeRun(value: Json): { passed: boolean; text: string; fingerprint: string } {
  const commands = (fieldOf(value, 'commands') ?? []) as readonly JsonObject[]
  const counts = fieldOf(value, 'counts') as JsonObject | null
  const numbers =
    counts === null
      ? ''
      : ` (${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped)`
  const lineOf = ({ argv }: JsonObject) => `$ ${((argv ?? []) as readonly string[]).join(' ')}`
  const verdicts = commands.map((command) => `${lineOf(command)}: ${command.verdict}`)
  const failing = commands.flatMap((command) => {
    const names = ((command.failing ?? []) as readonly string[]).map((name) => `- ${name}`)
    return names.length === 0 ? [] : [[`Failing in ${lineOf(command)}`, ...names].join('\n')]
  })
  const tailsOf = (hasPassed: boolean) =>
    commands
      .filter(({ verdict, tail }) => tail && (verdict === 'passed') === hasPassed)
      .map((command) => `Output of ${lineOf(command)}\n${command.tail}`)
  const head = [`${fieldOf(value, 'message')}${numbers}`, ...verdicts].join('\n')
  const parts = [head, ...failing, ...tailsOf(true), ...tailsOf(false)]
  return {
    passed: fieldOf(value, 'verdict') === 'passed',
    text: bounded(parts.join('\n\n')),
    fingerprint: String(fieldOf(value, 'fingerprint') ?? fieldOf(value, 'code') ?? 'unknown'),
  }
}
