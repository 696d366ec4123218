import { expect, test } from 'vitest'
import { FULL_DISK } from '../../journal/file-system.ts'
import type { Health } from '../../runtime/runtime.ts'
import { lacksRoom, unlessFull } from './lack-of-room.ts'

const full = (state: 'waiting_for_journal' | 'waiting_for_room' | 'failed'): Health => ({
  state,
  error: `journal.db: ${FULL_DISK}, it is tried again`,
})

test.each([
  ['a journal without room', full('waiting_for_journal'), true],
  ['blobs without room', full('waiting_for_room'), true],
  ['a busy journal', { state: 'waiting_for_journal', error: 'it is held' } as const, false],
  ['one that waits for nothing any more', full('failed'), false],
  ['one that is well', { state: 'well' } as const, false],
  ['one that does not say', null, false],
])('%s', (_, health, expected) => expect(lacksRoom(health)).toBe(expected))

test('what cannot be stored is not waited for', async () => {
  const never = new Promise(() => {})
  const runtime = { health: () => full('waiting_for_journal') }
  await expect(unlessFull(runtime, '/state', never)).rejects.toThrow(
    '/state: the disk is full; free some space, and type it again',
  )
  expect(await unlessFull(runtime, '/state', Promise.resolve('stored'))).toBe('stored')
})
