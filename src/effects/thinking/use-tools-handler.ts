import type { ToolsUsed, Transcript, UseToolsInput } from '../../agents/thinking/outcomes.ts'
import { SAME_MAX } from '../../agents/thinking/repetition.ts'
import type { EffectId, Json } from '../../agents/values.ts'
import type { Attempt, EffectContext, EffectHandler } from '../../runtime/effect-handler.ts'
import type { ToolCall, ToolResult } from '../brains/brain.ts'
import { redact } from '../guards/redaction.ts'
import { MACHINE_SERVICE, machineOf } from '../machine.ts'
import { EDIT_TOOLS } from '../tools/edit-tools.ts'
import type { OutputFiles } from '../tools/output-files.ts'
import { refused, type Tool, type ToolContext } from '../tools/tool.ts'
import { type AnsweredCall, answerCalls } from '../tools/tool-calls.ts'
import { type Toolbox, toolboxOf } from '../tools/toolbox.ts'
import type { Desks } from './desks.ts'
import { fingerprint } from './reply.ts'
import type { Transcripts } from './transcript.ts'

/** What the handler is given. */
export interface UseToolsParts {
  readonly desks: Desks
  readonly transcripts: Transcripts
  /** Tools of the user's own servers. */
  readonly furtherTools: readonly Tool[]
  /** The words for a call that is not carried out again. */
  adviceFor(tool: string, times: number): string
  /** Values that no model may see. */
  readonly secrets: readonly string[]
}

/** The longest time that one call may take, with that of the sandbox around it. */
const TIMEOUT_MS = 7_200_000

/** What a state is ended with has to fit a decision, which is measured in characters of JSON. */
const ENDING_CHARS_MAX = 200_000

/** Each such character takes three bytes at most; what is told besides takes far less than this. */
const OUTPUT_BYTES_MAX = 3 * ENDING_CHARS_MAX + 200_000

const EDITING = new Set(EDIT_TOOLS.map(({ name }) => name))

/** Carries out `use_tools`: calls of one reply, whose results become a part of the conversation. */
export function useToolsHandler(parts: UseToolsParts): EffectHandler {
  return {
    policy: { timeoutMs: TIMEOUT_MS, attemptsMax: 3, outputBytesMax: OUTPUT_BYTES_MAX },
    async run({ id, input }, context) {
      const request = input as unknown as UseToolsInput
      const toolbox = toolboxOf(request.task, {
        further: parts.furtherTools,
        withheld: request.withheld,
      })
      const desk = await openDesk(parts, request, toolbox, id, context)
      if (!desk.ok) return desk
      try {
        return await useTools(parts, request, toolbox, desk, context)
      } finally {
        desk.leave()
      }
    },
  }
}

interface OpenedDesk {
  readonly ok: true
  readonly tools: ToolContext
  /** Why a command was not started, where that is no matter of the command. */
  standstill(): string | undefined
  /** What our own git failed with, around what a tool did. */
  failure(): unknown
  leave(): void
}

async function openDesk(
  { desks }: UseToolsParts,
  { workspace }: UseToolsInput,
  { access }: Toolbox,
  effect: EffectId,
  { signal }: EffectContext,
): Promise<OpenedDesk | (Attempt & { ok: false })> {
  if (workspace === null) {
    const tools = { ...NOWHERE, signal }
    const nothing = () => undefined
    return { ok: true, tools, standstill: nothing, failure: nothing, leave: () => {} }
  }
  try {
    const taken = await desks.at(workspace, access, effect)
    if (taken !== undefined) {
      const { leave, failure, ...desk } = taken
      const standstill = () => desk.sandbox.standstill
      return { ok: true, tools: { ...desk, signal }, standstill, failure, leave }
    }
    const message = `there is no workspace of ${workspace.story}`
    return { ok: false, error: { code: 'workspace_missing', message, retry: 'never' } }
  } catch (error) {
    return unavailable(String(error))
  }
}

function unavailable(why: string): Attempt & { ok: false } {
  const message = redact(why).slice(0, 2_000)
  const error = { code: 'sandbox_unavailable', message, retry: 'later' } as const
  return { ok: false, error: { ...error, service: MACHINE_SERVICE } }
}

/** Our own git is not for a model to mend; as with `run_tests`, which is an effect by itself. */
function unrestored(cause: unknown): Attempt & { ok: false } {
  const message = redact(String(cause)).slice(0, 2_000)
  const error = { code: 'workspace_not_restored', message, retry: 'later' } as const
  return { ok: false, error: { ...error, ...machineOf(cause) } }
}

async function useTools(
  parts: UseToolsParts,
  { transcript, reply, ids, isLast, refused: pointless }: UseToolsInput,
  { tools, endsWith }: Toolbox,
  { tools: context, standstill, failure }: OpenedDesk,
  { blobs }: EffectContext,
): Promise<Attempt> {
  const { messages } = await parts.transcripts.readPart(blobs, transcript, reply)
  const made = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls : [],
  )
  const calls = ids.flatMap((id) => made.find((call) => call.id === id) ?? [])
  const isTooLate = ({ name }: ToolCall) => isLast && !endsWith.includes(name)
  const wanted = calls.filter((call) => !pointless.includes(call.id) && !isTooLate(call))
  const carriedOut = await answerCalls(tools, wanted, context)
  // What was cut short by a stop is done again after it, and so is no result.
  if (context.signal.aborted) {
    return { ok: false, error: { code: 'aborted', message: 'stopped', retry: 'later' } }
  }
  // Calls that change something come alone: one that was not started has changed nothing.
  const why = standstill()
  if (why !== undefined) return unavailable(`no command can be started: ${why}`)
  const broken = failure()
  if (broken !== undefined) return unrestored(broken)
  const answers = calls.map(
    (call) =>
      carriedOut.find(({ id }) => id === call.id) ??
      (isTooLate(call) ? tooLate(call, endsWith) : adviseOn(parts, call)),
  )
  const changing = carriedOut.filter((answer) => mayHaveChanged(answer, tools, endsWith))
  const changed = new Set(changing.map(({ id }) => id))
  const taken = answers.map((answer) => withinRow(cleaned(answer, parts.secrets)))
  return keep(parts, transcript, taken, changed, blobs)
}

/** What a command has changed before it failed stays; an edit that failed has changed nothing. */
function mayHaveChanged(
  { name, isError }: AnsweredCall,
  tools: readonly Tool[],
  endsWith: readonly string[],
): boolean {
  const isReadOnly = tools.find((tool) => tool.name === name)?.isReadOnly ?? true
  if (isReadOnly || endsWith.includes(name)) return false
  return !isError || !EDITING.has(name)
}

function tooLate({ id, name }: ToolCall, endsWith: readonly string[]): AnsweredCall {
  const text = `${name} was not run: in the last turn only ${endsWith.join(' or ')} could be called`
  return { id, name, ...refused(text) }
}

function adviseOn({ adviceFor }: UseToolsParts, { id, name }: ToolCall): AnsweredCall {
  return { id, name, ...refused(adviceFor(name, SAME_MAX)) }
}

/** What a role is told goes into the journal, and may hold what a model was told by mistake. */
function cleaned(answer: AnsweredCall, secrets: readonly string[]): AnsweredCall {
  if (answer.ends === undefined) return answer
  const ends: Json = JSON.parse(JSON.stringify(answer.ends), (_, value) =>
    typeof value === 'string' ? redact(value, secrets) : value,
  )
  return { ...answer, ends }
}

function withinRow(answer: AnsweredCall): AnsweredCall {
  const chars = JSON.stringify(answer.ends ?? null).length
  if (chars <= ENDING_CHARS_MAX) return answer
  const { id, name } = answer
  const much = `this has ${chars} characters, and at most ${ENDING_CHARS_MAX} are taken`
  return { id, name, ...refused(`${name} was not taken: ${much}. Say it in fewer words.`) }
}

async function keep(
  { transcripts, secrets }: UseToolsParts,
  before: Transcript,
  answers: readonly AnsweredCall[],
  changed: ReadonlySet<string>,
  blobs: EffectContext['blobs'],
): Promise<Attempt> {
  const results: ToolResult[] = answers.map(({ id, name, text, isError }) => ({
    id,
    name,
    text: redact(text, secrets),
    isError,
  }))
  const message = { role: 'tool', results } as const
  const value: ToolsUsed = {
    transcript: await transcripts.add(blobs, before, { messages: [message] }),
    answers: answers.map(({ id, name, text, isError, ends }) => ({
      id,
      isError,
      result: fingerprint(text),
      mayHaveChanged: changed.has(id),
      ends: ends === undefined ? null : { tool: name, input: ends },
    })),
  }
  return { ok: true, value: value as unknown as Json }
}

/** Where there is no workspace there are only tools that need none. */
const NOWHERE: Omit<ToolContext, 'signal'> = {
  workspace: '/nonexistent',
  sandbox: {
    level: 'none',
    run: async () => {
      throw new Error('there is no workspace here')
    },
    close: async () => {},
  },
  outputs: {
    keep: async () => {
      throw new Error('there is no workspace here')
    },
    read: async () => undefined,
    clean: (text) => text,
    cleanByLine: (text) => text,
  } satisfies OutputFiles,
}
