import { openEngine } from './engine/engine.ts'
import { EXIT_CODE } from './exit-code.ts'
import { printable } from './printable.ts'

export interface EngineOptions {
  readonly state: string
}

/** `slipway engine`: what other commands start. It works until nothing is left to do. */
export async function engineCommand({ state }: EngineOptions): Promise<number> {
  const engine = await openEngine(process.cwd(), state, process.env, true)
  if (engine.unconfined !== null) process.stderr.write(`slipway: ${printable(engine.unconfined)}\n`)
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  process.on('SIGTERM', leave)
  process.on('SIGINT', leave)
  try {
    await engine.rest(leaving.signal)
    return EXIT_CODE.done
  } finally {
    await engine.close()
  }
}
