import { expect, test } from 'vitest'
import type { AgentId, EffectId, Json } from '../../agents/values.ts'
import type { EffectContext } from '../../runtime/effect-handler.ts'
import type { Journal, LoadedAgent } from '../../runtime/journal.ts'
import type { Delivery } from '../../runtime/runtime.ts'
import { loadStoriesHandler } from './load-stories-handler.ts'

const story = (id: string, given: object = {}) => ({
  id,
  title: id,
  description: id,
  criteria: ['1'],
  depends_on: [],
  expected_files: [],
  kind: 'app',
  estimate: 'small',
  ...given,
})

/** A registry that keeps what it is told, by id, and agents with the story that they were given. */
function open() {
  const mail = new Map<string, Delivery>()
  const agents = new Map<string, Json>()
  const registry = {
    createAgent: async ({ id }: { id: AgentId }) => {
      if (agents.has(id)) return 'exists' as const
      agents.set(id, {})
      return 'created' as const
    },
    deliver: async (delivery: Delivery) => {
      if (mail.has(delivery.id)) return 'duplicate' as const
      mail.set(delivery.id, delivery)
      if (delivery.type === 'story_loaded') agents.set(delivery.agent, delivery.payload)
      return 'accepted' as const
    },
  }
  const journal: Pick<Journal, 'loadAgents'> = {
    loadAgents: async (ids) =>
      ids
        .filter((id) => agents.has(id))
        .map(
          (id) => ({ record: { id, data: agents.get(id) }, inbox: [] }) as unknown as LoadedAgent,
        ),
  }
  const handler = loadStoriesHandler(() => registry, journal)
  const loadFrom = (effect: string, said: object, ...stories: object[]) => {
    const criteria = [{ id: '1', text: 'One.' }]
    const input = { run: 'r', criteria, settings: {}, stories, ...said }
    const id = effect as EffectId
    const kind = 'load_stories'
    const put = async (text: string) => ({ sha256: text, bytes: text.length })
    const context = { blobs: { put } } as unknown as EffectContext
    return handler.run({ id, agent: 'r/a' as AgentId, kind, input: input as Json }, context)
  }
  const load = (effect: string, ...stories: object[]) =>
    loadFrom(effect, { spec: 'Build one.' }, ...stories)
  const told = () => [...mail.values()].map(({ agent, type }) => `${type} → ${agent}`)
  return { load, loadFrom, told, mail }
}

test('the dispatcher is told how many there are before the first of them is', async () => {
  const { load, told, mail } = open()
  expect(await load('e1', story('a'))).toEqual({ ok: true, value: { problems: [], count: 1 } })
  expect(told()).toEqual(['stories_loaded → r/dispatcher', 'story_loaded → r/story/a'])
  expect([...mail.values()][0]?.payload).toMatchObject({ count: 1 })
})

test('every story is told which spec it is of', async () => {
  const { load, mail } = open()
  await load('e1', story('a'))
  const loaded = [...mail.values()].find(({ type }) => type === 'story_loaded')
  expect(loaded?.payload).toMatchObject({ spec: { sha256: 'Build one.', bytes: 10 } })
})

test('what a former version asked for is done without the spec', async () => {
  const { loadFrom, mail } = open()
  expect(await loadFrom('e1', {}, story('a'))).toMatchObject({ ok: true, value: { count: 1 } })
  expect(mail.get('e1:story_loaded:r/story/a')?.payload).toMatchObject({ spec: null })
})

test('what cannot be built changes nothing', async () => {
  const { load, told } = open()
  const attempt = await load('e1', story('a', { depends_on: ['a'] }))
  expect(attempt).toMatchObject({ value: { problems: [expect.stringContaining('a → a')] } })
  expect(told()).toEqual([])
})

test('done again it changes nothing', async () => {
  const { load, told } = open()
  await load('e1', story('a'))
  const before = told()
  expect(await load('e1', story('a'))).toMatchObject({ ok: true, value: { problems: [] } })
  expect(told()).toEqual(before)
})

test('a story of an earlier spec counts once, and its name is taken', async () => {
  const { load, mail } = open()
  await load('e1', story('a'))
  await load('e2', story('a'))
  expect(mail.get('e2:stories_loaded:r/dispatcher')?.payload).toMatchObject({ count: 0 })
  const other = await load('e3', story('a', { title: 'Another' }))
  expect(other).toMatchObject({ value: { problems: [expect.stringContaining('another one')] } })
})

test('a story of an earlier spec is told last who waits for it', async () => {
  const { load, loadFrom, told } = open()
  const first = story('a', { kind: 'devops' })
  await load('e1', first)
  const before = told().length
  const criteria = ['One.', 'Two.'].map((text, i) => ({ id: String(i + 1), text }))
  await loadFrom('e2', { criteria }, first, story('b', { criteria: ['2'], depends_on: ['a'] }))
  expect(told().slice(before + 1)).toEqual(['story_loaded → r/story/b', 'story_loaded → r/story/a'])
})
