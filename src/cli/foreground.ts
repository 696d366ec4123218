import type { Control } from './engine/control.ts'
import type { Engine } from './engine/engine.ts'
import { printable } from './printable.ts'
import { prepareStateFolder } from './state-folder.ts'
import { proseFor } from './terminal-text.ts'

/** What is done with the engine; the signal says that it is to be left. */
type Work = (control: Control, leaving: AbortSignal) => Promise<number>

/**
 * Works on a run or a task in this process. The first Ctrl-C lets what is under way end, the
 * second stops at once, and so does a terminal that is closed; whichever way, it can be gone on with.
 */
export async function workHere(
  root: string,
  stateFolder: string,
  id: string,
  work: Work,
): Promise<number> {
  prepareStateFolder(stateFolder)
  const { openEngine } = await import('./engine/engine.ts')
  const engine = await openEngine(root, stateFolder, process.env)
  const said = engine.unconfined ?? engine.description
  process.stderr.write(proseFor(process.stderr, `${printable(said)}\n`))
  return workWith(engine, id, work)
}

/** Works with an engine that is open, and closes it. */
export async function workWith(
  engine: Pick<Engine, 'control' | 'drain' | 'fail' | 'close'>,
  id: string,
  work: Work,
): Promise<number> {
  const leaving = new AbortController()
  /** Whoever is in a hurry is not waited for; the first Ctrl-C lets a run that is begun be whole. */
  let hurry = () => {}
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve
  })
  let isDraining = false
  const stop = () => {
    leaving.abort()
    hurry()
  }
  const interrupt = () => {
    if (isDraining) return stop()
    isDraining = true
    process.stderr.write('Ending what is under way; press Ctrl-C again to stop at once.\n')
    // What cannot be ended in peace, as where nothing can be stored, is left as it is.
    void engine
      .drain(id)
      .catch(() => {})
      .finally(() => leaving.abort())
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  process.on('SIGHUP', stop)
  const working = work(engine.control, leaving.signal)
  try {
    const failed = engine.fail(leaving.signal)
    await Promise.race([working, failed.then(() => Promise.race([working, hurried]))])
    leaving.abort()
    await failed
  } finally {
    leaving.abort()
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    process.off('SIGHUP', stop)
    // Who follows the run has to leave the terminal as it was, also where the engine has failed.
    await engine.close(working)
  }
  return working
}
