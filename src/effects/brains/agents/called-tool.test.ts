import { expect, test } from 'vitest'
import { namesItsTool, readAnnouncedCall, readCalledTool } from './called-tool.ts'

const OURS = { server: 'slipway', tool: 'done' }
const MARK = { is_mcp_tool_call: true }

test('a call is known as Codex marks it, with its input', () => {
  const input = { summary: 'Done.' }
  const step = { rawInput: { ...OURS, arguments: input }, _meta: MARK }
  expect(readCalledTool(step)).toEqual({ ...OURS, input })
})

test('a call is announced also by an adapter that does not mark it', () => {
  const rawInput = { ...OURS, arguments: { summary: 'Done.' } }
  expect(readAnnouncedCall({ rawInput })).toEqual({ ...OURS, input: { summary: 'Done.' } })
  expect(readAnnouncedCall({ rawInput: { command: 'ls' } })).toBeUndefined()
})

test('a call is known as Claude Code names it', () => {
  const step = { name: 'mcp__slipway__done', rawInput: { summary: 'Done.' } }
  expect(readCalledTool(step)).toEqual(OURS)
})

test('a server and a tool whose names have underscores are told apart', () => {
  expect(readCalledTool({ name: 'mcp__my_mail__send_all' })).toEqual({
    server: 'my_mail',
    tool: 'send_all',
  })
})

test.each([
  ['an input that looks like a call', { rawInput: OURS }],
  ['an input with the mark in it', { rawInput: { ...OURS, _meta: MARK } }],
  ['a mark that is none', { rawInput: OURS, _meta: { is_mcp_tool_call: 'true' } }],
  ['a marked command', { rawInput: { command: 'mcp.slipway.done' }, _meta: MARK }],
  ['a name that only holds ours', { name: 'sh mcp__slipway__done' }],
  ['nothing', {}],
])('no call: %s', (_, step) => {
  expect(readCalledTool(step)).toBeUndefined()
})

test('a step that says nothing of its tool leaves known what it calls', () => {
  expect(namesItsTool({ _meta: {} })).toBe(false)
  expect(namesItsTool({ name: null })).toBe(false)
  expect(namesItsTool({ name: 'exec_command' })).toBe(true)
  expect(namesItsTool({ rawInput: { command: 'ls' } })).toBe(true)
})
