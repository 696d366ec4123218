import type { z } from 'zod'
import type { Json } from '../../agents/values.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { TestResult } from '../testing/test-result.ts'
import type { OutputFiles } from './output-files.ts'

/** What a test run came to, with all that is held of what it printed. */
export interface PrintedTests {
  readonly result: TestResult
  /** By command, as plain text without secrets. */
  readonly printed: readonly string[]
}

/** What a tool may use. */
export interface ToolContext {
  /** The folder that paths are meant in. */
  readonly workspace: string
  /** May write to the workspace exactly when the state allows that. */
  readonly sandbox: Sandbox
  /** Where output goes that is too long to be shown whole. */
  readonly outputs: OutputFiles
  readonly signal: AbortSignal
  /** What the story has changed so far, as a diff; absent where there is no story. */
  readonly readDiff?: (path: string | undefined) => Promise<string>
  /** How the workspace is tested; absent where nothing may be run. */
  readonly runTests?: (signal: AbortSignal) => Promise<PrintedTests>
}

/** What the model is told. An error too is an answer: it can do something else. */
export interface ToolAnswer {
  readonly text: string
  readonly isError: boolean
  /** For tools that end a state: what they were called with, and nothing is done here. */
  readonly ends?: Json
}

/** Something that a model may call. */
export interface Tool<Schema extends z.ZodType = z.ZodType> {
  readonly name: string
  /** For the model. */
  readonly description: string
  readonly schema: Schema
  /** Has the provider hold calls to the schema, where it can; every property is required then. */
  readonly isStrict?: true
  /** Changes nothing, so that several can run at once. */
  readonly isReadOnly: boolean
  /** Must not reject: what goes wrong is an answer. */
  run(input: z.output<Schema>, context: ToolContext): Promise<ToolAnswer>
}

/** Keeps the schema and the input of a tool together. */
export function defineTool<Schema extends z.ZodType>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool
}

export const said = (text: string): ToolAnswer => ({ text, isError: false })
export const refused = (text: string): ToolAnswer => ({ text, isError: true })
