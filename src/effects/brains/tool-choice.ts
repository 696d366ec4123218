import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { BrainFailure, ToolDefinition, Turn } from './brain.ts'

type ToolChoice = NonNullable<LanguageModelV3CallOptions['toolChoice']>

/**
 * How a turn is held to one tool, or to none. `named` and `none` leave all tools on offer, since
 * what a cache holds begins with them. The others are for servers that refuse those: only the tool
 * in question is on offer, and has to be called or may be, or no tool is.
 */
export type ChoiceWay = 'named' | 'required' | 'offered' | 'none' | 'without'

/** Each is tried where the one before it is refused. */
const FORCING: readonly ChoiceWay[] = ['named', 'required', 'offered']
const FORBIDDING: readonly ChoiceWay[] = ['none', 'without']

/** LM Studio, DeepSeek and their like name the parameter; a router says so with a 404. */
const ABOUT_CHOICE = /tool[_ -]?choice/i
const REFUSALS: readonly BrainFailure['kind'][] = ['rejected', 'auth']

/** Whether a server does not take the choice of tools, as far as its words say it. */
export function isChoiceRefused({ kind, message }: BrainFailure): boolean {
  return REFUSALS.includes(kind) && ABOUT_CHOICE.test(message)
}

/** Remembers for one brain which way its server takes, so that a refusal is met once. */
export class ChoiceMemory {
  readonly #taken = new Map<readonly ChoiceWay[], ChoiceWay>()

  /** The way to begin with; undefined where the turn leaves the model its choice. */
  wayFor(turn: Turn): ChoiceWay | undefined {
    const ways = waysOf(turn)
    return this.#taken.get(ways) ?? ways[0]
  }

  /** The server has answered when it was asked that way. */
  keep(turn: Turn, way: ChoiceWay | undefined): void {
    if (way !== undefined) this.#taken.set(waysOf(turn), way)
  }
}

/** The way to try where one was refused; undefined after the last. */
export function choiceAfter(turn: Turn, way: ChoiceWay | undefined): ChoiceWay | undefined {
  const ways = waysOf(turn)
  return way === undefined ? undefined : ways[ways.indexOf(way) + 1]
}

/** What is on offer that way, and how it is said what may be called. */
export function choiceOf(
  { tools, forcedTool = '' }: Turn,
  way: ChoiceWay | undefined,
): { readonly tools: readonly ToolDefinition[]; readonly toolChoice: ToolChoice } {
  const only = tools.filter(({ name }) => name === forcedTool)
  switch (way) {
    case 'named':
      return { tools, toolChoice: { type: 'tool', toolName: forcedTool } }
    case 'required':
      return { tools: only, toolChoice: { type: 'required' } }
    case 'offered':
      return { tools: only, toolChoice: { type: 'auto' } }
    case 'none':
      return { tools, toolChoice: { type: 'none' } }
    case 'without':
      return { tools: [], toolChoice: { type: 'none' } }
    default:
      return { tools, toolChoice: { type: 'auto' } }
  }
}

function waysOf({ tools, forcedTool, isToolless }: Turn): readonly ChoiceWay[] {
  if (tools.length === 0) return []
  if (isToolless) return FORBIDDING
  return forcedTool === undefined ? [] : FORCING
}
