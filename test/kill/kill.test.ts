import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunId } from '../../src/agents/values.ts'
import {
  openSqliteJournal,
  openSqliteJournalReader,
} from '../../src/journal/sqlite/sqlite-journal.ts'
import type { StoredRow } from '../../src/runtime/records.ts'
import { replay } from '../../src/runtime/replay.ts'
import { DRILL_ONCE } from '../drill/drill-role.ts'
import { Random } from '../drill/random.ts'

const KILLS = Number(process.env.SLIPWAY_KILLS ?? 200)
const RECOVERY_MS_MAX = 2_000

/** After how many kills the next process is killed while it recovers. */
const IN_RECOVERY_EVERY = 5
const RUN = 'run-1' as RunId

const folder = mkdtempSync(join(tmpdir(), 'slipway-kill-'))
const bundle = 'node_modules/.cache/slipway-kill'
const random = new Random(Date.now())

beforeAll(() => {
  mkdirSync(bundle, { recursive: true })
  execFileSync('node_modules/.bin/rolldown', [
    'test/kill/worker.ts',
    '--platform=node',
    '--external=@photostructure/sqlite',
    `--file=${bundle}/worker.mjs`,
  ])
  cpSync('src/journal/sqlite/migrations', `${bundle}/migrations`, { recursive: true })
})

afterAll(() => rmSync(folder, { recursive: true }))

/** What one process said before it ended. */
interface Life {
  readonly acknowledged: string[]
  readonly recoveryMs: number | undefined
  readonly said: string[]
  readonly errors: string
}

/** When a process is killed: so long after it was started, or after it was ready. */
interface Kill {
  readonly after: 'start' | 'ready'
  readonly ms: number
}

/** Runs the worker and kills it; `undefined` lets it end by itself. */
function live(firstEvent: number, events: number, kill: Kill | undefined): Promise<Life> {
  return new Promise((resolve) => {
    const startedMs = performance.now()
    const args = [`${bundle}/worker.mjs`, folder, String(firstEvent), String(events)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const said: string[] = []
    let errors = ''
    let recoveryMs: number | undefined
    const killAfter = (moment: Kill['after']) => {
      if (kill?.after === moment) setTimeout(() => child.kill('SIGKILL'), kill.ms)
    }
    killAfter('start')
    child.stderr.on('data', (chunk) => (errors += chunk))
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(line)
      if (line !== 'ready') return
      recoveryMs = performance.now() - startedMs
      killAfter('ready')
    })
    child.on('close', () => {
      const acknowledged = said.filter((line) => line.startsWith('ack ')).map((l) => l.slice(4))
      resolve({ acknowledged, recoveryMs, said, errors })
    })
  })
}

async function readAllRows(): Promise<StoredRow[]> {
  const journal = await openSqliteJournalReader(folder)
  const rows: StoredRow[] = []
  const { differences } = await replay(journal, RUN, { onRow: (row) => rows.push(row) })
  await journal.close()
  expect(differences).toEqual([])
  return rows
}

test(`${KILLS} kills: nothing acknowledged is lost, no outcome is recorded twice`, {
  timeout: KILLS * 3_000,
}, async () => {
  const acknowledged = new Set<string>()
  const recoveriesMs: number[] = []
  let inRecovery = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const life = await live(kill * 1_000, 1_000, { after: 'ready', ms: random.below(120) })
    expect(life.errors).toBe('')
    for (const id of life.acknowledged) acknowledged.add(id)
    if (life.recoveryMs !== undefined) recoveriesMs.push(life.recoveryMs)
    if (kill % IN_RECOVERY_EVERY !== 0) continue
    // What was left behind just now is killed again while it is taken up.
    const aboutMs = life.recoveryMs ?? 0
    const ms = Math.round(aboutMs / 2) + random.below(Math.round(aboutMs / 2))
    const again = await live(kill * 1_000 + 500, 500, { after: 'start', ms })
    expect(again.errors).toBe('')
    for (const id of again.acknowledged) acknowledged.add(id)
    if (again.recoveryMs === undefined) inRecovery += 1
  }
  expect(inRecovery).toBeGreaterThan(0)
  const rest = await live(KILLS * 1_000, 0, undefined)
  expect(rest).toMatchObject({ errors: '', said: ['ready', 'rested'] })

  const rows = await readAllRows()
  const handled = rows.map((row) => `${row.agentId} ${row.eventId}`)
  expect(new Set(handled).size).toBe(handled.length)
  const known = new Set<string>(rows.map((row) => row.eventId))
  expect([...acknowledged].filter((id) => !known.has(id))).toEqual([])

  const asked = new Map<string, string>(
    rows.flatMap((row) => (row.body.effects ?? []).map(({ id, kind }) => [id, kind])),
  )
  const carriedOut = readFileSync(join(folder, 'carried-out.log'), 'utf8').trim().split('\n')
  expect(carriedOut.filter((id) => !asked.has(id))).toEqual([])
  const once = carriedOut.filter((id) => asked.get(id) === DRILL_ONCE)
  expect(once.length).toBeGreaterThan(KILLS / 4)
  expect(new Set(once).size, 'what is recognised is carried out once').toBe(once.length)

  recoveriesMs.sort((a, b) => a - b)
  const p99Ms = recoveriesMs[Math.floor(recoveriesMs.length * 0.99)] ?? Infinity
  console.log(
    `${KILLS} kills and ${inRecovery} in a recovery, ${acknowledged.size} events acknowledged, ${rows.length} rows, ` +
      `recovery at the 99th percentile ${p99Ms.toFixed(0)} ms, start of the process included`,
  )
  expect(recoveriesMs.length).toBe(KILLS)
  expect(p99Ms).toBeLessThan(RECOVERY_MS_MAX)
})

test('a second process on the same folder is refused by name, until the first is gone', async () => {
  const shared = join(folder, 'shared')
  const args = [`${bundle}/worker.mjs`, shared, '0', '100000']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.on('close', resolve))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  await expect(openSqliteJournal(shared)).rejects.toThrow(
    new RegExp(
      `is in use by process ${child.pid} on .+ since 20.+ Stop that process \\(kill ${child.pid}; `,
    ),
  )
  for (let i = 0; i < 30; i += 1) {
    const reader = await openSqliteJournalReader(shared)
    const { differences } = await replay(reader, RUN)
    await reader.close()
    expect(differences, 'a run that goes on is sound at every moment').toEqual([])
  }
  child.kill('SIGKILL')
  await ended
  const journal = await openSqliteJournal(shared)
  await journal.close()
})

test('what this process refuses itself does not let another process in', async () => {
  const shared = join(folder, 'refused')
  const journal = await openSqliteJournal(shared)
  await expect(openSqliteJournal(shared)).rejects.toThrow(`is in use by process ${process.pid}`)
  await (await openSqliteJournalReader(shared)).close()
  const args = [`${bundle}/worker.mjs`, shared, '0', '1']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toContain(`is in use by process ${process.pid}`)
  await journal.close()
})
