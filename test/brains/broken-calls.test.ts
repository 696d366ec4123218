import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BrainEvent } from '../../src/effects/brains/brain.ts'
import type { Answer } from '../providers/answer.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { API_SUBJECTS, openSubject, PATIENT } from './api-subjects.ts'
import { only, thinkThrough } from './turn.ts'

let server: ProviderServer

beforeAll(async () => {
  server = await startProviderServer()
})

afterAll(() => server.close())

const CALL = { type: 'call', name: 'read_file', input: { path: 'x'.repeat(60_000) } } as const
const BREAKAGES = ['cut', 'stalled', 'truncated', 'error_in_stream'] as const

/** What a model used by its provider's word; nothing where it did not work at all. */
describe.each(API_SUBJECTS)('$provider', (api) => {
  const think = (answer: Answer): Promise<BrainEvent[]> => {
    server.answer(answer)
    return thinkThrough(openSubject(api, server, { ...PATIENT, idleMs: 500, firstTokenMs: 3_000 }))
  }

  test.each(BREAKAGES)('a reply of calls alone that is %s was worked on', async (broken) => {
    const events = await think({ broken, reply: { parts: [CALL, CALL] } })
    expect(events.at(-1)).toMatchObject({ type: 'failed' })
    const [told, ...others] = only(events, 'usage')
    expect(told?.usage).toMatchObject({ outputTokens: null })
    expect(others).toEqual([])
  })

  test.each(['empty', 'error_in_stream'] as const)(
    'one that is %s before it begins was not',
    async (broken) => {
      const events = await think({ broken, frames: 0 })
      expect(events.at(-1)).toMatchObject({ type: 'failed' })
      expect(only(events, 'usage')).toEqual([])
    },
  )
})
