import { afterEach, describe, expect, test } from 'vitest'
import { TurnWatch } from '../turn-watch.ts'
import type { ConversationTask } from './agent-turn.ts'
import { claudeDialect } from './claude-dialect.ts'
import { codexDialect } from './codex-dialect.ts'
import { TurnReport } from './turn-report.ts'

const LONG = { firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
const watches: TurnWatch[] = []

afterEach(() => {
  for (const watch of watches.splice(0)) watch.close()
})

function begin(): ConversationTask {
  const watch = new TurnWatch(LONG, new AbortController().signal)
  watches.push(watch)
  const report = new TurnReport(watch, { stepsMax: 3, updatesMax: 10 })
  return { report } as ConversationTask
}

describe('a count that is none is not told, and the turn ends all the same', () => {
  test.each([2 ** 53, 2 ** 64, -1, 1.5, null])('of Codex: %s', (value) => {
    const task = begin()
    const usage = { input_tokens: value, cached_input_tokens: value, output_tokens: 7 }
    const end = codexDialect(task).read({ type: 'turn.completed', usage })
    expect(end).toEqual({ how: 'stop' })
    expect(task.report.usage).toEqual({
      inputTokens: null,
      cachedTokens: null,
      cacheWriteTokens: null,
      outputTokens: 7,
    })
  })

  test.each([2 ** 53, 2 ** 64, -1, 1.5, null])('of Claude Code: %s', (value) => {
    const task = begin()
    const usage = { input_tokens: 5, cache_read_input_tokens: value, output_tokens: value }
    const line = { type: 'result', is_error: false, subtype: 'success', usage }
    expect(claudeDialect(task).read(line)).toEqual({ how: 'stop' })
    expect(task.report.usage).toMatchObject({ inputTokens: 5, cachedTokens: 0, outputTokens: null })
  })
})
