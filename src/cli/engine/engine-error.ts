import { ProviderError } from '../provider-error.ts'
import { UsageError } from '../usage-error.ts'

/** Something that an engine could not do. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
}

/** Nobody answers where an engine was. */
export class EngineGoneError extends EngineError {}

/** An engine is there, and gives no sign of life: it was stopped, or is stuck. */
export class EngineSilentError extends EngineError {
  readonly pid: number

  constructor(pid: number) {
    super(
      `The engine (process ${pid}) does not answer. If somebody stopped it, kill -CONT ${pid} has it go on; else end it with kill -9 ${pid}, and type this again: nothing is lost.`,
    )
    this.pid = pid
  }
}

/**
 * Waits for what an engine may be asked about and refuse. One that has ended by itself meanwhile
 * refuses nothing: whoever comes after it does.
 */
export async function unlessGone(asked: Promise<void>): Promise<void> {
  await asked.catch((error) => {
    if (!(error instanceof EngineGoneError)) throw error
  })
}

/** An error that another process told of, as the same kind where the kind decides the exit code. */
export function errorOf(name: string, message: string): Error {
  if (name === 'UsageError') return new UsageError(message)
  return name === 'ProviderError' ? new ProviderError(message) : new EngineError(message)
}
