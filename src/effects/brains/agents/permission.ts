import { resolve } from 'node:path'
import type { ToolCallUpdate } from '@agentclientprotocol/sdk'
import { isWithin } from '../../sandbox/workspace-path.ts'
import type { ToolDefinition, TurnWorkspace } from '../brain.ts'
import { TOOL_SERVER } from './agent-prompt.ts'
import { type CalledTool, namesItsTool, readCalledTool } from './called-tool.ts'

/** What an agent wants to do, as far as it says. */
export interface WantedStep {
  /** The protocol's word for it: `read`, `edit`, `execute` and so on. */
  readonly kind?: string | null | undefined
  readonly title?: string | null | undefined
  readonly name?: string | null | undefined
  /** The tool of an MCP server that it calls, where the agent names it in fields of its own. */
  readonly call?: CalledTool | undefined
  /** The files that it is about, as far as it names them. */
  readonly paths: readonly string[]
}

/** Who asks: what its workspace allows, and the tools of ours that it may call. */
export interface Asker {
  readonly workspace: TurnWorkspace
  readonly tools: readonly ToolDefinition[]
}

const HARMLESS: readonly string[] = ['read', 'search', 'think']
const CHANGING: readonly string[] = ['edit', 'delete', 'move']
const DOING: readonly string[] = [...CHANGING, 'execute']

/**
 * What is known of a step, with what is said about it now. One that was announced as a change stays
 * one: opencode asks for a folder outside by another kind, and means the file that it is to write.
 */
export function learnOf(known: WantedStep | undefined, said: ToolCallUpdate): WantedStep {
  const places = said.locations?.map(({ path }) => path) ?? []
  // Where a file is moved to, Codex names in what it shows alone.
  const shown = said.content?.flatMap((part) => (part.type === 'diff' ? [part.path] : [])) ?? []
  return {
    kind: isChange(known) ? known?.kind : (said.kind ?? known?.kind),
    title: said.title ?? known?.title,
    name: said.name ?? known?.name,
    call: namesItsTool(said) ? readCalledTool(said) : known?.call,
    paths: [...new Set([...(known?.paths ?? []), ...places, ...shown])],
  }
}

/**
 * Whether an agent may do what it asks for. A state that only reads allows reading and our own
 * tools; one that writes allows everything, but changes to files only where all are named and within
 * the workspace. This is what the agent is told. What holds it is its sandbox.
 */
export function isPermitted(step: WantedStep, { workspace, tools }: Asker): boolean {
  // Before its kind: Codex says of every call of a tool that it executes something.
  if (isOurs(step, tools)) return true
  const kind = step.kind ?? 'other'
  if (workspace.access === 'read') {
    return HARMLESS.includes(kind) || (!DOING.includes(kind) && isSpelledLikeOurs(step, tools))
  }
  if (!isChange(step)) return true
  const { folder } = workspace
  return (
    step.paths.length > 0 && step.paths.every((path) => isWithin(folder, resolve(folder, path)))
  )
}

function isChange(step: WantedStep | undefined): boolean {
  return CHANGING.includes(step?.kind ?? 'other')
}

/** Whether a step is a call of one of our tools, by what no model can write. */
function isOurs({ call }: WantedStep, tools: readonly ToolDefinition[]): boolean {
  return call?.server === TOOL_SERVER && tools.some(({ name }) => name === call.tool)
}

/**
 * Whether a step has nothing but the name of one of our tools for its title. A title may be a
 * command that a model wrote, so this counts only for what the agent calls nothing worse, and no
 * way of writing a name is among these that would be the path of a file.
 */
function isSpelledLikeOurs({ title, name }: WantedStep, tools: readonly ToolDefinition[]): boolean {
  const spellings = tools.flatMap((tool) => [
    ...['__', '_', '.'].flatMap((mark) => [
      `mcp${mark}${TOOL_SERVER}${mark}${tool.name}`,
      `${TOOL_SERVER}${mark}${tool.name}`,
    ]),
    `${tool.name} (${TOOL_SERVER} MCP Server)`,
  ])
  return [title, name].some((text) => typeof text === 'string' && spellings.includes(text))
}

/** An answer that can be chosen. */
export interface PermissionChoice {
  readonly optionId: string
  readonly kind: string
}

/** The answer for this once, or the lasting one where there is no other; undefined when neither. */
export function choosePermission(
  choices: readonly PermissionChoice[],
  isAllowed: boolean,
): string | undefined {
  const kinds = isAllowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always']
  const [choice] = kinds.flatMap((kind) => choices.filter((one) => one.kind === kind))
  return choice?.optionId
}
