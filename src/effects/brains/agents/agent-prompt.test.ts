import { expect, test } from 'vitest'
import { definitionOf } from '../../tools/tool-calls.ts'
import { toolboxOf } from '../../tools/toolbox.ts'
import type { Turn } from '../brain.ts'
import { offeredTools, writePrompt } from './agent-prompt.ts'

const TURN: Turn = {
  role: 'coder',
  state: 'CODING',
  story: 'S1',
  number: 2,
  system: 'You write code.',
  messages: [
    { role: 'user', text: 'Add a test.' },
    {
      role: 'assistant',
      text: 'I ask first.',
      toolCalls: [{ id: 'call_1_1', name: 'ask_question', input: { question: 'Which?' } }],
    },
    {
      role: 'tool',
      results: [{ id: 'call_1_1', name: 'ask_question', text: 'The first.', isError: false }],
    },
  ],
  tools: ['done', 'ask_question'].map((name) => ({ name, description: '', input: {} })),
  outputTokensMax: 1_000,
}

test('a prompt has everything that was said, in its order, and how to end', () => {
  const prompt = writePrompt(TURN)
  const parts = [
    'You write code.',
    'Add a test.',
    'I ask first.',
    'ask_question with {"question":"Which?"}',
    'ask_question answered:\nThe first.',
    'one of the tools done, ask_question',
  ]
  const places = parts.map((part) => prompt.indexOf(part))
  expect(places).not.toContain(-1)
  expect([...places].sort((a, b) => a - b)).toEqual(places)
})

test('a prompt has no half of a character, whoever brought it', () => {
  const half = '😀'.charAt(0)
  const results = [{ id: 'call_1_1', name: 'look', text: `seen ${half}`, isError: false }]
  const prompt = writePrompt({
    ...TURN,
    system: `You write ${half}code.`,
    messages: [
      { role: 'user', text: `Add 😀 ${half}` },
      { role: 'assistant', text: half, toolCalls: [{ id: 'a', name: 'look', input: { half } }] },
      { role: 'tool', results },
    ],
  })
  expect(prompt.isWellFormed()).toBe(true)
  expect(prompt).toContain('You write \ufffdcode.\n\nAdd 😀 \ufffd')
})

test('a forced tool is the only one that is offered and named', () => {
  const turn = { ...TURN, forcedTool: 'done' }
  expect(offeredTools(turn).map(({ name }) => name)).toEqual(['done'])
  expect(writePrompt(turn)).toContain('call the tool done of')
})

test('of the tools of a state, an agent is offered and told those alone that end it', () => {
  const { tools, endsWith } = toolboxOf('coder/coding')
  const turn = { ...TURN, messages: [], tools: tools.map(definitionOf), endsWith }
  expect(tools.length).toBeGreaterThan(endsWith.length)
  expect(offeredTools(turn).map(({ name }) => name)).toEqual([...endsWith])
  const prompt = writePrompt(turn)
  expect(prompt).toContain('one of the tools done, ask_question, report_blocked of')
  for (const { name } of tools.filter((tool) => !endsWith.includes(tool.name))) {
    expect(prompt).not.toContain(name)
  }
  expect(writePrompt({ ...turn, forcedTool: 'done' })).toContain('call the tool done of')
})
