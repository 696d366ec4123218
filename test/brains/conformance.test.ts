import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Brain } from '../../src/effects/brains/brain.ts'
import { readCassette } from '../../src/effects/brains/cassette.ts'
import { openPlayingBrain, openRecordingBrain } from '../../src/effects/brains/recorded-brain.ts'
import { readScenario } from '../../src/effects/brains/scenario.ts'
import { openScriptedBrain } from '../../src/effects/brains/scripted-brain.ts'
import { type ProviderServer, startProviderServer } from '../providers/server.ts'
import { API_SUBJECTS, conformanceOf } from './api-subjects.ts'
import { describeBrain, type Play } from './conformance.ts'
import { thinkThrough } from './turn.ts'

let server: ProviderServer
let folder: string
let cassettes = 0

beforeAll(async () => {
  server = await startProviderServer()
  folder = await mkdtemp(join(tmpdir(), 'slipway-brains-'))
})

afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

for (const api of API_SUBJECTS) describeBrain(conformanceOf(api, () => server))

// A scenario with such a count is refused before it is played.
describeBrain({
  name: 'scripted',
  without: ['bad_count'],
  open: async (play) => openScripted(play),
})

describeBrain({
  name: 'recording',
  without: ['bad_count'],
  open: async (play) => openRecordingBrain(openScripted(play), { file: nextCassette() }),
})

describeBrain({
  name: 'recorded',
  without: ['hang', 'bad_count'],
  async open(play) {
    const file = nextCassette()
    await thinkThrough(openRecordingBrain(openScripted(play), { file }))
    const cassette = readCassette(await readFile(file, 'utf8'), file)
    if (!cassette.ok) throw new Error(cassette.problem)
    return openPlayingBrain(cassette.takes)
  },
})

function nextCassette(): string {
  cassettes += 1
  return join(folder, `${cassettes}.jsonl`)
}

/** JSON is YAML, so a scenario can be written down as data. */
function openScripted(play: Play): Brain {
  const read = readScenario(JSON.stringify({ replies: [scriptOf(play)] }), 'play.yaml')
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return openScriptedBrain(read.scenario)
}

function scriptOf(play: Play): object {
  if ('hangs' in play) return { do: [{ text: 'Half a' }, { hang: true }] }
  if ('fails' in play) {
    const retry = play.retryAfterMs === undefined ? {} : { retry_after_ms: play.retryAfterMs }
    return { do: [{ text: 'Half a' }, { call: 'submit' }, { fail: play.fails, ...retry }] }
  }
  const { parts, outputTokens = 1, end } = play.reply
  const steps = parts.map((part) => {
    if (part.type === 'call') return { call: part.name, input: part.input }
    if (part.type === 'bad_call') return { call: part.name, input: part.text }
    return { [part.type]: part.text }
  })
  const usage = { usage: { input: 100, cached: 50, output: outputTokens } }
  return { do: [...steps, usage], ...(end === 'length' ? { finish: 'length' } : {}) }
}
