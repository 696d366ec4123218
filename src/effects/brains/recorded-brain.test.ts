import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Brain, BrainEvent, Message, ToolResult, Turn } from './brain.ts'
import { readCassette, type Take, writeTake } from './cassette.ts'
import { cleanCall, HELD_BACK } from './clean-call.ts'
import { openPlayingBrain, openRecordingBrain } from './recorded-brain.ts'
import { readScenario } from './scenario.ts'
import { openScriptedBrain } from './scripted-brain.ts'

const KEY = 'a-key-that-looks-like-nothing-else'

const TURN: Turn = {
  role: 'coder',
  state: 'CODING',
  story: 'S1',
  number: 1,
  system: `Never say ${KEY}.`,
  messages: [{ role: 'user', text: 'Go.' }],
  tools: [{ name: 'say', description: 'Says it.', input: { type: 'object' } }],
  outputTokensMax: 100,
}

const SCENARIO = `
replies:
  - when: { turn: 1, attempt: 1 }
    do: [{ fail: overloaded }]
  - when: { turn: 1 }
    do:
      - text: The key is ${KEY.slice(0, 9)}
      - text: ${KEY.slice(9)}, and another is
      - text: " sk-ant-api03-0123456789abcdef0123"
      - { call: say, input: { deep: ["${KEY}"] } }
  - when: { turn: 2 }
    do: [{ text: Done. }]
`

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-cassette-'))
})

afterAll(() => rm(folder, { recursive: true }))

function openScripted(): Brain {
  const read = readScenario(SCENARIO, 'a.yaml')
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return openScriptedBrain(read.scenario)
}

async function think(brain: Brain, turn: Partial<Turn>): Promise<BrainEvent[]> {
  const events: BrainEvent[] = []
  const { signal } = new AbortController()
  for await (const event of brain.think({ ...TURN, ...turn }, signal)) events.push(event)
  return events
}

/** The turn after the one that called a tool, with its text as it was told and its call as kept. */
function secondTurn(events: readonly BrainEvent[]): Partial<Turn> {
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  const toolCalls = events.flatMap((event) =>
    event.type === 'tool_call' ? [cleanCall(event.call, [KEY])] : [],
  )
  const messages: Message[] = [...TURN.messages, { role: 'assistant', text, toolCalls }]
  return { number: 2, messages: [...messages, { role: 'user', text: 'More.' }] }
}

async function record(file: string): Promise<readonly Take[]> {
  const brain = openRecordingBrain(openScripted(), { file, secrets: [KEY] })
  await think(brain, {})
  const first = await think(brain, { attempt: 2 })
  await think(brain, secondTurn(first))
  const cassette = readCassette(await readFile(file, 'utf8'), file)
  if (!cassette.ok) throw new Error(cassette.problem)
  return cassette.takes
}

describe('a cassette', () => {
  test('plays a whole conversation, faults and all, without the secrets', async () => {
    const brain = openPlayingBrain(await record(join(folder, 'whole.jsonl')))
    const system = 'Never say [redacted].'
    expect(await think(brain, { system })).toMatchObject([{ failure: { kind: 'overloaded' } }])
    const first = await think(brain, { system, attempt: 2 })
    expect(first).toMatchObject([
      { type: 'text', text: 'The key is [redacted], and another is [redacted]' },
      { type: 'tool_call', call: { name: 'say', input: HELD_BACK } },
      { type: 'finished' },
    ])
    const second = await think(brain, { system, ...secondTurn(first) })
    expect(second).toMatchObject([{ text: 'Done.' }, { type: 'finished' }])
  })

  test('holds no secret, and is for its owner alone', async () => {
    const file = join(folder, 'secret.jsonl')
    await record(file)
    const text = await readFile(file, 'utf8')
    expect(text).not.toContain(KEY.slice(9))
    expect(text).not.toContain('sk-ant')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('has calls as a conversation keeps them', () => {
    const input = { url: 'postgres://app:devpass1@db/app' }
    const plain = { id: 'sk-ant-api03-0123456789abcdef0123', name: 'say', input }
    const secret = { id: 'b', name: 'say', input: { [KEY]: btoa(KEY) } }
    const events: BrainEvent[] = [
      { type: 'tool_call', call: plain },
      { type: 'tool_call', call: secret },
      { type: 'tool_call', call: { ...plain, id: `c ${KEY}` } },
      { type: 'finished', reason: 'tool_calls', model: 'm', opaque: { signed: KEY } },
    ]
    const line = writeTake(TURN, events, [KEY])
    expect(line).not.toContain(KEY)
    expect(line).not.toContain(btoa(KEY))
    const cassette = readCassette(line, 'calls')
    expect(cassette.ok && cassette.takes[0]?.events).toEqual([
      { type: 'tool_call', call: plain },
      { type: 'tool_call', call: { ...secret, input: HELD_BACK } },
      // No tool can have that name, so that the reply is refused as it was.
      { type: 'tool_call', call: { id: 'c [redacted]', name: '[redacted]', input: HELD_BACK } },
      { type: 'finished', reason: 'tool_calls', model: 'm' },
    ])
  })

  test('that a kill cut short is read up to there', async () => {
    const file = join(folder, 'torn.jsonl')
    await record(file)
    const torn = readCassette((await readFile(file, 'utf8')).slice(0, -20), 'torn')
    expect(torn.ok && torn.takes).toHaveLength(2)
  })

  test('tells no cost that no turn can have', () => {
    const known = { cachedTokens: 3, cacheWriteTokens: null, outputTokens: 1.5 }
    const usage = { type: 'usage', usage: { inputTokens: 2 ** 64, ...known } } as const
    const end = { type: 'finished', reason: 'stop', model: 'm' } as const
    const cassette = readCassette(writeTake(TURN, [usage, end], []), 'absurd')
    const told = { ...usage.usage, inputTokens: null, outputTokens: null }
    expect(cassette).toMatchObject({ ok: true, takes: [{ events: [{ usage: told }, end] }] })
  })

  test('that is none is told so, with the line', async () => {
    const file = join(folder, 'bad.jsonl')
    await record(file)
    const text = await readFile(file, 'utf8')
    const problemOf = (bad: string) => {
      const read = readCassette(bad, 'bad.jsonl')
      return read.ok ? '' : read.problem
    }
    expect(problemOf(text.replace('"coder"', '7'))).toContain('bad.jsonl:1: turn.role')
    expect(problemOf(`${text}{"turn":\n`)).toContain('bad.jsonl:4: the line')
    const twice = text.replace(/("events":\[)(\{[^\n]*\})\]/, '$1$2,$2]')
    expect(problemOf(twice)).toContain('bad.jsonl:1: events: do not end with one')
  })
})

describe('a turn after tools', () => {
  const END: BrainEvent = { type: 'finished', reason: 'stop', model: 'm' }
  const END_LINE = `"events":[${JSON.stringify(END)}]}\n`
  /** As they were written when the words of tools were still among what a turn is known by. */
  const WITH_WORDS = `{"turn":{"role":"coder","state":"CODING","story":"S1","number":1,"attempt":1,"system":"4d8adff3edd76fef","tools":"f57822c27d350b3f","messages":["ae4570c752530a0b","f87c6bb93f16f050","222c5e110995a0ae"]},${END_LINE}`
  const RESULT = { id: 'a', name: 'run_tests', text: '3 passed in 12 ms', isError: false }

  const after = (...results: readonly Partial<ToolResult>[]): Partial<Turn> => {
    const calls = { role: 'assistant', text: '', toolCalls: [] } as const
    const told: Message = { role: 'tool', results: results.map((r) => ({ ...RESULT, ...r })) }
    return { messages: [...TURN.messages, calls, told] }
  }

  const playAfter = async (line: string, ...results: readonly Partial<ToolResult>[]) => {
    const cassette = readCassette(line, 'tools')
    if (!cassette.ok) throw new Error(cassette.problem)
    const [event] = await think(openPlayingBrain(cassette.takes, [KEY]), after(...results))
    return event?.type === 'failed' ? event.failure.message : 'played'
  }

  test('is known by what came of them, and not by what they said', async () => {
    const second = { id: 'b', name: 'look' }
    const line = writeTake({ ...TURN, ...after({}, second) }, [END], [KEY])
    expect(await playAfter(line, { text: '3 passed in 97 ms' }, second)).toBe('played')
    for (const others of [
      [{ isError: true }, second],
      [{ name: 'other' }, second],
      [second, {}],
      [{}],
    ]) {
      expect(await playAfter(line, ...others)).toContain('message 3 differs')
    }
  })

  test('is known by their words on a cassette that has only these', async () => {
    expect(await playAfter(WITH_WORDS, {})).toBe('played')
    expect(await playAfter(WITH_WORDS, { text: 'x' })).toContain('message 3 differs')
  })
})

describe('a turn that is not on the cassette', () => {
  const messageOf = async (turn: Partial<Turn>) => {
    const takes = await record(join(folder, `${Math.random()}.jsonl`))
    const [event] = await think(openPlayingBrain(takes, [KEY]), turn)
    if (event?.type !== 'failed') throw new Error('it is')
    expect(event.failure.kind).toBe('rejected')
    return event.failure.message
  }

  test('is told apart', async () => {
    expect(await messageOf({ system: 'x' })).toContain('the system prompt differs')
    expect(await messageOf({ tools: [] })).toContain('the tools differ')
    expect(await messageOf({ forcedTool: 'say' })).toContain('the tools differ')
    const other: Message = { role: 'user', text: 'x' }
    expect(await messageOf({ messages: [other] })).toContain('message 1 differs')
    const longer = [...TURN.messages, other]
    expect(await messageOf({ messages: longer })).toContain('it has 1 messages, not 2')
    expect(await messageOf({ attempt: 7 })).toContain('it has attempt 2')
    expect(await messageOf({ number: 7 })).toContain('It has: coder in CODING turn 1; coder in')
  })
})

test('a turn that cannot be written down fails', async () => {
  const brain = openRecordingBrain(openScripted(), { file: join(folder, 'no', 'such', 'folder') })
  const events = await think(brain, { number: 2 })
  expect(events.at(-1)).toMatchObject({
    type: 'failed',
    failure: { kind: 'rejected', message: expect.stringContaining('cannot be written') },
  })
})

test('a turn that was given up is not written down', async () => {
  const file = join(folder, 'aborted.jsonl')
  const brain = openRecordingBrain(openScripted(), { file })
  for await (const event of brain.think({ ...TURN, number: 2 }, AbortSignal.abort())) {
    expect(event).toMatchObject({ type: 'failed', failure: { kind: 'aborted' } })
  }
  await expect(stat(file)).rejects.toThrow('ENOENT')
})
