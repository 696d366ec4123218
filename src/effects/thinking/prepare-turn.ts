import type { Note, ThinkInput } from '../../agents/thinking/outcomes.ts'
import type { EffectContext } from '../../runtime/effect-handler.ts'
import type { Message, Turn } from '../brains/brain.ts'
import { redact } from '../guards/redaction.ts'
import type { Tool } from '../tools/tool.ts'
import { definitionOf } from '../tools/tool-calls.ts'
import { type Toolbox, toolboxOf } from '../tools/toolbox.ts'
import type { Owner } from '../workspace/place.ts'
import type { CompactionWords } from './compaction.ts'
import { fitted } from './fitting.ts'
import type { Conversation, Transcripts } from './transcript.ts'

/** What a turn is made of. */
export interface TurnParts {
  readonly transcripts: Transcripts
  /** Tools of the user's own servers. */
  readonly furtherTools: readonly Tool[]
  /** What a task begins with: the system prompt and the first message. */
  openingOf(
    task: string,
    variables: Readonly<Record<string, string>>,
    folder: string | undefined,
  ): Promise<{ readonly system: string; readonly text: string }>
  /** The words of the loop itself. */
  wordsOf(note: Note, endsWith: readonly string[]): string
  readonly compaction: CompactionWords
  findFolder(owner: Owner): string | undefined
  /** Values that no model may see and nobody may store. */
  readonly secrets: readonly string[]
}

/** A turn, and what it came from. */
export interface Prepared {
  readonly turn: Turn
  readonly toolbox: Toolbox
  readonly conversation: Conversation
  /** What the model is told in this turn besides what was there before. */
  readonly told: readonly Message[]
}

/** Puts together what a model is told in one turn. */
export async function prepareTurn(
  parts: TurnParts,
  request: ThinkInput,
  { blobs }: EffectContext,
): Promise<Prepared> {
  const { task, state, story, workspace, transcript, notes, turn: number, purpose } = request
  const toolbox = toolboxOf(task, { further: parts.furtherTools, withheld: request.withheld })
  const folder = workspace === null ? undefined : parts.findFolder(workspace)
  const conversation =
    transcript === null
      ? await open(parts, request, toolbox, folder, blobs)
      : await parts.transcripts.read(blobs, transcript)
  const isSummary = purpose === 'summary'
  const words = isSummary
    ? [parts.compaction.request]
    : notes.map((note) => parts.wordsOf(note, toolbox.endsWith))
  const told: Message[] =
    words.length === 0 ? [] : [{ role: 'user', text: redact(words.join('\n\n'), parts.secrets) }]
  const turn: Turn = {
    role: task.slice(0, task.indexOf('/')),
    task,
    state,
    story,
    number,
    system: conversation.system,
    messages: fitted(conversation, told, request.bytesMax),
    tools: conversation.tools,
    endsWith: isSummary ? [] : toolbox.endsWith,
    outputTokensMax: request.outputTokensMax,
    ...(request.isLast && { forcedTool: toolbox.endsWith[0] }),
    ...(isSummary && { isToolless: true as const }),
    ...(folder !== undefined && { workspace: { folder, access: toolbox.access } }),
  }
  return { turn, toolbox, conversation, told }
}

async function open(
  { openingOf, secrets }: TurnParts,
  { task, variables }: ThinkInput,
  { tools }: Toolbox,
  folder: string | undefined,
  blobs: EffectContext['blobs'],
): Promise<Conversation> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables)) {
    values[name] =
      typeof value === 'string' ? value : Buffer.from(await blobs.get(value)).toString()
  }
  const { system, text } = await openingOf(task, values, folder)
  return {
    system: redact(system, secrets),
    tools: tools.map(definitionOf),
    messages: [{ role: 'user', text: redact(text, secrets) }],
  }
}
