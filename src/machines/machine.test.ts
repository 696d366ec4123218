import { expect, test } from 'vitest'
import { MACHINES } from './catalog.ts'
import { defineMachine } from './machine.ts'
import { step } from './step.ts'

const machine = defineMachine({
  id: 'x',
  revision: '1',
  date: '2026-01-01',
  title: 'x',
  initial: 'A',
  terminal: ['DONE'],
  states: { A: 'x', B: 'x', DONE: 'x' },
  transitions: [
    { from: '*', event: 'abandoned', to: 'DONE' },
    { from: 'A', event: 'abandoned', to: 'B' },
  ],
})

test("a state's own row wins over *, wherever it stands", () => {
  expect(step(machine, 'A', 'abandoned')).toBe('B')
  expect(step(machine, 'B', 'abandoned')).toBe('DONE')
})

test('* stands for every state, also for those of the overlay, and not for the time before', () => {
  expect(step(machine, 'DONE', 'abandoned')).toBe('DONE')
  expect(step(machine, 'SUSPEND', 'abandoned')).toBe('DONE')
  expect(step(machine, null, 'abandoned')).toBeUndefined()
})

test.each(MACHINES)('$name cannot be changed by code', (published) => {
  const [, events] = [...published.lookup][0] ?? []
  expect(() => (published.transitions as unknown[]).push({})).toThrow(TypeError)
  expect(() => Object.assign(published.transitions[0] ?? {}, { to: 'DONE' })).toThrow(TypeError)
  expect(() => Object.assign(published.states, { NEW: 'x' })).toThrow(TypeError)
  expect(() => (published.terminal as string[]).push('NEW')).toThrow(TypeError)
  expect(() => (events as Map<string, string>).set('merged', 'DONE')).toThrow(TypeError)
  expect(() => (published.lookup as Map<string, unknown>).clear()).toThrow(TypeError)
})
