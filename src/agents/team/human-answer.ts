import type { FinishedEffect } from '../role.ts'
import { fieldOf } from './coder-work.ts'

/** What a human said to a question. */
export interface HumanAnswer {
  /** One that has a meaning here; empty for words, and for what a model has thought of. */
  readonly choice: string
  /** What is passed on of it. */
  readonly words: string
}

/**
 * Reads the answer to a question in which a model had `options`. One of them means nothing but
 * itself, even where it is called as a choice of ours is, and is passed on with what was added.
 */
export function readAnswer(
  result: FinishedEffect['result'],
  options: readonly string[],
): HumanAnswer {
  const value = result.ok ? result.value : null
  const choice = String(fieldOf(value, 'choice') ?? '')
  const text = String(fieldOf(value, 'text') ?? '')
  if (!options.includes(choice)) return { choice, words: text || choice }
  return { choice: '', words: text === '' || text === choice ? choice : `${choice}: ${text}` }
}
