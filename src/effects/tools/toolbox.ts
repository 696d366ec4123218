import { SEARCH_TOOLS, SHELL_TOOLS } from './command-tools.ts'
import { EDIT_TOOLS } from './edit-tools.ts'
import { READ_TOOLS } from './read-tools.ts'
import { DIFF_TOOLS, TEST_TOOLS } from './story-tools.ts'
import { TERMINAL_TOOLS } from './terminal-tools.ts'
import { TODO_TOOLS } from './todo-tool.ts'
import type { Tool } from './tool.ts'

/** What a model may do in one task. */
export interface Toolbox {
  readonly tools: readonly Tool[]
  /** The tools that end the state; the first is forced in the last turn. */
  readonly endsWith: readonly [string, ...string[]]
  /** What may be done to the workspace. */
  readonly access: 'read' | 'write'
  /**
   * Present where an answer in words counts too, if it is just what the first of those tools takes:
   * the keys by which such an answer is known.
   */
  readonly takesJson?: readonly string[]
}

type TerminalName = keyof typeof TERMINAL_TOOLS

const LOOKING = [...READ_TOOLS, ...SEARCH_TOOLS]
const WORKING = [...LOOKING, ...EDIT_TOOLS, ...SHELL_TOOLS, ...TEST_TOOLS, ...TODO_TOOLS]
const JUDGING = [...LOOKING, ...DIFF_TOOLS]

function toolbox(
  access: 'read' | 'write',
  tools: readonly Tool[],
  ...endsWith: [TerminalName, ...TerminalName[]]
): Toolbox {
  const ending = endsWith.map((name) => TERMINAL_TOOLS[name])
  return { access, tools: [...tools, ...ending], endsWith }
}

const coding = toolbox('write', WORKING, 'done', 'ask_question', 'report_blocked')
const building = toolbox('write', WORKING, 'done', 'report_blocked')
const reviewing = toolbox('read', JUDGING, 'review_complete')
const discussing = toolbox('read', LOOKING, 'submit_opinion')

/** What may be used, by role and state. Who plans or judges changes nothing. */
const TOOLBOXES: Readonly<Record<string, Toolbox>> = {
  'coder/planning': toolbox(
    'read',
    [...LOOKING, ...TODO_TOOLS],
    'submit_plan',
    'ask_question',
    'mark_story_complete',
  ),
  'coder/coding': coding,
  'coder/fixing-tests': coding,
  'coder/fixing-review': coding,
  'coder/fixing-conflict': coding,
  'architect/spec-review': toolbox('read', LOOKING, 'submit_stories', 'spec_feedback'),
  'architect/plan-review': reviewing,
  'architect/code-review': reviewing,
  'architect/completion-review': reviewing,
  'architect/budget-review': toolbox('read', JUDGING, 'decide_budget'),
  'architect/question': toolbox('read', JUDGING, 'answer_question', 'escalate'),
  'pm/interviewing': toolbox('read', LOOKING, 'end_interview', 'ask_user'),
  'pm/drafting': toolbox('read', LOOKING, 'submit_spec', 'ask_user'),
  'pm/revising': toolbox('read', LOOKING, 'submit_spec', 'ask_user'),
  'coordinator/propose': toolbox('read', LOOKING, 'submit_proposal'),
  'coordinator/discuss-review': discussing,
  'coordinator/discuss-tests': discussing,
  'coordinator/build': building,
  'coordinator/review': {
    ...toolbox('read', JUDGING, 'submit_review'),
    takesJson: ['decision', 'must_fix'],
  },
  'coordinator/test': {
    ...toolbox('read', JUDGING, 'submit_test_plan'),
    takesJson: ['commands', 'test_plan'],
  },
}

/** Every task that there are tools for. */
export const TASKS: readonly string[] = Object.keys(TOOLBOXES)

/** The name of every tool of ours. */
export const TOOL_NAMES: readonly string[] = [
  ...new Set(Object.values(TOOLBOXES).flatMap(({ tools }) => tools.map(({ name }) => name))),
]

/**
 * The tools of a task without those that are withheld, and with those that the user's own servers
 * offer. An unknown task is a bug.
 */
export function toolboxOf(
  task: string,
  { further = [], withheld = [] }: { further?: readonly Tool[]; withheld?: readonly string[] } = {},
): Toolbox {
  const found = Object.hasOwn(TOOLBOXES, task) ? TOOLBOXES[task] : undefined
  if (found === undefined) throw new Error(`there are no tools for ${task}`)
  const isOffered = (name: string) => !withheld.includes(name)
  const [first, ...others] = found.endsWith.filter(isOffered)
  if (first === undefined) throw new Error(`nothing is left to end ${task} with`)
  const own = found.tools.filter(({ name }) => isOffered(name))
  // What others made may write, so it is for those who may.
  const tools = found.access === 'write' ? [...own, ...further] : own
  return { ...found, tools, endsWith: [first, ...others] }
}
