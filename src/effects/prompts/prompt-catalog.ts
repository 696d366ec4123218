/**
 * What a variable holds. `text` is a line of our own; `data` is what somebody said, a person or a
 * model; `output` is or quotes what programs said, which may be something else each time. Both of
 * them came from outside, and are shown between tags. With a question mark it may be empty, and what
 * is said about it is then left out.
 */
export type VariableKind = 'text' | 'text?' | 'data' | 'data?' | 'output' | 'output?'

export type Variables = Readonly<Record<string, VariableKind>>

/** What every system part is filled in with: where the tools work, and the repository's wishes. */
export const SYSTEM_VARIABLES = { place: 'text?', instructions: 'data?' } as const

const STORY = { story: 'data', criteria: 'data', turns: 'text' } as const
/** What a coder was told at questions, and at a budget review. */
const RETURN = { answer: 'data?', guidance: 'data?' } as const
const FIXING = { system: 'coder/fixing' } as const

/** Everything that a model is asked to think about, by role and state, as `TOOLBOXES` has it. */
export const TASKS = {
  'coder/planning': {
    system: 'coder/planning',
    variables: {
      ...STORY,
      ...RETURN,
      lessons: 'output?',
      plan: 'data?',
      remarks: 'data?',
      failures: 'output?',
    },
  },
  'coder/coding': {
    system: 'coder/coding',
    variables: {
      ...STORY,
      ...RETURN,
      plan: 'data',
      remarks: 'data?',
      lessons: 'output?',
      progress: 'text?',
    },
  },
  'coder/fixing-tests': {
    ...FIXING,
    variables: {
      ...STORY,
      ...RETURN,
      failures: 'output',
      plan: 'data?',
      diff: 'output?',
      earlier: 'output?',
    },
  },
  'coder/fixing-review': {
    ...FIXING,
    variables: { ...STORY, ...RETURN, remarks: 'data', plan: 'data?', diff: 'output?' },
  },
  'coder/fixing-conflict': {
    ...FIXING,
    variables: { ...STORY, ...RETURN, conflict: 'output', diff: 'output?' },
  },
  'architect/spec-review': {
    system: 'architect/spec-review',
    variables: {
      spec: 'data',
      criteria: 'data?',
      problems: 'data?',
      turns: 'text',
    },
  },
  'architect/plan-review': {
    system: 'architect/plan-review',
    variables: { ...STORY, plan: 'data', situation: 'text?', remarks: 'data?' },
  },
  'architect/code-review': {
    system: 'architect/code-review',
    variables: { ...STORY, diff: 'output', tests: 'output?', situation: 'text?', remarks: 'data?' },
  },
  'architect/completion-review': {
    system: 'architect/completion-review',
    variables: { ...STORY, evidence: 'data', remarks: 'data?' },
  },
  'architect/budget-review': {
    system: 'architect/budget-review',
    variables: {
      ...STORY,
      plan: 'data?',
      state: 'text',
      used: 'text',
      grants: 'text',
      decisions: 'text',
      history: 'text?',
      diff: 'output?',
      failures: 'output?',
    },
  },
  'architect/question': {
    system: 'architect/question',
    variables: {
      ...STORY,
      question: 'data',
      tried: 'data?',
      spec: 'data?',
      plan: 'data?',
    },
  },
  'pm/interviewing': {
    system: 'pm/interviewing',
    variables: { wish: 'data?', turns: 'text' },
  },
  'pm/drafting': {
    system: 'pm/drafting',
    variables: { document: 'data?', interview: 'data?', turns: 'text' },
  },
  'pm/revising': {
    system: 'pm/revising',
    variables: {
      spec: 'data',
      criteria: 'data',
      reviewer: 'text',
      remarks: 'data',
      answers: 'data?',
      turns: 'text',
    },
  },
  'coordinator/propose': {
    system: 'coordinator/propose',
    variables: { task: 'data', discussion: 'data?', turns: 'text' },
  },
  'coordinator/discuss-review': {
    system: 'coordinator/discuss-review',
    variables: { task: 'data', proposal: 'data', discussion: 'data?', turns: 'text' },
  },
  'coordinator/discuss-tests': {
    system: 'coordinator/discuss-tests',
    variables: {
      task: 'data',
      proposal: 'data',
      opinion: 'data?',
      discussion: 'data?',
      turns: 'text',
    },
  },
  'coordinator/build': {
    system: 'coordinator/build',
    variables: {
      task: 'data',
      proposal: 'data?',
      must_fix: 'output?',
      diff: 'output?',
      discussion: 'data?',
      turns: 'text',
    },
  },
  'coordinator/review': {
    system: 'coordinator/review',
    variables: {
      task: 'data',
      diff: 'output',
      tests: 'output?',
      proposal: 'data?',
      must_fix: 'output?',
      turns: 'text',
    },
  },
  'coordinator/test': {
    system: 'coordinator/test',
    variables: {
      task: 'data',
      diff: 'output',
      wanted: 'data?',
      known: 'data?',
      failures: 'output?',
      turns: 'text',
    },
  },
} as const satisfies Readonly<Record<string, TaskEntry>>

interface TaskEntry {
  /** Whose system part it shares. */
  readonly system: string
  readonly variables: Variables
}

/** What the turn loop itself says to a model. */
export const LOOP_TEXTS = {
  /** After a reply that called nothing. */
  no_call: { endings: 'text' },
  /** Before the turn that forces the tool. */
  last_turn: { ending: 'text' },
  /** After a reply that reached its greatest length. */
  cut_off: {},
  /** After a reply that is whole and cannot be used. */
  unusable: { problem: 'data' },
  message: { message: 'data', failures: 'output?' },
  /** In the place of the answer to a call that came to the same too often. */
  repeated_call: { tool: 'text', times: 'text' },
  /** Asks for the summary of a conversation that is too long. */
  compact: { words: 'text' },
  /** Shows that summary afterwards. */
  summary: { summary: 'data' },
} as const satisfies Readonly<Record<string, Variables>>

/** What is kept word for word beside a summary, each kind under a line of its own. */
export const KEPT_SECTIONS = {
  message: 'data?',
  tests: 'output?',
  command: 'output?',
  todos: 'data?',
} as const satisfies Variables

/** The names of material that is or quotes what programs said, whichever prompt it is in. */
export const OUTPUTS: ReadonlySet<string> = new Set(
  [...Object.values(TASKS).map(({ variables }) => variables), ...Object.values(LOOP_TEXTS)]
    .concat(KEPT_SECTIONS)
    .flatMap((variables: Variables) => Object.entries(variables))
    .flatMap(([name, kind]) => (kind.startsWith('output') ? [name] : [])),
)

export type TaskName = keyof typeof TASKS
export type LoopTextName = keyof typeof LOOP_TEXTS
