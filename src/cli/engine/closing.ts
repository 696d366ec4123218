import { doEach } from '../../effects/do-each.ts'
import type { Runtime } from '../../runtime/runtime.ts'

/** What can be closed. */
interface Closable {
  close(): Promise<void>
}

/** What an engine consists of while it works. */
interface EngineParts {
  readonly team: Closable & { readonly runtime: Closable & Pick<Runtime, 'health'> }
  readonly server: Closable
  readonly supervising: Promise<void>
  /** Ends the supervision. */
  readonly leaving: AbortController
  /** What is done with the engine in this process, and ends when it can do nothing more. */
  readonly working?: Promise<unknown> | undefined
}

/** Closes every part of an engine. One that has failed has said why, and that stays what is said. */
export async function closeEngine(parts: EngineParts): Promise<void> {
  const { team, server, supervising, leaving, working } = parts
  const { runtime } = team
  leaving.abort()
  await doEach(
    () => server.close(),
    // Whoever waits for a full disk is let go by that, and those two may be who waits.
    () => runtime.close(),
    () => Promise.allSettled([supervising, working]),
    () => team.close(),
  ).catch((error) => {
    if (runtime.health().state !== 'failed') throw error
  })
}
