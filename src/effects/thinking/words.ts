import type { Note } from '../../agents/thinking/outcomes.ts'
import { describePlace } from '../prompts/place.ts'
import { TASKS } from '../prompts/prompt-catalog.ts'
import { isTaskName, type PromptVariables, renderPrompt } from '../prompts/prompts.ts'
import type { IsolationLevel } from '../sandbox/sandbox.ts'
import { toolboxOf } from '../tools/toolbox.ts'
import type { CompactionWords } from './compaction.ts'

/** What a summary may have. */
const SUMMARY_WORDS_MAX = 800

/** Where the tools of this run work, and what its repository wishes for. */
export interface Surroundings {
  readonly level: IsolationLevel
  readonly hosts: readonly string[]
  /** The repository's own conventions; nothing where it has none. */
  readonly instructions: string
}

/** The system prompt and the first message of a task. What is optional and not given is left out. */
export function openingWords(
  task: string,
  given: Readonly<Record<string, string>>,
  { level, hosts, instructions }: Surroundings,
): { readonly system: string; readonly text: string } {
  if (!isTaskName(task)) throw new Error(`there is no task ${task}`)
  const { access } = toolboxOf(task)
  const place = describePlace({ access, level, hosts })
  const system = renderPrompt(`${task}.system`, { place, instructions })
  const optional = Object.entries(TASKS[task].variables).filter(([, kind]) => kind.endsWith('?'))
  const variables = { ...Object.fromEntries(optional.map(([name]) => [name, ''])), ...given }
  const name = `${task}.task` as const
  return { system, text: renderPrompt(name, variables as PromptVariables<typeof name>) }
}

/** What the loop says to a model. */
export function noteWords(
  { name, text = '', failures = '' }: Note,
  endsWith: readonly string[],
): string {
  const [ending = ''] = endsWith
  switch (name) {
    case 'no_call':
      return renderPrompt('loop/no_call', { endings: endsWith.join(' or ') })
    case 'last_turn':
      return renderPrompt('loop/last_turn', { ending })
    case 'cut_off':
      return renderPrompt('loop/cut_off', {})
    case 'unusable':
      return renderPrompt('loop/unusable', { problem: text || 'nobody said why' })
    case 'message':
      return renderPrompt('loop/message', { message: text, failures })
  }
}

/** The answer to a call that came to the same too often. */
export function adviceWords(tool: string, times: number): string {
  return renderPrompt('loop/repeated_call', { tool, times: String(times) })
}

/** What asks for a summary, and what shows it. */
export const COMPACTION_WORDS: CompactionWords = {
  get request() {
    return renderPrompt('loop/compact', { words: String(SUMMARY_WORDS_MAX) })
  },
  summary: (text) => renderPrompt('loop/summary', { summary: text }),
}
