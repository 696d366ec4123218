import { describe, expect, test } from 'vitest'
import type { BrainEvent, Message, Turn } from './brain.ts'
import { readScenario } from './scenario.ts'
import { openScriptedBrain } from './scripted-brain.ts'

const TURN: Turn = {
  role: 'coder',
  state: 'CODING',
  story: 'S1',
  number: 1,
  system: '',
  messages: [{ role: 'user', text: 'Go.' }],
  tools: [],
  outputTokensMax: 100,
}

const SCENARIO = `
title: A coder whose provider fails once, and whose tests fail once
replies:
  - when: { role: coder, state: CODING, turn: 1, attempt: 1, contains: Go }
    do: [{ fail: rate_limited, retry_after_ms: 1500 }]
  - when: { role: coder, state: CODING, turn: 1, contains: Go }
    do:
      - reasoning: It needs a file.
      - text: I write it.
      - call: write_file
        input: { path: a.ts, lines: [1, two, null] }
      - call: submit
      - usage: { input: 1200, cached: 1000, output: 40 }
  - when: { role: coder, state: CODING, turn: 1, contains: 1 test failed }
    do: [{ text: I mend it. }]
  - when: { role: coder, state: CODING, turn: { from: 2, to: 3 }, story: [S1, S2] }
    do: [{ text: More. }]
    finish: length
  - when: { role: coder, state: CODING, turn: { from: 2 }, story: null }
    do: [{ text: For nobody. }]
  - when: { role: architect }
    do: [{ call: approve }]
`

async function think(turn: Partial<Turn>, scenario = SCENARIO): Promise<BrainEvent[]> {
  const read = readScenario(scenario, 'a.yaml')
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const events: BrainEvent[] = []
  const brain = openScriptedBrain(read.scenario)
  const { signal } = new AbortController()
  for await (const event of brain.think({ ...TURN, ...turn }, signal)) events.push(event)
  return events
}

describe('which reply is given', () => {
  test('a fault at the first try, success at the second, in whatever process', async () => {
    const failure = { kind: 'rate_limited', message: expect.any(String), retryAfterMs: 1_500 }
    expect(await think({})).toEqual([{ type: 'failed', failure }])
    expect(await think({ attempt: 1 })).toEqual([{ type: 'failed', failure }])
    expect((await think({ attempt: 2 })).at(-1)).toMatchObject({ type: 'finished' })
  })

  test('everything that a reply says, with calls last and ids of their own', async () => {
    expect(await think({ attempt: 2 })).toEqual([
      { type: 'reasoning', text: 'It needs a file.' },
      { type: 'text', text: 'I write it.' },
      {
        type: 'usage',
        usage: { inputTokens: 1200, cachedTokens: 1000, cacheWriteTokens: null, outputTokens: 40 },
      },
      {
        type: 'tool_call',
        call: {
          id: 'call_1_1',
          name: 'write_file',
          input: { path: 'a.ts', lines: [1, 'two', null] },
        },
      },
      { type: 'tool_call', call: { id: 'call_1_2', name: 'submit', input: {} } },
      { type: 'finished', reason: 'tool_calls', model: 'scripted' },
    ])
  })

  test('an input that is nothing is not an empty one', async () => {
    const [event] = await think({}, 'replies: [{ do: [{ call: submit, input: null }] }]')
    expect(event).toMatchObject({ call: { name: 'submit', input: null } })
  })

  test('by what the last message says, of a human or of tools', async () => {
    const results = [{ id: 'x', name: 'test', text: '1 test failed', isError: true }]
    const messages: Message[] = [{ role: 'tool', results }]
    expect(await think({ messages })).toMatchObject([{ text: 'I mend it.' }, { reason: 'stop' }])
  })

  test('by ranges of turns and by story', async () => {
    expect(await think({ number: 3, story: 'S2' })).toMatchObject([
      { text: 'More.' },
      { reason: 'length' },
    ])
    expect(await think({ number: 9, story: null })).toMatchObject([{ text: 'For nobody.' }, {}])
  })
})

describe('a turn that nobody expected', () => {
  test('says what was asked and what was expected', async () => {
    const [event] = await think({ number: 4 })
    expect(event).toMatchObject({ type: 'failed', failure: { kind: 'rejected' } })
    const message = event?.type === 'failed' ? event.failure.message : ''
    expect(message).toContain('coder in CODING, story S1, turn 4, attempt 1, after "Go."')
    expect(message).toContain('story ["S1","S2"], turn {"from":2,"to":3}')
    expect(message).not.toContain('architect')
  })

  test('lists everything when nothing is near', async () => {
    const [event] = await think({ role: 'pm', state: 'DRAFTING' })
    expect(JSON.stringify(event)).toContain('architect')
  })

  test('is one that forces a tool which the reply does not call', async () => {
    const forced = await think({ attempt: 2, forcedTool: 'submit' })
    expect(forced.at(-1)).toMatchObject({ type: 'finished' })
    const other = await think({ attempt: 2, forcedTool: 'ask' })
    expect(other).toMatchObject([{ failure: { kind: 'rejected' } }])
    expect(JSON.stringify(other)).toContain('with ask forced')
  })

  test('is not one for which a reply was written', async () => {
    const scenario = 'replies: [{ when: { forced: ask }, do: [{ text: No. }] }]'
    expect(await think({ forcedTool: 'ask' }, scenario)).toMatchObject([{ text: 'No.' }, {}])
    expect(await think({}, scenario)).toMatchObject([{ type: 'failed' }])
  })
})

/** What a few lines make ten thousand of. */
const MANY = `replies: [&a [x], &b [${'*a, '.repeat(10)}], &c [${'*b, '.repeat(10)}], ${'*c, '.repeat(100)}]`

describe('a scenario that cannot be played', () => {
  const problemsOf = (text: string) => {
    const read = readScenario(text, 'a.yaml')
    return read.ok ? [] : read.problems
  }

  test.each([
    ['replies:\n  - do: [{ texts: Hm }]', 'a.yaml:2:10: replies[0].do[0]: Unrecognized key'],
    ['replies:\n  - do:\n      - fail: sad', 'a.yaml:3:15: replies[0].do[0].fail: Invalid option'],
    ['replies: []', 'a.yaml:1:10: replies: Too small'],
    ['replies:\n  - when: { turn: 0 }\n    do: [{ text: x }]', 'a.yaml:2:19: replies[0].when.turn'],
    [
      'replies:\n  - when: { role: codr }\n    do: [{ text: x }]',
      'a.yaml:2:19: replies[0].when.role: no turn has the role "codr": did you mean coder?',
    ],
    [
      'replies:\n  - when: { role: [coder, dispatcher] }\n    do: [{ text: x }]',
      'a.yaml:2:27: replies[0].when.role[1]: no turn has the role "dispatcher": there are coder,',
    ],
    [
      'replies: [{ when: { state: CODNIG }, do: [{ text: x }] }]',
      'when.state: no turn has the state "CODNIG": did you mean CODING?',
    ],
    [
      'replies: [{ when: { task: coder/codng }, do: [{ text: x }] }]',
      'when.task: no turn has the task "coder/codng": did you mean coder/coding?',
    ],
    ['replies: [{ do: [{ text: x, call: y }] }]', 'has to have one of text'],
    ['replies: [{ do: [{ text: x, input: {} }] }]', 'has an input, but no call'],
    ['replies: [{ do: [{ call: x, input: { a: { __proto__: {} } } }] }]', '__proto__ is no name'],
    [
      'replies:\n  - do: [{ text: x, message: why }]',
      'a.yaml:2:30: replies[0].do[0].message: says how it fails, but there is no fail',
    ],
    [
      'replies:\n  - do: [{ call: x, retry_after_ms: 5 }]',
      'a.yaml:2:37: replies[0].do[0].retry_after_ms: says how it fails, but there is no fail',
    ],
    [
      'replies:\n  - do: [{ fail: auth }, { usage: { input: 1 } }]',
      'a.yaml:2:26: replies[0].do[1]: is never played: the reply ends with the step before',
    ],
    [
      'replies:\n  - do: [{ hang: true }, { wait_ms: 1 }, { text: x }]',
      'a.yaml:2:26: replies[0].do[1]: is never played: the reply ends with the step before',
    ],
    [
      'replies:\n  - do: [{ text: x }, { fail: auth }]\n    finish: length',
      'a.yaml:3:13: replies[0].finish: is never said: the reply does not end by itself',
    ],
    [
      'replies:\n  - when: { attempt: { from: 3, to: 2 } }\n    do: [{ text: x }]',
      'a.yaml:2:37: replies[0].when.attempt.to: is less than from',
    ],
    ['replies: [{ do: [{ reasoning: Hm }] }]', 'replies[0].do: says nothing'],
    [
      'replies:\n  - do:\n      - usage: { input: 1 }\n      - text: x\n      - usage: { input: 2 }',
      'a.yaml:5:9: replies[0].do[2]: says what the turn used a second time',
    ],
    [
      'replies: [{ do: [{ text: x }, { usage: { output: 1000000001 } }] }]',
      'replies[0].do[1].usage.output: Too big',
    ],
    ['replies: [{ do: [{ call: x, input: .nan }] }]', 'replies[0].do[0].input'],
    ['replies: [', 'a.yaml:1:11: '],
    ['', 'a.yaml:1:1: the file: Invalid input'],
    ['title: t\nreplies: *all', 'a.yaml:2:10: *all names nothing before it'],
    [
      'replies:\n  - do: [{ text: *t }]\n  - do: [{ text: &t x }, { text: *u }]',
      'a.yaml:2:18: *t names nothing before it\na.yaml:3:34: *u names nothing before it',
    ],
    ['*all : 1', 'a.yaml:1:1: *all names nothing before it'],
    [
      'replies: &all\n  - do: [{ call: x, input: *all }]',
      'a.yaml:2:28: *all stands in what it names',
    ],
    [MANY, 'a.yaml:1:1: the file: Excessive alias count'],
    [
      'replies:\n  - when: { role: coder, turn: 1 }\n    do: [{ text: x }]\n' +
        '  - when: { turn: 1, role: coder }\n    do: [{ text: y }]',
      'a.yaml:4:5: replies[1]: is never given: replies[0] is for all of its turns',
    ],
  ])('%j', (text, problem) => {
    expect(problemsOf(text).join('\n')).toContain(problem)
  })
})

describe('after a reply, another one', () => {
  const isTaken = (...replies: readonly string[]) =>
    readScenario(`replies: [${replies.join(', ')}]`, 'a.yaml').ok
  const when = (conditions: string, steps = '{ text: x }') =>
    `{ when: { ${conditions} }, do: [${steps}] }`

  test.each([
    ['', 'role: coder'],
    ['', ''],
    ['role: [coder]', 'role: coder'],
    [
      'role: [coder, architect], state: [CODING, FIXING]',
      'state: FIXING, role: [architect, coder]',
    ],
    ['story: null', 'story: null, turn: 2'],
    ['turn: { from: 1 }', ''],
    ['turn: { from: 1 }', 'turn: 2'],
    ['turn: { from: 2, to: 4 }', 'turn: { from: 3, to: 4 }'],
    ['attempt: { from: 2 }', 'attempt: { from: 3 }'],
    ['contains: fail', 'contains: 1 test failed'],
    ['forced: a', 'forced: a, turn: 1'],
  ])('for all turns with %j leaves none with %j', (earlier, later) => {
    expect(isTaken(when(earlier), when(later))).toBe(false)
  })

  test.each([
    ['role: coder', ''],
    ['role: [coder, architect]', 'role: [architect, pm]'],
    ['task: coder/coding', 'role: coder'],
    ['story: s', 'story: null'],
    ['story: null', 'story: s'],
    ['turn: { from: 1, to: 2 }', 'turn: { from: 3 }'],
    ['turn: { from: 1, to: 2 }', 'turn: { from: 2 }'],
    ['turn: 1', ''],
    ['attempt: 1', 'turn: 1'],
    ['contains: 1 test failed', 'contains: fail'],
    ['forced: a', ''],
    ['', 'forced: a'],
  ])('for turns with %j leaves some with %j', (earlier, later) => {
    expect(isTaken(when(earlier), when(later))).toBe(true)
  })

  test.each([
    ['{ call: shell }', '{ call: done }', true],
    ['{ text: x }', '{ call: done }', true],
    ['{ call: done }', '{ fail: auth }', true],
    ['{ call: shell }, { call: done }', '{ call: done }', false],
    ['{ call: done }', '{ text: x }', false],
    ['{ fail: auth }', '{ call: done }', false],
  ])('which does %s leaves for %s the turns that force it: %j', (earlier, later, isLeft) => {
    expect(isTaken(when('state: CODING', earlier), when('state: CODING', later))).toBe(isLeft)
    const forced = when('state: CODING, forced: done', later)
    const isGiven = !earlier.includes('done') && !earlier.includes('fail')
    expect(isTaken(when('state: CODING', earlier), forced)).toBe(isGiven)
  })

  test('is the one that is given where it alone calls what is forced', async () => {
    const [first, second] = [when('', '{ call: shell }'), when('', '{ call: done }')]
    const events = await think({ forcedTool: 'done' }, `replies: [${first}, ${second}]`)
    expect(events).toMatchObject([{ call: { name: 'done' } }, { type: 'finished' }])
  })
})

test('a hang ends with the turn, and a wait as well', async () => {
  const read = readScenario('replies: [{ do: [{ wait_ms: 60000 }, { hang: true }] }]', 'a.yaml')
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const end = new AbortController()
  const events = openScriptedBrain(read.scenario).think(TURN, end.signal)[Symbol.asyncIterator]()
  const next = events.next()
  end.abort()
  expect(await next).toMatchObject({ value: { type: 'failed', failure: { kind: 'aborted' } } })
})

test('a part of a scenario can be named, and used again', () => {
  const text = 'replies:\n  - { when: { turn: 2 }, do: &same [{ text: x }] }\n  - do: *same\n'
  const replies = [{ when: { turn: 2 }, do: [{ text: 'x' }] }, { do: [{ text: 'x' }] }]
  expect(readScenario(text, 'a.yaml')).toMatchObject({ ok: true, scenario: { replies } })
})
