import { beforeEach, expect, test } from 'vitest'
import type { BlobRef } from '../../agents/values.ts'
import { type BlobStore, NoRoomError } from '../../runtime/blobs.ts'
import { Transcripts } from './transcript.ts'

const OPENING = { system: 'You write code.', tools: [] }
const ASKED = { role: 'user', text: 'Begin.' } as const
const CALLED = {
  role: 'assistant',
  text: '',
  toolCalls: [{ id: 'c1', name: 'shell', input: { command: 'ls' } }],
} as const

const resultOf = (text: string) =>
  ({ role: 'tool', results: [{ id: 'c1', name: 'shell', text, isError: false }] }) as const

let blobs: BlobStore & { readonly texts: string[] }

beforeEach(() => {
  const kept = new Map<string, string>()
  blobs = {
    get texts() {
      return [...kept.values()]
    },
    async put(content) {
      const text = String(content)
      const ref = { sha256: await sha256(text), bytes: Buffer.byteLength(text) }
      kept.set(ref.sha256, text)
      return ref
    },
    async get({ sha256: name }: BlobRef) {
      const text = kept.get(name)
      if (text === undefined) throw new Error(`no blob ${name}`)
      return Buffer.from(text)
    },
  }
})

async function sha256(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex')
}

test('short parts travel along, and another process reads them without the disk', async () => {
  const transcripts = new Transcripts()
  const opened = await transcripts.add(blobs, null, { opening: OPENING, messages: [ASKED] })
  const called = await transcripts.add(blobs, opened, { messages: [CALLED] })
  const answered = await transcripts.add(blobs, called, { messages: [resultOf('a.txt')] })
  expect(blobs.texts).toEqual([])
  const read = await new Transcripts().read(blobs, answered)
  expect(read).toEqual({ ...OPENING, messages: [ASKED, CALLED, resultOf('a.txt')] })
})

test('what is settled is kept, and travels no more', async () => {
  const transcripts = new Transcripts()
  const opened = await transcripts.add(blobs, null, { opening: OPENING, messages: [ASKED] })
  const called = await transcripts.add(blobs, opened, { messages: [CALLED] })
  const settled = await transcripts.settle(blobs, called)
  expect(blobs.texts).toHaveLength(2)
  expect(JSON.stringify(settled)).not.toContain('shell')
  const read = await new Transcripts().read(blobs, settled)
  expect(read.messages.slice(0, 2)).toEqual([ASKED, CALLED])
})

test.each([
  ['at the limit they travel', 4_096, 1],
  ['one character more, and all before the last are kept', 4_097, 0],
])('%s', async (_, charsMax, travelling) => {
  const transcripts = new Transcripts()
  const opened = await transcripts.add(blobs, null, { opening: OPENING, messages: [ASKED] })
  const first = opened.tail.text?.length ?? Number.NaN
  const empty = await transcripts.add(blobs, opened, { messages: [resultOf('')] })
  const rest = charsMax - first - (empty.tail.text?.length ?? Number.NaN)
  const full = await transcripts.add(blobs, opened, { messages: [resultOf('x'.repeat(rest))] })
  expect(full.travelling).toHaveLength(travelling)
  expect(blobs.texts).toHaveLength(1 - travelling)
  expect((await new Transcripts().read(blobs, full)).system).toBe(OPENING.system)
})

test('a store that has waited for room in vain is not asked again', async () => {
  let puts = 0
  const put = async () => {
    puts += 1
    throw new NoRoomError('it is full')
  }
  const opening = { opening: OPENING, messages: [{ ...ASKED, text: 'x'.repeat(1_000_000) }] }
  const adding = new Transcripts().add({ ...blobs, put }, null, opening)
  await expect(adding).rejects.toThrow('it is full')
  expect(puts).toBe(1)
})
