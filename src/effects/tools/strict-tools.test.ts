import { expect, test } from 'vitest'
import { TERMINAL_TOOLS } from './terminal-tools.ts'
import { definitionOf } from './tool-calls.ts'

const STRICT = [TERMINAL_TOOLS.submit_review, TERMINAL_TOOLS.submit_test_plan]

/** What every provider can hold a call to. */
const KEYWORDS = ['type', 'enum', 'items', 'properties', 'required', 'additionalProperties']

test.each(STRICT)('$name is a form that providers take', (tool) => {
  const { input, isStrict } = definitionOf(tool)
  expect(isStrict).toBe(true)
  const check = (schema: Readonly<Record<string, unknown>>) => {
    expect(KEYWORDS).toEqual(expect.arrayContaining(Object.keys(schema)))
    const properties = (schema.properties ?? {}) as Readonly<Record<string, typeof schema>>
    if (schema.type === 'object') {
      expect(schema.required).toEqual(Object.keys(properties))
      expect(schema.additionalProperties).toBe(false)
      expect(Object.keys(properties).length).toBeGreaterThan(0)
    }
    for (const property of Object.values(properties)) check(property)
    if (schema.items !== undefined) check(schema.items as typeof schema)
  }
  check(input)
})

test('other tools are described as they are', () => {
  const { input, isStrict } = definitionOf(TERMINAL_TOOLS.done)
  expect(isStrict).toBeUndefined()
  expect(JSON.stringify(input)).toContain('maxLength')
})
