import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { TASKS } from '../prompts/prompt-catalog.ts'
import { renderPrompt } from '../prompts/prompts.ts'
import { TERMINAL_TOOLS } from './terminal-tools.ts'
import { defineTool, said } from './tool.ts'
import { toolboxOf } from './toolbox.ts'

const TASK_NAMES = Object.keys(TASKS) as (keyof typeof TASKS)[]
const CHANGING = ['edit_file', 'write_file', 'shell', 'run_tests']

const further = defineTool({
  name: 'mcp__x__y',
  description: 'x',
  schema: z.strictObject({}),
  isReadOnly: false,
  run: async () => said(''),
})

describe.each(TASK_NAMES)('%s', (task) => {
  const { tools, endsWith, access } = toolboxOf(task)
  const names = tools.map(({ name }) => name)

  test('has each tool once, and all those that end it', () => {
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(expect.arrayContaining([...endsWith]))
    const terminal = names.filter((name) => name in TERMINAL_TOOLS)
    expect(terminal).toEqual(endsWith)
  })

  test('is told of the tools that end it', () => {
    const prompt = renderPrompt(`${task}.system`, { place: 'Here.', instructions: '' })
    for (const name of endsWith) expect(prompt).toContain(`\`${name}\``)
  })

  test('changes files only where it may write', () => {
    const changing = names.filter((name) => CHANGING.includes(name))
    expect(changing).toEqual(access === 'write' ? CHANGING : [])
  })

  test("has the user's own tools only where it may write", () => {
    const all = toolboxOf(task, { further: [further] }).tools
    expect(all.includes(further)).toBe(access === 'write')
  })
})

test('what is withheld is not there', () => {
  const { tools, endsWith } = toolboxOf('coder/planning', { withheld: ['ask_question'] })
  expect(endsWith).toEqual(['submit_plan', 'mark_story_complete'])
  expect(tools.map(({ name }) => name)).not.toContain('ask_question')
})

test('an unknown task is a bug', () => {
  expect(() => toolboxOf('coder/sleeping')).toThrow('coder/sleeping')
  expect(() => toolboxOf('constructor')).toThrow()
})
