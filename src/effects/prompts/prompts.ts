import { readFileSync } from 'node:fs'
import { delimit } from './material.ts'
import {
  LOOP_TEXTS,
  type LoopTextName,
  SYSTEM_VARIABLES,
  TASKS,
  type TaskName,
  type VariableKind,
  type Variables,
} from './prompt-catalog.ts'

/** Each task has a part that never changes within a state, and the message that opens it. */
export type PromptName = `${TaskName}.system` | `${TaskName}.task` | `loop/${LoopTextName}`

type DeclaredIn<Name extends PromptName> = Name extends `${TaskName}.system`
  ? typeof SYSTEM_VARIABLES
  : Name extends `${infer Task extends TaskName}.task`
    ? (typeof TASKS)[Task]['variables']
    : Name extends `loop/${infer Text extends LoopTextName}`
      ? (typeof LOOP_TEXTS)[Text]
      : never

/** What a prompt is filled in with: all of its variables, those that may be empty as '' too. */
export type PromptVariables<Name extends PromptName> = {
  readonly [Variable in keyof DeclaredIn<Name>]: string
}

interface Prompt {
  readonly paragraphs: readonly string[]
  readonly variables: Variables
}

// Beside this file, and beside the folder of the chunk that it is bundled into.
const FOLDER = new URL('../prompts/', import.meta.url)
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
/** Added to every system part. */
const RULES = 'shared/rules.system'

const loaded = new Map<string, Prompt>()

/**
 * A prompt with its variables filled in, literally: what looks like a placeholder in a value stays
 * as it is. A paragraph that mentions a variable which is empty is left out. Throws on a variable
 * that is unknown, missing, or empty where it may not be.
 */
export function renderPrompt<Name extends PromptName>(
  name: Name,
  variables: PromptVariables<Name>,
): string {
  const prompt = loaded.get(name) ?? load(name)
  loaded.set(name, prompt)
  const values = checkValues(name, prompt.variables, variables)
  const isLeftOut = (paragraph: string) =>
    placeholdersIn(paragraph).some((variable) => values[variable] === '')
  return prompt.paragraphs
    .filter((paragraph) => !isLeftOut(paragraph))
    .map((paragraph) => fill(paragraph, prompt.variables, values))
    .join('\n\n')
}

/** Whether a stored name is that of a task. */
export function isTaskName(name: string): name is TaskName {
  return Object.hasOwn(TASKS, name)
}

function checkValues(
  name: string,
  declared: Variables,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const variable of Object.keys(given)) {
    if (!Object.hasOwn(declared, variable)) throw new Error(`${name} has no variable ${variable}`)
  }
  for (const [variable, kind] of Object.entries(declared)) {
    const value = given[variable]
    if (typeof value !== 'string') throw new Error(`${name} needs the variable ${variable}`)
    if (value === '' && !kind.endsWith('?')) throw new Error(`${name}: ${variable} is empty`)
    if (!isFromOutside(kind) && value.includes('\n'))
      throw new Error(`${name}: ${variable} has lines`)
  }
  return given
}

function fill(
  paragraph: string,
  declared: Variables,
  values: Readonly<Record<string, string>>,
): string {
  return paragraph.replace(PLACEHOLDER, (_, variable: string) => {
    const value = values[variable] as string
    return isFromOutside(declared[variable] as VariableKind) ? delimit(variable, value) : value
  })
}

function load(name: string): Prompt {
  const { files, variables } = find(name)
  const text = files.map(readPrompt).join('\n\n')
  const found = placeholdersIn(text)
  const unknown = found.find((variable) => !Object.hasOwn(variables, variable))
  if (unknown !== undefined) throw new Error(`${name} mentions ${unknown}, which is not declared`)
  const unused = Object.keys(variables).find((variable) => !found.includes(variable))
  if (unused !== undefined) throw new Error(`${name} does not mention ${unused}`)
  return { paragraphs: text.split(/\n{2,}/), variables }
}

function find(name: string): { readonly files: readonly string[]; readonly variables: Variables } {
  const [, task = '', part] = /^(.*)\.(system|task)$/.exec(name) ?? []
  if (isTaskName(task)) {
    if (part === 'task') return { files: [name], variables: TASKS[task].variables }
    return { files: [`${TASKS[task].system}.system`, RULES], variables: SYSTEM_VARIABLES }
  }
  const [, loop = ''] = /^loop\/(.*)$/.exec(name) ?? []
  if (!Object.hasOwn(LOOP_TEXTS, loop)) throw new Error(`there is no prompt ${name}`)
  return { files: [name], variables: LOOP_TEXTS[loop as LoopTextName] }
}

function readPrompt(name: string): string {
  return readFileSync(new URL(`${name.replaceAll('_', '-')}.md`, FOLDER), 'utf8').trim()
}

function placeholdersIn(text: string): readonly string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, variable = '']) => variable)
}

function isFromOutside(kind: VariableKind): boolean {
  return !kind.startsWith('text')
}
