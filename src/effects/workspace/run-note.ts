import { readFile, rm } from 'node:fs/promises'
import { writeDurably } from '../durable-file.ts'
import type { Place } from './place.ts'

/** Notes for whom something runs in a workspace that is to be undone; `null` when it is. */
export async function writeRunNote({ runNote }: Place, forWhom: string | null): Promise<void> {
  if (forWhom === null) await rm(runNote, { force: true })
  else await writeDurably(runNote, forWhom)
}

/** For whom something ran there that may not have been undone. */
export async function readRunNote({ runNote }: Place): Promise<string | undefined> {
  return readFile(runNote, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
