import type { BrainFailure, FailureKind, Turn } from './brain.ts'
import { hasOpaque, isOpaqueRefused, OpaqueMemory } from './opaque-memory.ts'
import { ChoiceMemory, type ChoiceWay, choiceAfter, isChoiceRefused } from './tool-choice.ts'

/**
 * What some servers want otherwise than the others, in every request. `strict_order`: messages of
 * the user and of the model that take turns. `all_reasoned`: something reasoned with all that the
 * model said. `renamed_limit`: the most that it may say as `max_completion_tokens`. `uncounted`: no
 * wish to be told what was used.
 */
type ServerWay = 'strict_order' | 'all_reasoned' | 'renamed_limit' | 'uncounted'

/** How a turn is put, where servers differ in what they take. */
export interface RequestForm {
  /** Whether the model is shown its own opaque data. */
  readonly withOpaque: boolean
  /** How it is held to one tool or to none; undefined where it may choose. */
  readonly choice: ChoiceWay | undefined
  readonly ways: ReadonlySet<ServerWay>
}

/** What a server refuses, and what it is asked in its place. */
interface Way {
  isWanted(failure: BrainFailure): boolean
  /** Undefined where it was gone already, or leads nowhere. */
  go(form: RequestForm, turn: Turn): RequestForm | undefined
}

/** In this order, since words about one thing may name another. None leads back, so tries end. */
const WAYS: readonly Way[] = [
  {
    isWanted: isChoiceRefused,
    go(form, turn) {
      const choice = choiceAfter(turn, form.choice)
      return choice === undefined ? undefined : { ...form, choice }
    },
  },
  // llama.cpp calls it an error of its own when a template refuses a conversation.
  wayOf(
    'strict_order',
    ['rejected', 'overloaded'],
    /unexpected role|roles must alternate|message_order/i,
  ),
  wayOf(
    'all_reasoned',
    ['rejected'],
    /\bmissing\b[^.]{0,40}\breasoning_content|reasoning_content\b[^.]{0,60}\b(?:missing|required|passed back)/i,
  ),
  wayOf('renamed_limit', ['rejected'], /\bmax_tokens\b.{0,80}\bmax_completion_tokens\b/i),
  wayOf('uncounted', ['rejected'], /\b(?:stream_options|include_usage)\b/i),
  {
    isWanted: isOpaqueRefused,
    go: (form, turn) =>
      form.withOpaque && hasOpaque(turn) ? { ...form, withOpaque: false } : undefined,
  },
]

function wayOf(name: ServerWay, kinds: readonly FailureKind[], words: RegExp): Way {
  return {
    isWanted: ({ kind, message }) => kinds.includes(kind) && words.test(message),
    go: (form) =>
      form.ways.has(name) ? undefined : { ...form, ways: new Set([...form.ways, name]) },
  }
}

/** A form that the server may take in place of a refused one; undefined where there is none. */
export function otherwise(
  form: RequestForm,
  turn: Turn,
  failure: BrainFailure,
): RequestForm | undefined {
  for (const way of WAYS) {
    const next = way.isWanted(failure) ? way.go(form, turn) : undefined
    if (next !== undefined) return next
  }
  return undefined
}

/** Remembers for one brain what its server takes, so that a refusal is met once. */
export class FormMemory {
  readonly #choices = new ChoiceMemory()
  readonly #opaque = new OpaqueMemory()
  readonly #ways = new Set<ServerWay>()

  /** The form to begin with. */
  formFor(turn: Turn): RequestForm {
    return {
      withOpaque: this.#opaque.isTaken(turn),
      choice: this.#choices.wayFor(turn),
      ways: new Set(this.#ways),
    }
  }

  /** The server has answered when it was asked in that form. */
  keep(turn: Turn, { withOpaque, choice, ways }: RequestForm): void {
    this.#choices.keep(turn, choice)
    this.#opaque.keep(turn, withOpaque)
    for (const way of ways) this.#ways.add(way)
  }
}
