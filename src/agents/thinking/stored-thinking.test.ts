import { expect, test } from 'vitest'
import { call, Thinker } from '../../../test/drill/thinker.ts'
import type { JsonObject } from '../values.ts'

/** What was stored before some of it was known, and while calls were remembered in another form. */
function asBefore(thinker: Thinker): void {
  const { short: _, refusedBytes: __, setback: ___, ...rest } = thinker.last.thinking
  const known = { read: { result: 'same', times: 2, changes: 0 } }
  const data = { ...thinker.agent.data, thinking: { ...rest, known } } as unknown as JsonObject
  thinker.agent = { ...thinker.agent, data }
}

test('thinking that an earlier version has stored goes on', () => {
  const thinker = new Thinker()
  asBefore(thinker)
  expect(thinker.grant()).toMatchObject({ kind: 'going' })
  asBefore(thinker)
  thinker.think({ calls: [call('1', false, 'edit')] })
  asBefore(thinker)
  expect(thinker.use(['1'], { mayHaveChanged: true, result: 'changed' })).toMatchObject({
    kind: 'going',
    thinking: { turn: 2, known: { edit: ['changed', 1, 1] }, short: null, setback: null },
  })
  // Everything that is stored is JSON, in which there is no undefined.
  expect(JSON.parse(JSON.stringify(thinker.agent.data))).toEqual(thinker.agent.data)
})
