import type { ToolCallUpdate } from '@agentclientprotocol/sdk'
import { describe, expect, test } from 'vitest'
import { choosePermission, isPermitted, learnOf } from './permission.ts'

const tools = [{ name: 'done', description: '', input: {} }]
const reader = { workspace: { folder: '/w', access: 'read' }, tools } as const
const writer = { workspace: { folder: '/w', access: 'write' }, tools } as const

describe('who may only read', () => {
  test.each([
    ['read', true],
    ['search', true],
    ['think', true],
    ['edit', false],
    ['delete', false],
    ['move', false],
    ['execute', false],
    ['fetch', false],
    ['switch_mode', false],
    ['other', false],
    [undefined, false],
  ])('asks for %s: %s', (kind, isAllowed) => {
    expect(isPermitted({ kind, paths: [] }, reader)).toBe(isAllowed)
  })

  test.each(['mcp__slipway__done', 'slipway_done', 'done (slipway MCP Server)'])(
    'may call our tool under the title %s, unless the step is of a kind that does something',
    (title) => {
      expect(isPermitted({ kind: 'other', title, paths: [] }, reader)).toBe(true)
      expect(isPermitted({ kind: 'execute', title, paths: [] }, reader)).toBe(false)
      expect(isPermitted({ kind: 'edit', title, paths: [] }, reader)).toBe(false)
    },
  )

  test.each(['execute', 'edit', 'other', undefined])(
    'may call our tool where the agent says that it is that, as a step of kind %s',
    (kind) => {
      const call = { server: 'slipway', tool: 'done' }
      expect(isPermitted({ kind, call, paths: [] }, reader)).toBe(true)
    },
  )

  test.each([
    ['mail', 'done'],
    ['slipway', 'remove'],
  ])('may not call a tool of %s named %s', (server, tool) => {
    const title = 'mcp.slipway.done'
    const step = { kind: 'execute', title, call: { server, tool }, paths: [] }
    expect(isPermitted(step, reader)).toBe(false)
  })

  test.each([
    'mcp__mail__done',
    'slipway',
    'echo slipway_done > a.txt',
    'slipway_done; rm a.txt',
    'slipway/done',
    'slipway done',
  ])('may not do what is titled %s', (title) => {
    expect(isPermitted({ kind: 'other', title, paths: [] }, reader)).toBe(false)
    expect(isPermitted({ title, paths: [] }, reader)).toBe(false)
  })
})

describe('who may write', () => {
  test.each([
    [['/w/a.ts'], true],
    [['a.ts', 'b/c.ts'], true],
    [['/w'], true],
    [['/etc/passwd'], false],
    [['/w/../etc/passwd'], false],
    [['/w-other/a.ts'], false],
    [['/w/a.ts', '/home/sandbox/.claude/settings.json'], false],
  ])('edits %j: %s', (paths, isAllowed) => {
    expect(isPermitted({ kind: 'edit', paths }, writer)).toBe(isAllowed)
  })

  test.each(['edit', 'delete', 'move'])('may not %s what is not named', (kind) => {
    expect(isPermitted({ kind, paths: [] }, writer)).toBe(false)
  })

  test('may not move a file out, where only what is shown names the place', () => {
    const toolCallId = '1'
    const diff = { type: 'diff', path: '/etc/moved.txt', oldText: 'a', newText: 'b' } as const
    const announced = learnOf(undefined, { toolCallId, kind: 'edit', content: [diff] })
    const asked = learnOf(announced, { toolCallId, locations: [{ path: '/w/a.txt' }] })
    expect(isPermitted(asked, writer)).toBe(false)
  })

  test('may not get a folder outside for a change, and may for a command', () => {
    const toolCallId = '1'
    const asked: ToolCallUpdate = { toolCallId, kind: 'other', locations: [{ path: '/etc' }] }
    const change = learnOf(undefined, { toolCallId, kind: 'edit' })
    const command = learnOf(undefined, { toolCallId, kind: 'execute' })
    expect(isPermitted(learnOf(change, asked), writer)).toBe(false)
    expect(isPermitted(learnOf(command, asked), writer)).toBe(true)
  })

  test('may run commands, which the sandbox holds', () => {
    expect(isPermitted({ kind: 'execute', title: 'npm test', paths: [] }, writer)).toBe(true)
  })
})

test('the answer is for this once where that is offered', () => {
  const choices = [
    { optionId: '1', kind: 'allow_always' },
    { optionId: '2', kind: 'allow_once' },
    { optionId: '3', kind: 'reject_always' },
  ]
  expect(choosePermission(choices, true)).toBe('2')
  expect(choosePermission(choices, false)).toBe('3')
  expect(choosePermission(choices.slice(0, 2), false)).toBeUndefined()
})
