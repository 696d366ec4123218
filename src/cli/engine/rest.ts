import { join } from 'node:path'
import { coordinator } from '../../agents/coordinator/coordinator.ts'
import { ledgerKeeper } from '../../agents/ledger-keeper.ts'
import type { RunId } from '../../agents/values.ts'
import { doEach } from '../../effects/do-each.ts'
import { openProcesses } from '../../effects/process/processes.ts'
import { openBlobFiles } from '../../journal/blob-files.ts'
import { fullDisk, hasNoRoom, isFull } from '../../journal/file-system.ts'
import { openSqliteJournal } from '../../journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../runtime/clock.ts'
import type { EffectHandler, Service } from '../../runtime/effect-handler.ts'
import { openEmbeddedRuntime } from '../../runtime/embedded-runtime.ts'
import type { Journal } from '../../runtime/journal.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { unlessFull } from './lack-of-room.ts'
import { giveUpTask } from './task.ts'

/** Does nothing until it is told to end, and so leaves its effect for whoever can do it. */
const LEFT_ALONE: EffectHandler = {
  policy: { timeoutMs: 86_400_000 },
  run: (_, { signal }) =>
    new Promise((resolve) => {
      const error = { code: 'aborted', message: 'left alone', retry: 'never' } as const
      signal.addEventListener('abort', () => resolve({ ok: false, error }))
    }),
}

/** Whoever waits for a service waits on: nobody here can ask whether it answers. */
const NOT_ASKED: Service = { probe: async () => false }

/**
 * Pauses or stops a run that no engine works on, or gives a task up. Nobody need be able to think
 * for that: the effects of runs are left as they are.
 */
export async function setToRest(
  stateFolder: string,
  run: string,
  how: 'pause' | 'stop',
): Promise<void> {
  if (isFull(stateFolder)) throw fullDisk(stateFolder)
  await openAndTell(stateFolder, run, how).catch((error) => {
    throw hasNoRoom(error) ? fullDisk(stateFolder, error) : error
  })
}

async function openAndTell(stateFolder: string, run: string, how: 'pause' | 'stop') {
  const journal = await openSqliteJournal(stateFolder)
  const processes = openProcesses(stateFolder)
  let runtime: Runtime | undefined
  await doEach(
    async () => {
      await processes.endOrphans()
      runtime = await openLeavingAlone(stateFolder, journal)
      await unlessFull(runtime, stateFolder, tell({ runtime, journal }, run, how))
    },
    () => runtime?.close(),
    () => processes.close(),
    () => journal.close(),
  )
}

async function tell(
  ground: { readonly runtime: Runtime; readonly journal: Journal },
  run: string,
  how: 'pause' | 'stop',
): Promise<void> {
  const { runtime } = ground
  if (how === 'pause') await runtime.pause(run as RunId)
  else if (!(await giveUpTask(ground, run))) await runtime.stop(run as RunId)
}

/** A runtime in which nothing is done but what it is told. */
function openLeavingAlone(stateFolder: string, journal: Journal): Promise<Runtime> {
  return openEmbeddedRuntime({
    journal,
    blobs: openBlobFiles(join(stateFolder, 'blobs')),
    // A call that is given up with its task is paid for.
    roles: [coordinator('1'), coordinator('2'), ledgerKeeper],
    handlers: new Proxy({}, { get: () => LEFT_ALONE }),
    answeredKinds: ['ask_human'],
    // Where there is none, all of them answer, and everybody is restored.
    services: { any: NOT_ASKED },
    clock: systemClock,
    newId: () => crypto.randomUUID(),
    random: Math.random,
  })
}
