import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AgentId, RunId } from '../../src/agents/values.ts'
import { makeFolder, openState, RUN } from '../disk/state.ts'

let folder: string
let remove: () => void
let state: Awaited<ReturnType<typeof openState>>

beforeEach(async () => {
  ;({ folder, remove } = makeFolder())
  state = await openState(folder)
})

afterEach(async () => {
  await state.close()
  remove()
})

const REFUSAL = 'holds half a character or a NUL'

test.each([
  ['half a character', 'x\ud800'],
  ['a NUL', 'x\0y'],
])('nothing is named with %s, since another name would become the same', async (_, name) => {
  const { runtime } = state
  await expect(state.note(name, null)).rejects.toThrow(REFUSAL)
  await expect(runtime.createRun(name as RunId, {})).rejects.toThrow(REFUSAL)
  const agent = { id: name as AgentId, run: RUN, role: 'notebook' }
  await expect(runtime.createAgent(agent)).rejects.toThrow(REFUSAL)
  await state.close()
  state = await openState(folder)
  expect(await state.note(name.slice(0, 1), null)).toBe('accepted')
})

test('what is told may hold both', async () => {
  const payload = { '\udc00': ['x\ud800', 'x\0y'] }
  await state.note('n1', payload)
  await state.close()
  state = await openState(folder)
  expect(await state.last()).toEqual(payload)
  expect(await state.note('n1', payload)).toBe('duplicate')
})
