import type { Message, ToolCall, ToolResult } from '../brains/brain.ts'
import { materialsIn } from '../prompts/material.ts'
import { tellsOfRun } from '../tools/tests-in-words.ts'
import { sectionsIn } from './kept-sections.ts'
import { fingerprint } from './reply.ts'

/** Something that failed and is not known to be mended. */
export interface OpenFailure {
  readonly text: string
  /** The answer itself; absent where only a summary tells of it. */
  readonly result?: ToolResult
}

export interface OpenFailures {
  /** Of the last run that failed. */
  readonly tests?: OpenFailure
  /** Each command that failed when it was run last; the newest few, and the last at the end. */
  readonly commands: readonly OpenFailure[]
}

/** Enough that those that look for something do not displace the one that builds. */
const COMMANDS_MAX = 8

const COMMAND_CHARS_MAX = 200

/** Advice and refusals are answers too; only what was carried out has an end. */
const COMMAND_ENDED = /\n\[[^\n]*\]$/

/**
 * What a conversation knows to fail now. Tests that pass have mended what they had failed with, and
 * a command that succeeds, also as one of the tests, what it had failed with. One that fails without
 * a word, as a search does that finds nothing, is no failure.
 */
export function openFailures(messages: readonly Message[]): OpenFailures {
  let open: OpenFailures = { commands: [] }
  let calls: readonly ToolCall[] = []
  // The first message stays whole, with what it says of failures.
  for (const message of messages.slice(1)) {
    if (message.role === 'user') open = { ...open, ...toldIn(message.text) }
    else if (message.role === 'assistant') calls = message.toolCalls
    else for (const result of message.results) open = after(open, result, calls)
  }
  return { ...open, commands: open.commands.slice(-COMMANDS_MAX) }
}

/** By a summary, or with a message. */
function toldIn(text: string): Partial<OpenFailures> {
  const { tests, command } = sectionsIn(text)
  const failures = materialsIn(text).find(({ name }) => name === 'failures')?.value
  const ofTests = tests?.at(-1) ?? failures
  return {
    ...(ofTests !== undefined && { tests: { text: ofTests } }),
    ...(command !== undefined && { commands: command.map((each) => ({ text: each })) }),
  }
}

function after(open: OpenFailures, result: ToolResult, calls: readonly ToolCall[]): OpenFailures {
  const { id, name, text, isError } = result
  if (name === 'run_tests') {
    if (isError) return tellsOfRun(text) ? { ...open, tests: { text, result } } : open
    return { commands: open.commands.filter((failed) => !text.includes(lineIn(failed))) }
  }
  if (name !== 'shell') return open
  const { command } = (calls.find((call) => call.id === id)?.input ?? {}) as { command?: unknown }
  const line = `$ ${named(String(command))}\n`
  const others = open.commands.filter((failed) => lineIn(failed) !== line)
  if (!isError) return { ...open, commands: others }
  const hasFailed = COMMAND_ENDED.test(text)
  return hasFailed ? { ...open, commands: [...others, { text: `${line}${text}`, result }] } : open
}

/** The line that names a command that failed. */
export function lineIn({ text }: OpenFailure): string {
  return text.slice(0, text.indexOf('\n') + 1)
}

/** A command in one line that no other has, also where its end is left out. */
function named(command: string): string {
  const isPlain = command.length <= COMMAND_CHARS_MAX && !command.includes('\n')
  if (isPlain) return command
  return `${JSON.stringify(command).slice(0, COMMAND_CHARS_MAX)} (${fingerprint(command)})`
}
