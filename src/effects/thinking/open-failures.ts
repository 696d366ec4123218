import type { Message, ToolCall, ToolResult } from '../brains/brain.ts'
import { tellsOfRun } from '../tools/tests-in-words.ts'
import { sectionsIn } from './kept-sections.ts'
import { fingerprint } from './reply.ts'

/** Something that failed and is not known to be mended. */
export interface OpenFailure {
  readonly text: string
  /** The answer itself; absent where only a summary tells of it. */
  readonly result?: ToolResult
}

/** At most one of each kind: the last. */
export interface OpenFailures {
  readonly tests?: OpenFailure
  readonly command?: OpenFailure
}

const COMMAND_CHARS_MAX = 300

/** Advice and refusals are answers too; only what was carried out has an end. */
const COMMAND_ENDED = /\n\[[^\n]*\]$/

/**
 * What a conversation knows to fail now. Tests that pass have mended everything before them, and a
 * command that succeeds what it had failed with. One that fails without a word, as a search does
 * that finds nothing, is no failure.
 */
export function openFailures(messages: readonly Message[]): OpenFailures {
  let open: OpenFailures = {}
  let calls: readonly ToolCall[] = []
  for (const message of messages) {
    if (message.role === 'user') open = { ...open, ...toldIn(message.text) }
    else if (message.role === 'assistant') calls = message.toolCalls
    else for (const result of message.results) open = after(open, result, calls)
  }
  return open
}

function toldIn(text: string): OpenFailures {
  const { tests, command } = sectionsIn(text)
  return {
    ...(tests !== undefined && { tests: { text: tests } }),
    ...(command !== undefined && { command: { text: command } }),
  }
}

function after(open: OpenFailures, result: ToolResult, calls: readonly ToolCall[]): OpenFailures {
  const { id, name, text, isError } = result
  if (name === 'run_tests') {
    if (!isError) return {}
    return tellsOfRun(text) ? { ...open, tests: { text, result } } : open
  }
  if (name !== 'shell') return open
  const { command } = (calls.find((call) => call.id === id)?.input ?? {}) as { command?: unknown }
  const line = `$ ${named(String(command))}\n`
  if (isError) {
    const hasFailed = COMMAND_ENDED.test(text)
    return hasFailed ? { ...open, command: { text: `${line}${text}`, result } } : open
  }
  const { command: failed, ...rest } = open
  return failed?.text.startsWith(line) ? rest : open
}

/** A command in one line that no other has, also where its end is left out. */
function named(command: string): string {
  const isPlain = command.length <= COMMAND_CHARS_MAX && !command.includes('\n')
  if (isPlain) return command
  return `${JSON.stringify(command).slice(0, COMMAND_CHARS_MAX)} (${fingerprint(command)})`
}
