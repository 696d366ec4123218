import { Worker } from 'node:worker_threads'

/** Changes a place all the time, from another thread: now it is right, now a link elsewhere. */
export interface Swapper {
  /** How often it has changed. */
  count(): number
  stop(): Promise<void>
}

const SOURCE = `
  const { renameSync } = require('node:fs')
  const { parentPort, workerData } = require('node:worker_threads')
  const { right, wrong, counter } = workerData
  const parked = right + '.parked'
  parentPort.postMessage('started')
  for (;;) {
    renameSync(right, parked)
    renameSync(wrong, right)
    renameSync(right, wrong)
    renameSync(parked, right)
    Atomics.add(counter, 0, 1)
  }
`

/** Swaps two entries of a folder by their names. */
export async function startSwapping(right: string, wrong: string): Promise<Swapper> {
  const counter = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(SOURCE, { eval: true, workerData: { right, wrong, counter } })
  await new Promise((resolve) => worker.once('message', resolve))
  return {
    count: () => Atomics.load(counter, 0),
    async stop() {
      await worker.terminate()
    },
  }
}
