import { expect, test } from 'vitest'
import { rankModels } from './model-choice.ts'

const DAY_MS = 86_400_000
const at = (id: string, day?: number) =>
  day === undefined ? { id } : { id, createdMs: day * DAY_MS }
const best = (...models: ReturnType<typeof at>[]) => rankModels(models).map(({ id }) => id)

test('what does not converse is not chosen', () => {
  const others = [
    ...['text-embedding-3-large', 'whisper-1', 'acme-4-audio-preview', 'acme-image-1', 'dall-e-3'],
    ...['omni-moderation-latest', 'acme-4-realtime', 'acme-4-transcribe', 'tts-1-hd', 'sora-2'],
    ...['acme-4-search-preview', 'o9-deep-research', 'all-minilm:latest', 'ft:acme-4:org::x'],
    ...['imagen-4.0-generate', 'acme-2.5-flash-live', 'nomic-embed-text', 'davinci-002'],
  ]
  expect(best(...others.map((id) => at(id)), at('acme-4'))).toEqual(['acme-4'])
  expect(best(at('olive-7b-instruct'), at('delivery-1')).sort()).toHaveLength(2)
})

test('the newest, whole and lasting one comes first', () => {
  expect(best(at('acme-3', 100), at('acme-5', 300), at('acme-4', 200))).toEqual([
    ...['acme-5', 'acme-4', 'acme-3'],
  ])
  expect(best(at('acme-6-mini', 900), at('acme-6-preview', 800), at('acme-5', 300))).toEqual([
    ...['acme-5', 'acme-6-preview', 'acme-6-mini'],
  ])
})

test('of those within a month of the newest, by number and then by the shortest name', () => {
  expect(
    best(at('acme-5.1-pro', 310), at('acme-5.1', 300), at('acme-5.1-2026-01-01', 300)),
  ).toEqual([...['acme-5.1', 'acme-5.1-pro', 'acme-5.1-2026-01-01']])
  expect(best(at('acme-x-5', 329), at('acme-5.1', 300))[0]).toBe('acme-5.1')
  expect(best(at('acme-x-5', 331), at('acme-5.1', 300))[0]).toBe('acme-x-5')
})

test('without dates the numbers of the name decide, and sizes are none', () => {
  expect(best(at('acme-2.5-pro'), at('acme-3-pro'), at('acme-2-70b'))).toEqual([
    ...['acme-3-pro', 'acme-2.5-pro', 'acme-2-70b'],
  ])
})

test('the order of the list does not matter', () => {
  const models = ['a-1', 'b-1', 'a-2', 'a-2-mini', 'c'].map((id) => at(id))
  expect(best(...models.toReversed())).toEqual(best(...models))
  expect(best()).toEqual([])
})
