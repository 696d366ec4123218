import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Account } from '../../src/ledger/ledger.ts'
import { findStored } from '../disk/find-stored.ts'
import { DONE, open, PLAN, resultsIn, shell, watched } from './stage.ts'
import { LEDGER, RUN, scripted } from './world.ts'

test('a story is planned, coded and tested with real tools, and ends by its tool', async () => {
  const brain = watched(
    scripted(
      {
        when: { state: 'PLANNING', turn: 1 },
        do: [{ call: 'read_file', input: { path: 'a.txt' } }],
      },
      PLAN,
      { when: { turn: 1 }, do: [{ text: 'First.' }, { call: 'run_tests', input: {} }] },
      {
        when: { turn: 2, contains: 'failed' },
        do: [
          { call: 'edit_file', input: { path: 'a.txt', old_text: 'one', new_text: 'two' } },
          shell('cat a.txt'),
        ],
      },
      { when: { turn: 3, contains: 'two' }, do: [{ call: 'run_tests', input: {} }] },
      { when: { turn: 4, contains: 'exit code 0' }, ...DONE },
    ),
  )
  const { start, reach, git } = await open({ brain })
  const { data } = await reach(await start('s1'), 'TESTING', 'ERROR', 'BUDGET_REVIEW')
  expect(data.outcome).toEqual({ kind: 'ended', tool: 'done', input: { summary: 'Done.' } })
  const folder = (await git.workspaces.find({ run: RUN, story: 's1' }))?.folder ?? ''
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('two\n')
  expect(brain.turns.map(({ state, number }) => `${state} ${number}`)).toEqual([
    'PLANNING 1',
    'PLANNING 2',
    'CODING 1',
    'CODING 2',
    'CODING 3',
    'CODING 4',
  ])
})

test('each turn of a state begins with the bytes of the one before', async () => {
  const brain = watched(
    scripted(PLAN, { when: { turn: { from: 1, to: 4 } }, do: [shell('echo $RANDOM')] }, DONE),
  )
  const { start, reach } = await open({ brain })
  await reach(await start('s1'), 'TESTING')
  const coding = brain.turns.filter(({ state }) => state === 'CODING')
  expect(coding).toHaveLength(5)
  for (const [i, turn] of coding.entries()) {
    const before = coding[i - 1]
    if (before === undefined) continue
    expect(turn.system).toBe(before.system)
    expect(turn.tools).toEqual(before.tools)
    expect(turn.messages.slice(0, before.messages.length)).toEqual(before.messages)
  }
})

test('who plans cannot write, whatever is called', async () => {
  const brain = watched(
    scripted(
      {
        when: { state: 'PLANNING', turn: 1 },
        do: [
          { call: 'write_file', input: { path: 'x.txt', text: 'x' } },
          shell('touch y.txt'),
          { call: 'run_tests', input: {} },
        ],
      },
      PLAN,
      DONE,
    ),
  )
  const { start, reach, git } = await open({ brain })
  await reach(await start('s1'), 'TESTING')
  expect(resultsIn(brain.turns[1]).every((text) => text.startsWith('there is no tool'))).toBe(true)
  const { folder } = (await git.workspaces.find({ run: RUN, story: 's1' })) ?? { folder: '' }
  expect(() => readFileSync(join(folder, 'x.txt'))).toThrow()
  expect(() => readFileSync(join(folder, 'y.txt'))).toThrow()
})

describe('a bound', () => {
  test('forces the tool that ends the state in the last turn', async () => {
    const brain = watched(
      scripted(
        PLAN,
        { when: { forced: 'done' }, ...DONE },
        { when: { turn: { from: 1 } }, do: [{ text: 'Hm.' }] },
      ),
    )
    const { start, reach } = await open({ brain })
    const { data } = await reach(await start('s1', { turnsMax: 3 }), 'TESTING', 'BUDGET_REVIEW')
    expect(data.outcome).toMatchObject({ kind: 'ended', tool: 'done' })
    expect(brain.turns.at(-1)).toMatchObject({ number: 3, forcedTool: 'done' })
    expect(brain.turns.at(-1)?.messages.at(-1)).toMatchObject({ role: 'user' })
  })

  test('of turns leads to the budget review when the model does not end even then', async () => {
    const brain = watched(
      scripted(
        PLAN,
        { when: { forced: 'done' }, do: [{ text: 'No.' }] },
        { do: [{ text: 'Hm.' }] },
      ),
    )
    const { start, reach } = await open({ brain })
    const { data } = await reach(await start('s1', { turnsMax: 3 }), 'BUDGET_REVIEW')
    expect(data.outcome).toEqual({ kind: 'spent', what: 'turns' })
    expect(brain.turns.filter(({ state }) => state === 'CODING')).toHaveLength(3)
  })

  test('of the ledger is met before a call is made, and the last call is told', async () => {
    const no = { when: { forced: 'done' }, do: [{ text: 'No.' }] }
    const brain = watched(scripted(PLAN, no, { do: [shell('true')] }))
    const { start, reach, dataOf } = await open({
      brain,
      limits: { story: { iterationsMax: 3 } },
    })
    const { data } = await reach(await start('s1'), 'BUDGET_REVIEW')
    expect(data.outcome).toMatchObject({ kind: 'spent', what: { what: 'iterations', limit: 3 } })
    expect(brain.turns.map(({ forcedTool }) => forcedTool)).toEqual([undefined, undefined, 'done'])
    const books = await dataOf(LEDGER)
    expect((books.run as unknown as Account).spent.iterations).toBe(3)
    expect((books.run as unknown as Account).reserved.iterations).toBe(0)
  })
})

test.each([
  ['an edit', { call: 'edit_file', input: { path: 'a.txt', old_text: 'one', new_text: 'two' } }],
  ['a command', shell('sed -i s/one/two/ a.txt')],
  ['a command that fails', shell('sed -i s/one/two/ a.txt; exit 1')],
])('a call that came to the same three times is refused with advice, until %s', async (_, edit) => {
  const look = shell('cat a.txt')
  const brain = watched(
    scripted(
      PLAN,
      { when: { turn: { from: 1, to: 4 } }, do: [look] },
      { when: { turn: 5 }, do: [edit] },
      { when: { turn: 6 }, do: [look] },
      DONE,
    ),
  )
  const { start, reach } = await open({ brain })
  await reach(await start('s1'), 'TESTING')
  const results = resultsIn(brain.turns.at(-1))
  expect(results.slice(0, 3)).toEqual(Array(3).fill('one\n[exit code 0]'))
  expect(results[3]).toMatch(/not run again.*3 times/)
  expect(results[5]).toBe('two\n[exit code 0]')
})

test('a call that is not right is answered and never carried out', async () => {
  const brain = watched(
    scripted(
      PLAN,
      {
        when: { turn: 1 },
        do: [
          { call: 'shell', input: { command: 'touch ran', extra: 1 } },
          { call: 'shell', input: '{"command":"touch ran"' },
          { call: 'launch', input: {} },
          { call: 'done', input: {} },
        ],
      },
      DONE,
    ),
  )
  const { start, reach, git } = await open({ brain })
  await reach(await start('s1'), 'TESTING')
  const results = resultsIn(brain.turns.at(-1))
  expect(results).toHaveLength(4)
  expect(results[0]).toContain('not run')
  const { folder } = (await git.workspaces.find({ run: RUN, story: 's1' })) ?? { folder: '' }
  expect(() => readFileSync(join(folder, 'ran'))).toThrow()
})

test('in the last turn nothing but what ends the state is carried out', async () => {
  const late = [shell('touch late'), { call: 'done', input: { summary: 'x' } }]
  const brain = scripted(
    PLAN,
    { when: { forced: 'done' }, do: late },
    { when: { turn: 1 }, do: [{ text: 'Hm.' }] },
  )
  const { start, reach, git } = await open({ brain })
  await reach(await start('s1', { turnsMax: 2 }), 'TESTING')
  const { folder } = (await git.workspaces.find({ run: RUN, story: 's1' })) ?? { folder: '' }
  expect(() => readFileSync(join(folder, 'late'))).toThrow()
})

test('a reply that broke off is paid for before it is tried again', async () => {
  const broken = { usage: { input: 50_000, output: 3_000 } }
  const brain = watched(
    scripted(
      PLAN,
      {
        when: { turn: 1, attempt: { from: 1, to: 2 } },
        do: [{ text: 'Half a' }, broken, { fail: 'network' }],
      },
      DONE,
    ),
  )
  const { start, reach, dataOf } = await open({ brain, limits: { run: { tokensMax: 200_000 } } })
  await reach(await start('s1'), 'TESTING', 'BUDGET_REVIEW')
  const { spent } = (await dataOf(LEDGER)).run as unknown as Account
  expect(spent.iterations).toBeGreaterThanOrEqual(3)
  expect(spent.inputTokens).toBeGreaterThan(100_000)
})

test('every turn of coding leaves a checkpoint', async () => {
  const brain = scripted(
    PLAN,
    { when: { turn: 1 }, do: [shell('echo kept > kept.txt')] },
    { when: { turn: 2 }, do: [{ text: 'Hm.' }] },
    { when: { turn: 3 }, do: [{ hang: true }] },
  )
  const { start, git, dataOf } = await open({ brain })
  const agent = await start('s1')
  for (;;) {
    const { thinking } = (await dataOf(agent)) as unknown as { thinking?: { turn: number } }
    if (thinking?.turn === 3) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { folder } = (await git.workspaces.find({ run: RUN, story: 's1' })) ?? { folder: '' }
  rmSync(folder, { recursive: true })
  await git.workspaces.reconcile([{ run: RUN, story: 's1' }])
  expect(readFileSync(join(folder, 'kept.txt'), 'utf8')).toBe('kept\n')
})

test('calls after the one that ends the state are not carried out', async () => {
  const brain = scripted(PLAN, {
    do: [{ call: 'done', input: { summary: 'x' } }, shell('touch late')],
  })
  const { start, reach, git } = await open({ brain })
  await reach(await start('s1'), 'TESTING')
  const { folder } = (await git.workspaces.find({ run: RUN, story: 's1' })) ?? { folder: '' }
  expect(() => readFileSync(join(folder, 'late'))).toThrow()
})

describe('a failed turn', () => {
  test('is tried again with the same turn, and costs no turn of the state', async () => {
    const brain = watched(
      scripted(
        PLAN,
        { when: { turn: 1, attempt: { from: 1, to: 2 } }, do: [{ fail: 'overloaded' }] },
        DONE,
      ),
    )
    const { start, reach } = await open({ brain })
    const { data } = await reach(await start('s1'), 'TESTING')
    expect(data.turns).toBe(1)
    expect(brain.turns.map(({ attempt }) => attempt)).toEqual([1, 1, 2, 3])
  })

  test('for which a human is needed suspends at once, and goes on when that is mended', async () => {
    let isUp = false
    const brain = watched(
      scripted(PLAN, { when: { turn: 1, attempt: 1 }, do: [{ fail: 'auth' }] }, DONE),
    )
    const { start, reach } = await open({ brain, serviceUp: () => isUp })
    const agent = await start('s1')
    await reach(agent, 'SUSPEND')
    expect(brain.turns).toHaveLength(2)
    isUp = true
    const { data } = await reach(agent, 'TESTING')
    expect(data.outcome).toMatchObject({ kind: 'ended', tool: 'done' })
  })

  test('that cannot be used is told to the model, and is a turn', async () => {
    const brain = watched(
      scripted(
        PLAN,
        { when: { turn: 1 }, do: [{ fail: 'invalid_output', message: 'half a call' }] },
        { when: { turn: 2, contains: 'half a call' }, ...DONE },
      ),
    )
    const { start, reach } = await open({ brain })
    const { data } = await reach(await start('s1'), 'TESTING')
    expect(data.turns).toBe(2)
  })

  test.each(['refused', 'rejected'])('that is %s ends the state by its table', async (kind) => {
    const brain = scripted(PLAN, { do: [{ fail: kind, message: 'No.' }] })
    const { start, reach } = await open({ brain })
    const { data } = await reach(await start('s1'), 'ERROR')
    expect(data.outcome).toMatchObject({ kind: 'failed', code: kind })
  })
})

test('secrets reach neither a prompt nor the disk', async () => {
  const secret = 'correct-horse-battery-staple'
  const brain = watched(
    scripted(
      PLAN,
      { when: { turn: 1 }, do: [shell('cat key.txt')] },
      {
        when: { turn: 2 },
        do: [{ text: `It is ${secret}.` }, { call: 'done', input: { summary: secret } }],
      },
      DONE,
    ),
  )
  const { start, reach, git } = await open({ brain, secrets: [secret] })
  await git.workspaces.prepare({ run: RUN, story: 's1' }, git.base)
  const { folder } = (await git.workspaces.find({ run: RUN, story: 's1' })) ?? { folder: '' }
  writeFileSync(join(folder, 'key.txt'), `${secret}\n`)
  const { data } = await reach(await start('s1'), 'TESTING')
  expect(JSON.stringify(brain.turns)).not.toContain(secret)
  const [shown, refused] = resultsIn(brain.turns.at(-1))
  expect(shown).toBe('[redacted]\n[exit code 0]')
  expect(refused).toContain('done was not run: its input has a secret of this run in it')
  const found = findStored(git.state, secret)
  expect(found.filter((file) => !/^workspaces\/\S+key\.txt$/.test(file))).toEqual([])
  expect(JSON.stringify(data)).not.toContain(secret)
})
