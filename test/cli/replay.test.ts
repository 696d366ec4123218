import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/journal/sqlite/driver.ts'
import { openState } from '../disk/state.ts'
import { slipway } from './slipway.ts'

const folder = mkdtempSync(join(tmpdir(), 'slipway-replay-'))
const replay = (...args: string[]) => slipway('replay', ...args, '--state', folder)

beforeAll(async () => {
  const state = await openState(folder)
  for (let i = 1; i <= 3; i += 1) await state.note(`n${i}`, { text: `note ${i}` })
  await state.note('evil', { text: '\x1b]52;c;aGk=\x07' })
  await state.close()
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('slipway replay <run>', () => {
  test('prints the timeline and that it is sound', () => {
    const { exitCode, stdout } = replay('run-1')
    expect(exitCode).toBe(0)
    expect(stdout.trim().split('\n')).toHaveLength(6)
    expect(stdout).toMatch(/^1 +20\S+Z +agent-1 +born in WAITING +born$/m)
    expect(stdout).toMatch(/^Sound: 5 rows fold to the snapshots of 1 agents\.$/m)
  })

  test('--at shows every agent at that row', () => {
    const { exitCode, stdout } = replay('run-1', '--at', '3')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('agent-1  coder@F  WAITING  generation 1  {"last":{"text":"note 2"}}')
    expect(replay('run-1', '--at', '0').stdout).toContain('not born')
  })

  test('--json is data, with and without --at', () => {
    const whole = JSON.parse(replay('run-1', '--json').stdout)
    expect(whole).toMatchObject({ sound: true, differences: [] })
    expect(whole.rows).toHaveLength(5)
    expect(whole.rows[1]).toMatchObject({
      seq: 2,
      agentId: 'agent-1',
      eventId: 'n1',
      kind: 'stayed',
    })
    const at = JSON.parse(replay('run-1', '--json', '--at', '2').stdout)
    expect(at.agents[0].data).toEqual({ last: { text: 'note 1' } })
  })

  test('prints nothing that steers the terminal', () => {
    for (const args of [[], ['--at', '5']]) {
      expect(replay('run-1', ...args).stdout).not.toContain('\x1b')
    }
  })

  test.each([
    [['nothing'], 2, 'There is no run "nothing". There are: run-1.'],
    [['run-1', '--at', 'soon'], 2, '--at takes the number of a row, not "soon".'],
  ])('%j is a usage error', (args, code, message) => {
    const { exitCode, stderr } = replay(...args)
    expect({ exitCode, stderr }).toEqual({ exitCode: code, stderr: `slipway: ${message}\n` })
  })

  test('a folder without a journal is an error that says what to do', () => {
    const { exitCode, stderr } = slipway('replay', 'x', '--state', join(folder, 'nowhere'))
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^slipway: .*nowhere holds no journal\. Start a run first/)
  })

  test('a snapshot that is not what its rows say is shown, and fails', async () => {
    const database = await openDatabase(join(folder, 'journal.db'))
    database.exec('DELETE FROM journal WHERE seq = 3')
    database.close()
    const { exitCode, stdout } = replay('run-1')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('agent-1 has row 4 after row 2')
    expect(stdout).toContain('Damaged: ')
  })
})
