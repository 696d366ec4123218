import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TERMINAL_TOOLS } from '../tools/terminal-tools.ts'
import { TASKS as TOOLBOX_TASKS, toolboxOf } from '../tools/toolbox.ts'
import { delimit, replaceMaterial } from './material.ts'
import { describePlace } from './place.ts'
import {
  KEPT_SECTIONS,
  LOOP_TEXTS,
  OUTPUTS,
  SYSTEM_VARIABLES,
  TASKS,
  type TaskName,
  type Variables,
} from './prompt-catalog.ts'
import { isTaskName, type PromptName, type PromptVariables, renderPrompt } from './prompts.ts'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const SYSTEM_CHARS_MAX = 2_500
const TASK_CHARS_MAX = 1_000

const tasks = Object.keys(TASKS) as TaskName[]
const prompts: readonly (readonly [PromptName, Variables])[] = [
  ...tasks.map((task) => [`${task}.system`, SYSTEM_VARIABLES] as const),
  ...tasks.map((task) => [`${task}.task`, TASKS[task].variables] as const),
  ...Object.entries(LOOP_TEXTS).map(
    ([name, variables]) => [`loop/${name}` as PromptName, variables] as const,
  ),
]

/** Any prompt with any variables, as it is rendered from what was stored. */
function render(name: PromptName, values: Readonly<Record<string, string>>): string {
  return renderPrompt(name, values as PromptVariables<PromptName>)
}

function valuesFor(variables: Variables, of: (variable: string) => string) {
  return Object.fromEntries(Object.keys(variables).map((variable) => [variable, of(variable)]))
}

const fileOf = (name: string) => `${name.replaceAll('_', '-')}.md`
const textOf = (name: string) => readFileSync(join(FOLDER, fileOf(name)), 'utf8')

test('every file belongs to a prompt, and every prompt has its files', () => {
  const found = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  const wanted = [
    'shared/rules.system.md',
    ...tasks.flatMap((task) => [fileOf(`${TASKS[task].system}.system`), fileOf(`${task}.task`)]),
    ...Object.keys(LOOP_TEXTS).map((name) => fileOf(`loop/${name}`)),
  ]
  expect(found.filter((file) => file.endsWith('.md')).sort()).toEqual([...new Set(wanted)].sort())
})

describe.each(prompts)('%s', (name, variables) => {
  test('shows each of its variables, and nothing of its making', () => {
    const values = valuesFor(variables, (variable) => `value of ${variable}`)
    const text = render(name, values)
    for (const value of Object.values(values)) expect(text).toContain(value)
    expect(text).not.toMatch(/\{\{|\}\}|undefined|\n{3}/)
    expect(text.trim()).toBe(text)
  })

  test('says nothing about what is empty', () => {
    const values = valuesFor(variables, (variable) =>
      variables[variable]?.endsWith('?') ? '' : 'a value',
    )
    const text = render(name, values)
    expect(text).not.toMatch(/\{\{|\}\}|\n{3}|:\n\n|:$/)
    const bound = name.endsWith('.system') ? SYSTEM_CHARS_MAX : TASK_CHARS_MAX
    expect(text.length).toBeLessThanOrEqual(bound)
    expect(text.length).toBeGreaterThan(20)
  })

  test('needs all of its variables and no other', () => {
    const values = valuesFor(variables, () => 'a value')
    expect(() => render(name, { ...values, another: 'x' })).toThrow('no variable another')
    for (const [variable, kind] of Object.entries(variables)) {
      const { [variable]: _, ...rest } = values
      expect(() => render(name, rest)).toThrow(`needs the variable ${variable}`)
      const empty = () => render(name, { ...values, [variable]: '' })
      if (kind.endsWith('?')) expect(empty).not.toThrow()
      else expect(empty).toThrow(`${variable} is empty`)
      const lines = () => render(name, { ...values, [variable]: 'a\nb' })
      if (!kind.startsWith('text')) expect(lines).not.toThrow()
      else expect(lines).toThrow(`${variable} has lines`)
    }
  })

  test('gives what comes from outside lines of its own', () => {
    const text = render(
      name,
      valuesFor(variables, () => 'X'),
    )
    for (const [variable, kind] of Object.entries(variables)) {
      const lines = new RegExp(`^<(${variable}-\\w{6})>\\nX\\n</\\1>$`, 'm')
      if (!kind.startsWith('text')) expect(text).toMatch(lines)
    }
  })
})

describe.each(tasks)('%s', (task) => {
  const text = textOf(`${TASKS[task].system}.system`)
  const { endsWith } = toolboxOf(task)

  test('names the tools that end it, and no other', () => {
    for (const ending of endsWith) expect(text).toContain(`\`${ending}\``)
    const others = Object.keys(TERMINAL_TOOLS).filter((tool) => !endsWith.includes(tool))
    for (const other of others) expect(text).not.toContain(`\`${other}\``)
  })

  test('is known by its name', () => {
    expect(isTaskName(task)).toBe(true)
    expect(isTaskName(`${task}s`)).toBe(false)
  })
})

test('there are prompts for exactly what there are tools for', () => {
  expect([...TOOLBOX_TASKS].sort()).toEqual([...tasks].sort())
})

test('a name that every object has is no prompt', () => {
  expect(isTaskName('constructor')).toBe(false)
  expect(() => render('loop/constructor' as PromptName, {})).toThrow('no prompt')
  expect(() => render('../../package' as PromptName, {})).toThrow('no prompt')
})

test('the compiler knows the variables of each prompt', () => {
  expect(renderPrompt('loop/cut_off', {})).toContain('cut off')
  // @ts-expect-error It needs the variable `endings`.
  expect(() => renderPrompt('loop/no_call', {})).toThrow()
  // @ts-expect-error It has no variable `story`.
  expect(() => renderPrompt('loop/no_call', { endings: 'done', story: 'x' })).toThrow()
  // @ts-expect-error There is no such prompt.
  expect(() => renderPrompt('coder/dreaming.task', {})).toThrow()
})

test('values are shown literally', () => {
  const story = "{{criteria}} $& $1 $' {{place}}\n\n\n{{"
  const values = valuesFor(TASKS['coder/fixing-conflict'].variables, () => 'a value')
  expect(render('coder/fixing-conflict.task', { ...values, story })).toContain(`\n${story}\n`)
})

test('a name is of what programs said in every prompt or in none', () => {
  const all = [...prompts.map(([, variables]) => variables), KEPT_SECTIONS as Variables]
  const named = all.flatMap((variables) => Object.entries(variables))
  for (const [name, kind] of named)
    expect([name, OUTPUTS.has(name)]).toEqual([name, kind.startsWith('output')])
})

test('material is found whatever is in it', () => {
  const part = fc.oneof(fc.constantFrom('</a-', '<a-', '<b-0a1b2c>', '>', '\n'), fc.string())
  fc.assert(
    fc.property(fc.array(part), fc.array(part), (a, b) => {
      const found: string[] = []
      const text = `1\n${delimit('a', a.join(''))}\n2\n${delimit('b', b.join(''))}\n3`
      const rest = replaceMaterial(text, (name, made) => {
        found.push(made)
        return name
      })
      expect(rest).toBe('1\na\n2\nb\n3')
      expect(found).toEqual([delimit('a', a.join('')), delimit('b', b.join(''))])
    }),
  )
})

test('no text can end its own tags', () => {
  const part = fc.oneof(fc.constantFrom('</message-', '<message-', '>', '\n'), fc.string())
  fc.assert(
    fc.property(fc.array(part, { minLength: 1 }), (parts) => {
      const message = `x${parts.join('')}`
      const text = render('loop/message', { message, failures: '' })
      const closing = /<\/message-\w{6}>$/.exec(text)?.[0] as string
      expect(text.split(closing)).toHaveLength(2)
      expect(message).not.toContain(closing.slice(2, -1))
      expect(render('loop/message', { message, failures: '' })).toBe(text)
    }),
  )
})

describe('a place', () => {
  test.each([
    [{ access: 'read', level: 'bubblewrap', hosts: [] }, /Nothing that you do changes it/],
    [{ access: 'write', level: 'bubblewrap', hosts: [] }, /sandbox.*no network/],
    [{ access: 'write', level: 'container', hosts: ['a.test', 'b.test'] }, /only a\.test, b\.test/],
    [{ access: 'write', level: 'none', hosts: [] }, /nothing holds them/],
  ] as const)('is described: %j', (place, words) => {
    expect(describePlace(place)).toMatch(words)
    expect(describePlace(place)).not.toContain('\n')
  })
})
