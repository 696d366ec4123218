import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ToolsUsed, UseToolsInput } from '../../src/agents/thinking/outcomes.ts'
import type { AgentId, EffectId, Json } from '../../src/agents/values.ts'
import { Transcripts } from '../../src/effects/thinking/transcript.ts'
import { useToolsHandler } from '../../src/effects/thinking/use-tools-handler.ts'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import type { BlobStore } from '../../src/runtime/blobs.ts'

const CHARS_MAX = 200_000
const SECRET = 'sesame88'
const TOOL = 'submit_stories'

let folder: string
let blobs: BlobStore

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slipway-endings-'))
  blobs = openBlobFiles(folder)
})

afterEach(() => rmSync(folder, { recursive: true }))

/** Stories whose JSON has so many characters. */
function storiesOf(unit: string, chars: number): object {
  const lists = { criteria: ['1'], depends_on: [], expected_files: [] }
  const story = { title: 't', ...lists, kind: 'app', estimate: 'small' }
  const stories = Array.from({ length: 10 }, (_, i) => ({ ...story, id: `s${i}`, description: '' }))
  let left = chars - JSON.stringify({ stories }).length
  for (const one of stories) {
    one.description = unit.repeat(Math.min(20_000, left) / unit.length)
    left -= one.description.length
  }
  return { stories: [{ ...stories[0], title: `t${'t'.repeat(left)}` }, ...stories.slice(1)] }
}

/** What comes of a call that ends a state, and whether it fits the journal. */
async function endWith(input: object) {
  const transcripts = new Transcripts()
  const call = { id: 'a', name: TOOL, input }
  const transcript = await transcripts.add(blobs, null, {
    opening: { system: '', tools: [] },
    messages: [{ role: 'assistant', text: '', toolCalls: [call] }],
  })
  const parts = { transcripts, furtherTools: [], adviceFor: () => '', secrets: [SECRET] }
  const desks = { at: async () => undefined, clear: async () => {}, close: async () => {} }
  const handler = useToolsHandler({ ...parts, desks })
  const { sha256, bytes } = transcript.tail
  const request: UseToolsInput = {
    task: 'architect/spec-review',
    withheld: [],
    workspace: null,
    transcript,
    reply: { sha256, bytes },
    ids: ['a'],
    isLast: false,
    refused: [],
  }
  const effect = { id: 'e' as EffectId, agent: 'a' as AgentId, kind: 'use_tools' }
  const context = { signal: new AbortController().signal, blobs }
  const asked = { ...effect, input: request as unknown as Json }
  const attempt = await handler.run(asked, context)
  if (!attempt.ok) throw new Error(attempt.error.message)
  const rowBytes = Buffer.byteLength(JSON.stringify(attempt.value))
  const [answer] = (attempt.value as unknown as ToolsUsed).answers
  return { ends: answer?.ends ?? null, fits: rowBytes <= (handler.policy?.outputBytesMax ?? 0) }
}

describe.each([
  ['Latin', 'x'],
  ['Cyrillic', 'я'],
  ['Chinese', '漢'],
  ['pairs of surrogates', '\u{1f600}'],
])('an ending in %s', (_, unit) => {
  test('fits the journal up to its limit, and is refused beyond', async () => {
    const most = storiesOf(unit, CHARS_MAX)
    expect(await endWith(most)).toEqual({ fits: true, ends: { tool: TOOL, input: most } })
    expect(await endWith(storiesOf(unit, CHARS_MAX + 1))).toEqual({ fits: true, ends: null })
  })
})

test('an ending that grows as secrets are taken out of it is measured after that', async () => {
  const spoken = storiesOf(`${SECRET} `, CHARS_MAX)
  expect(await endWith(spoken)).toEqual({ fits: true, ends: null })
})
