import { z } from 'zod'
import type { Json } from '../../agents/values.ts'
import { whyBlocked } from '../testing/blocked-command.ts'
import { defineTool, type Tool } from './tool.ts'
import { words } from './words.ts'

const texts = (charsMax: number) => z.array(words(charsMax)).max(50)

/** What an answer of a reviewer or a tester may have, so that a round of a task fits a journal row. */
const ANSWER_CHARS_MAX = 60_000
const TOO_LONG = `this is too long: at most ${ANSWER_CHARS_MAX} characters are taken`
const fitsRow = (answer: object) => JSON.stringify(answer).length <= ANSWER_CHARS_MAX

/** A command that a tester names, which is run as it is and without a shell. */
const COMMAND = z
  .array(z.string().max(2_000))
  .min(1)
  .max(100)
  .superRefine((argv, context) => {
    const why = whyBlocked(argv)
    if (why !== undefined) context.addIssue({ code: 'custom', message: `is not run: ${why}` })
  })
const COMMANDS_MAX = 12
const COMMANDS_BYTES_MAX = 4_000

/** A tool that ends a state: it does nothing but say what the model has come to. */
function terminal<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Tool {
  return defineTool({
    name,
    description,
    schema,
    isReadOnly: false,
    run: async (input) => ({ text: 'Taken.', isError: false, ends: input as Json }),
  })
}

/** The same, with the provider holding the answer to its form where it can. */
function strictTerminal<Schema extends z.ZodType>(
  ...definition: Parameters<typeof terminal<Schema>>
): Tool {
  return { ...terminal(...definition), isStrict: true }
}

/** Every tool that ends a state, by name. */
export const TERMINAL_TOOLS = {
  submit_plan: terminal(
    'submit_plan',
    'Hands in the plan. Say which files change, how, and how each criterion will be tested.',
    z.strictObject({
      plan: words(20_000),
      files: texts(500).default([]),
      confidence: z.enum(['low', 'medium', 'high']),
    }),
  ),
  ask_question: terminal(
    'ask_question',
    'Asks the architect what you cannot find out yourself. Say what you have tried.',
    z.strictObject({ question: words(4_000), tried: z.string().max(4_000).default('') }),
  ),
  mark_story_complete: terminal(
    'mark_story_complete',
    'Claims that the story needs no change, because everything it asks for is there already.',
    z.strictObject({ evidence: words(8_000) }),
  ),
  done: terminal(
    'done',
    'Says that the work is ready to be tested. The tests are run for you.',
    z.strictObject({ summary: words(4_000) }),
  ),
  report_blocked: terminal(
    'report_blocked',
    'Says that the work cannot go on, and why.',
    z.strictObject({ reason: words(4_000) }),
  ),
  review_complete: terminal(
    'review_complete',
    'Ends the review. Approve, or say exactly what has to change.',
    z
      .strictObject({
        verdict: z.enum(['approved', 'needs_changes', 'rejected']),
        feedback: z.string().max(20_000).default(''),
        must_fix: texts(4_000).default([]),
      })
      .refine(({ verdict, must_fix }) => (verdict === 'approved') === (must_fix.length === 0), {
        message: 'must_fix is empty exactly when the verdict is approved',
      }),
  ),
  decide_budget: terminal(
    'decide_budget',
    'Decides how work goes on whose turns are used up. The guidance is all that the coder gets.',
    z.strictObject({
      decision: z.enum(['continue', 'pivot', 'replan', 'escalate', 'abandon']),
      guidance: words(8_000),
    }),
  ),
  answer_question: terminal(
    'answer_question',
    'Answers the question that is waiting.',
    z.strictObject({ answer: words(8_000) }),
  ),
  escalate: terminal(
    'escalate',
    'Puts the question to the human, with the choices and what you would do.',
    z.strictObject({ question: words(4_000), options: texts(500).default([]) }),
  ),
  spec_feedback: terminal(
    'spec_feedback',
    'Sends the spec back with what is missing or contradictory in it.',
    z.strictObject({ problems: texts(4_000).min(1) }),
  ),
  submit_stories: terminal(
    'submit_stories',
    'Hands in the stories that the spec is to be built in.',
    z.strictObject({
      stories: z
        .array(
          z.strictObject({
            id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,40}$/),
            title: words(200),
            description: words(20_000),
            criteria: z.array(z.string().min(1).max(40)).max(100),
            depends_on: z.array(z.string().min(1).max(41)).max(100).default([]),
            expected_files: texts(500).default([]),
            kind: z.enum(['app', 'devops']).default('app'),
            estimate: z.enum(['small', 'medium', 'large']).default('medium'),
          }),
        )
        .min(1)
        .max(500),
    }),
  ),
  ask_user: terminal(
    'ask_user',
    'Asks the human one question, in words for their expertise.',
    z.strictObject({ question: words(4_000), options: texts(500).default([]) }),
  ),
  end_interview: terminal(
    'end_interview',
    'Ends the interview with what was decided, what you assume, and what is out of scope.',
    z.strictObject({ summary: words(20_000) }),
  ),
  submit_spec: terminal(
    'submit_spec',
    'Hands in the spec with its acceptance criteria, each of which can be tested.',
    z.strictObject({
      title: words(200),
      body: words(100_000),
      criteria: z
        .array(
          z.strictObject({ id: z.string().regex(/^[A-Za-z0-9.-]{1,40}$/), text: words(2_000) }),
        )
        .min(1)
        .max(200),
    }),
  ),
  submit_proposal: terminal(
    'submit_proposal',
    'Hands in the proposal for the operator to read.',
    z.strictObject({ proposal: words(20_000), files: texts(500).default([]) }),
  ),
  submit_opinion: terminal(
    'submit_opinion',
    'Hands in your comment on the proposal.',
    z.strictObject({ opinion: words(20_000) }),
  ),
  submit_review: strictTerminal(
    'submit_review',
    'Ends the review of the change.',
    z
      .strictObject({
        decision: z.enum(['approve', 'changes_requested']),
        must_fix: texts(4_000),
        nice_to_have: texts(4_000),
        tests: texts(4_000),
        security: texts(4_000),
      })
      .refine(fitsRow, { message: TOO_LONG })
      .refine(({ decision, must_fix }) => (decision === 'approve') === (must_fix.length === 0), {
        message: 'must_fix is empty exactly when the decision is approve',
      }),
  ),
  submit_test_plan: strictTerminal(
    'submit_test_plan',
    'Hands in the commands that will show whether the task is done.',
    z
      .strictObject({
        test_plan: words(20_000),
        commands: z.array(COMMAND).min(1).max(COMMANDS_MAX),
        expected_results: texts(4_000),
      })
      .refine(({ commands }) => Buffer.byteLength(JSON.stringify(commands)) <= COMMANDS_BYTES_MAX, {
        message: `commands takes more than ${COMMANDS_BYTES_MAX} bytes`,
      })
      .refine(({ commands, expected_results }) => commands.length === expected_results.length, {
        message: 'expected_results has one for each command',
      })
      .refine(fitsRow, { message: TOO_LONG }),
  ),
} as const
