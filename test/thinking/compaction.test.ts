import { describe, expect, test } from 'vitest'
import type { Brain } from '../../src/effects/brains/brain.ts'
import { DONE, open, PLAN, shell, watched } from './stage.ts'
import { MIND, scripted } from './world.ts'

describe('a conversation that is too long', () => {
  const long = shell('seq 1 4000')
  const todos = { call: 'todo_list', input: { items: [{ text: 'mend a.txt', done: false }] } }

  test('is put into fewer words, and goes on with the story, the plan and the todos', async () => {
    const brain = watched(
      scripted(
        PLAN,
        { when: { contains: 'getting too long' }, do: [{ text: 'I have counted to 4000.' }] },
        { when: { turn: 1 }, do: [todos, long] },
        DONE,
      ),
    )
    // The second turn overflows once: after the summary it is turn 2 again.
    const { start, reach } = await open({
      brain: overflowing(brain, 2),
    })
    const { data } = await reach(await start('s1'), 'TESTING', 'BUDGET_REVIEW')
    expect(data.outcome).toMatchObject({ kind: 'ended' })
    const last = brain.turns.at(-1)
    const text = JSON.stringify(last?.messages)
    for (const kept of ['The story s1.', 'Do it.', 'mend a.txt', 'counted to 4000']) {
      expect(text).toContain(kept)
    }
  })

  test('is summed up before it reaches the window', async () => {
    const brain = watched(
      scripted(
        PLAN,
        { when: { contains: 'getting too long' }, do: [{ text: 'Much was read.' }] },
        {
          when: { turn: { from: 1, to: 6 } },
          do: [shell('seq 1 4000 | tr -d "\\n"; date +%N')],
        },
        DONE,
      ),
    )
    const mind = { ...MIND, contextTokens: 24_000 }
    const { start, reach } = await open({ brain })
    const { data } = await reach(await start('s1', { mind }), 'TESTING', 'BUDGET_REVIEW')
    expect(data.outcome).toMatchObject({ kind: 'ended' })
    const asked = brain.turns.filter(({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('getting too long'),
    )
    expect(asked.length).toBeGreaterThan(0)
    for (const turn of brain.turns) {
      expect(JSON.stringify([turn.system, turn.tools, turn.messages]).length / 3).toBeLessThan(
        24_000,
      )
    }
  })

  test('that does not get shorter ends in a bound', async () => {
    const huge = 'x'.repeat(200_000)
    const brain = scripted(
      PLAN,
      { when: { contains: 'getting too long' }, do: [{ text: huge }] },
      { do: [long] },
    )
    const mind = { ...MIND, contextTokens: 20_000 }
    const { start, reach } = await open({ brain })
    const { data } = await reach(await start('s1', { mind }), 'BUDGET_REVIEW')
    expect(data.outcome).toEqual({ kind: 'spent', what: 'context' })
  })
})

/** Says once, in that turn of coding, that the conversation does not fit. */
function overflowing(brain: Brain, turn: number): Brain {
  let isDone = false
  return {
    name: brain.name,
    async *think(asked, signal) {
      if (!isDone && asked.state === 'CODING' && asked.number === turn) {
        isDone = true
        yield { type: 'failed', failure: { kind: 'context_overflow', message: 'too long' } }
        return
      }
      yield* brain.think(asked, signal)
    },
  }
}
