import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundle } from './bundle.ts'
import type { DurableSubject, Round } from './rounds.ts'

const WORKER = new URL('./workers/subject.ts', import.meta.url)

/** What opens a subject: an exported function of a module, and what it is called with. */
interface Opening {
  readonly module: URL
  readonly name: string
  readonly args: readonly (string | number)[]
}

/**
 * Opens a subject in a process of its own, as it would run. One that shares a process with
 * LangGraph has a tenth less speed: a single AsyncLocalStorage slows every promise down.
 */
export function openPeerProcess({ module, name, args }: Opening): Promise<DurableSubject> {
  const given = [module.href, name, JSON.stringify(args)]
  // The options of this process bring what runs TypeScript.
  return open(fork(fileURLToPath(WORKER), given, { serialization: 'advanced' }))
}

/** The same for what consists of the product's own code, which is bundled as the product is. */
export function openProductProcess({ module, name, args }: Opening): Promise<DurableSubject> {
  const given = [pathToFileURL(bundle(module)).href, name, JSON.stringify(args)]
  return open(fork(bundle(WORKER), given, { serialization: 'advanced', execArgv: [] }))
}

async function open(child: ChildProcess): Promise<DurableSubject> {
  await nextMessage(child)
  return {
    run(roundMs) {
      const round = nextMessage(child) as Promise<Round>
      child.send(roundMs)
      return round
    },
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.disconnect()
      }),
  }
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null) => reject(new Error(`a subject ended with ${code}`))
    child.once('exit', fail)
    child.once('message', (message) => {
      child.off('exit', fail)
      resolve(message)
    })
  })
}
