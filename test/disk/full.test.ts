import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openGit } from '../../src/effects/git/git.ts'
import { machineOf, machineService } from '../../src/effects/machine.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openUnconfined } from '../../src/effects/sandbox/unconfined.ts'
import { EDIT_TOOLS } from '../../src/effects/tools/edit-tools.ts'
import type { ToolContext } from '../../src/effects/tools/tool.ts'
import { answerCalls } from '../../src/effects/tools/tool-calls.ts'
import {
  openSqliteJournal,
  openSqliteJournalReader,
} from '../../src/journal/sqlite/sqlite-journal.ts'
import { replay } from '../../src/runtime/replay.ts'
import { makeFolder, openState, RUN } from './state.ts'

const DISK_BYTES = 4 * 1024 * 1024

let disk: string
let remove: () => void

const mount = (...options: string[]) =>
  execFileSync('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', disk])

beforeEach(() => {
  ;({ folder: disk, remove } = makeFolder())
  mount(`size=${DISK_BYTES}`)
})

/** The packaged SQLite keeps a closed database's files until its statements are collected. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Nothing can be written to the disk any more. */
async function makeReadOnly(): Promise<void> {
  await vi.waitUntil(() => {
    collectGarbage()
    return spawnSync('mount', ['-o', 'remount,ro', disk]).status === 0
  }, 10_000)
}

afterEach(() => {
  vi.unstubAllEnvs()
  collectGarbage()
  execFileSync('umount', ['--lazy', disk])
  remove()
})

test('a full disk is waited for: nothing acknowledged is lost, and it goes on by itself', async () => {
  const state = await openState(join(disk, 'state'))
  const filler = join(disk, 'filler')
  writeFileSync(filler, Buffer.alloc(2 * 1024 * 1024))
  const acknowledged: string[] = []
  const waiting: Promise<void>[] = []
  for (let i = 0; state.runtime.health().state === 'well'; i += 1) {
    expect(i).toBeLessThan(1_000)
    const delivery = state.note(`n${i}`, 'x'.repeat(20_000))
    waiting.push(
      delivery.then(() => {
        acknowledged.push(`n${i}`)
      }),
    )
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(state.runtime.health()).toMatchObject({
    state: 'waiting_for_journal',
    error: expect.stringContaining('the disk is full; free some space'),
  })
  const before = [...acknowledged]
  expect(before.length).toBeGreaterThan(0)
  expect(before.length).toBeLessThan(waiting.length)

  rmSync(filler)
  await Promise.all(waiting)
  await vi.waitUntil(() => state.runtime.health().state === 'well')
  await state.close()

  const journal = await openSqliteJournalReader(join(disk, 'state'))
  const ids = new Set<string>()
  const { differences } = await replay(journal, RUN, { onRow: (row) => ids.add(row.eventId) })
  await journal.close()
  expect(differences).toEqual([])
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
})

test('a full disk is waited for by who has a blob to store: what was paid for is kept', async () => {
  let paid = 0
  const state = await openState(join(disk, 'state'), {
    run: async (_, { blobs }) => {
      paid += 1
      return { ok: true, value: { ...(await blobs.put(randomBytes(600_000))) } }
    },
  })
  const filler = join(disk, 'filler')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(filler, Buffer.alloc(bavail * bsize - 200_000))
  await state.work()
  await vi.waitUntil(() => state.runtime.health().state !== 'well')
  expect(state.runtime.health()).toMatchObject({
    state: 'waiting_for_room',
    error: expect.stringContaining('the disk is full; free some space'),
  })

  rmSync(filler)
  await vi.waitUntil(async () => (await state.last()) !== undefined, 10_000)
  expect(state.runtime.health()).toEqual({ state: 'well' })
  expect(await state.last()).toMatchObject({ result: { ok: true, value: { bytes: 600_000 } } })
  expect(paid).toBe(1)
  await state.close()
})

test('git that finds no room waits for the machine, which answers when there is some', async () => {
  const stateFolder = join(disk, 'state')
  const processes = openProcesses(stateFolder)
  const git = openGit(processes)
  const repository = join(disk, 'a.git')
  await git.run(['init', '--quiet', '--bare', repository])
  const stdin = randomBytes(300_000)
  const store = () => git.run(['hash-object', '-w', '--stdin'], { repository, stdin })
  const point = () => git.run(['update-ref', 'refs/a', commit], { repository })
  const tree = (await git.run(['mktree'], { repository, stdin: '' })).text
  const commit = (await git.run(['commit-tree', '-m', 'a', tree], { repository })).text
  const isolation = await openUnconfined(processes, { stateFolder })
  const machine = machineService(isolation, stateFolder, [])
  const { signal } = new AbortController()
  expect(await machine.probe(signal)).toBe(true)

  const filler = join(disk, 'filler')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(filler, Buffer.alloc(bavail * bsize))
  for (const work of [store, point]) {
    const error = await work().catch((reason: unknown) => reason)
    expect(machineOf(error), String(error)).toEqual({ service: 'machine' })
  }
  expect(await machine.probe(signal)).toBe(false)

  rmSync(filler)
  await Promise.all([store(), point()])
  expect(await machine.probe(signal)).toBe(true)
  await processes.close()
})

test('a read-only folder is refused with what to do, and nothing is lost', async () => {
  const folder = join(disk, 'state')
  const state = await openState(folder)
  await state.note('n1', 'kept')
  await state.close()
  await makeReadOnly()
  await expect(openSqliteJournal(folder)).rejects.toThrow(
    /is read-only \(EROFS\). Make it writable/,
  )
  await expect(openSqliteJournal(join(disk, 'other'))).rejects.toThrow(
    /cannot be made \(\w+\)\. Choose a folder/,
  )
  execFileSync('mount', ['-o', 'remount,rw', disk])
  const again = await openState(folder)
  expect(await again.note('n1', 'kept')).toBe('duplicate')
  await again.close()
})

test('a read-only folder is read, closed or as a killed process left it', async () => {
  const [closed, left] = [join(disk, 'closed'), join(disk, 'left')]
  const state = await openState(closed)
  await state.note('n1', 'kept')
  mkdirSync(left)
  for (const name of ['journal.db', 'journal.db-wal']) {
    copyFileSync(join(closed, name), join(left, name))
  }
  expect(statSync(join(left, 'journal.db-wal')).size).toBeGreaterThan(0)
  await state.close()
  await makeReadOnly()
  expect(readdirSync(closed)).not.toContain('journal.db-wal')

  const { folder: temporary, remove: removeTemporary } = makeFolder()
  vi.stubEnv('TMPDIR', temporary)
  for (const folder of [closed, left]) {
    const journal = await openSqliteJournalReader(folder)
    expect(readdirSync(temporary), 'nobody else gets to see the copy').toEqual([])
    const { rows, differences } = await replay(journal, RUN)
    await journal.close()
    expect({ rows, differences }).toEqual({ rows: 2, differences: [] })
  }
  removeTemporary()
  await expect(openSqliteJournalReader(closed)).rejects.toThrow(
    /is read-only, and its journal cannot be copied to .* \(ENOENT\).*Name a folder.*TMPDIR/,
  )
})

test.each([
  ['edit_file', { old_text: 'KEEP', new_text: 'z'.repeat(400_000) }],
  ['write_file', { text: 'z'.repeat(400_000) }],
])('a file that %s finds no room for stays as it was', async (name, input) => {
  const path = join(disk, 'a.txt')
  writeFileSync(path, 'old\nKEEP\n')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize - 100_000))
  const outputs = { clean: (text: string) => text }
  const context = { workspace: disk, outputs } as ToolContext
  const call = { id: '1', name, input: { path: 'a.txt', ...input } }
  expect(await answerCalls(EDIT_TOOLS, [call], context)).toMatchObject([
    { isError: true, text: expect.stringContaining('the disk is full') },
  ])
  expect(readFileSync(path, 'utf8')).toBe('old\nKEEP\n')
  expect(readdirSync(disk).sort()).toEqual(['a.txt', 'filler'])
})
