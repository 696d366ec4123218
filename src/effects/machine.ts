import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Service } from '../runtime/effect-handler.ts'
import { makeTemporary, prepareOwnFolder } from './sandbox/own-folder.ts'
import type { Isolation } from './sandbox/sandbox.ts'
import { tryOut } from './sandbox/trial.ts'

/** This machine, as a service of effects that start commands and store files on it. */
export const MACHINE_SERVICE = 'machine'

/** A disk that does not take as much is full. One that does may be too small yet: the next try says. */
const ROOM_BYTES = 1024 * 1024

/** A sandbox may take its time to open, and its command has half a minute. */
const PROBE_MS_MAX = 60_000

/** What Node calls it when the machine lacks something, and what programs print in its place. */
const CODE = /^E(?:NOSPC|DQUOT|IO|ROFS|MFILE|NFILE|NOMEM|AGAIN)$/
const WORDS =
  /No space left on device|Disk quota exceeded|Input\/output error|Read-only file system|Too many open files|Cannot allocate memory|Out of memory|Resource temporarily unavailable|\bspawn\b.* E(?:MFILE|NFILE|NOMEM|AGAIN)\b/i
/** Git does not always say why. Where it does, that counts: a file may be somebody else's. */
const NOT_WRITTEN = /(?:couldn't|could not|unable to|failed to) write\b|\bwrite error\b/i
const FORBIDDEN = /permission|denied|not permitted|\bE(?:ACCES|PERM)\b/i

/**
 * Names the machine as what an error is to be waited for, where our own git or our own files failed
 * because it has no room, no memory or no files left. Nothing for any other error.
 */
export function machineOf(error: unknown): { readonly service?: string } {
  const code = String((error as NodeJS.ErrnoException | null)?.code ?? '')
  const text = String(error)
  const isUnexplained = NOT_WRITTEN.test(text) && !FORBIDDEN.test(text)
  const isLacking = CODE.test(code) || WORDS.test(text) || isUnexplained
  return isLacking ? { service: MACHINE_SERVICE } : {}
}

/** The machine answers when it takes a file and starts a command as effects have it start theirs. */
export function machineService(
  isolation: Isolation,
  stateFolder: string,
  hosts: readonly string[],
): Service {
  const open: Isolation['open'] = (wanted) => isolation.open({ ...wanted, hosts })
  return {
    probeTimeoutMs: PROBE_MS_MAX,
    async probe(signal) {
      try {
        const folder = await prepareOwnFolder(stateFolder)
        await storeSomething(folder, signal)
        return (await tryOut(open, folder, signal)) === undefined
      } catch {
        return false
      }
    },
  }
}

async function storeSomething(ownFolder: string, signal: AbortSignal): Promise<void> {
  const folder = await makeTemporary(ownFolder, 'trial')
  try {
    await writeFile(join(folder, 'room'), Buffer.alloc(ROOM_BYTES), { signal })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
