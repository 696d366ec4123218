import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBlobFiles } from '../../src/journal/blob-files.ts'
import {
  openSqliteJournal,
  openSqliteJournalReader,
} from '../../src/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { openEmbeddedRuntime } from '../../src/runtime/embedded-runtime.ts'
import type { Journal } from '../../src/runtime/journal.ts'
import { describeRuntime } from './runtime.ts'

describeRuntime('the embedded runtime on SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-runtime-'))
  let process: { alive: boolean; journal: Journal } | undefined

  return {
    async start(role, handlers) {
      const started = { alive: true, journal: await openSqliteJournal(folder) }
      process = started
      return openEmbeddedRuntime({
        journal: mortal(started),
        blobs: openBlobFiles(join(folder, 'blobs')),
        roles: [role],
        handlers,
        clock: systemClock,
        newId: () => crypto.randomUUID(),
        random: Math.random,
      })
    },
    async kill() {
      if (process === undefined) return
      process.alive = false
      await process.journal.close()
      process = undefined
    },
    async read(look) {
      const reader = await openSqliteJournalReader(folder)
      try {
        return await look(reader)
      } finally {
        await reader.close()
      }
    },
    dispose: async () => rmSync(folder, { recursive: true }),
  }
})

/** The journal of a process that can die: what it asks after its death is never answered. */
function mortal(process: { alive: boolean; journal: Journal }): Journal {
  const never = new Promise<never>(() => {})
  return new Proxy(process.journal, {
    get:
      (journal, name: keyof Journal) =>
      (...args: never[]) => {
        if (!process.alive) return never
        return (journal[name] as (...args: never[]) => unknown)(...args)
      },
  })
}
