import { expect, test } from 'vitest'
import { z } from 'zod'
import { TOOL_NAMES } from '../src/effects/tools/toolbox.ts'
import { inputRows, toolTable } from './tool-table.ts'

test('every tool is in the table, also one without an input', () => {
  const named = toolTable().matchAll(/^\| `(\w+)` \|/gm)
  expect(new Set([...named].map(([, name]) => name))).toEqual(new Set(TOOL_NAMES))
  expect(toolTable()).toContain('| `run_tests` | none | | |')
  expect(toolTable()).toContain(
    '| `escalate` | `options` | list of at most 50: text, at most 500 characters | `[]` |',
  )
})

test('an input has its value and its default', () => {
  const item = z.strictObject({ id: z.string().regex(/^a|b$/), on: z.boolean().default(true) })
  const schema = z.strictObject({
    path: z.string().min(1).max(4_096).optional(),
    kind: z.enum(['one', 'other']),
    size: z.int().min(1).max(5_000).default(7),
    from: z.int().min(1).optional(),
    items: z.array(item).min(1).max(3),
    commands: z.array(z.array(z.string())),
  })
  expect(inputRows(schema)).toEqual([
    ['`path`', 'text, at most 4,096 characters', 'none'],
    ['`kind`', '`one`, `other`', 'needed'],
    ['`size`', 'whole number, 1 to 5,000', '`7`'],
    ['`from`', 'whole number, at least 1', 'none'],
    ['`items`', 'list of 1 to 3: entry', 'needed'],
    ['`items[].id`', 'text like `^a\\|b$`', 'needed'],
    ['`items[].on`', '`true`, `false`', '`true`'],
    ['`commands`', 'list: list: text', 'needed'],
  ])
})
