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
}

/** Closes an engine. One that has failed has said why. */
export async function closeEngine(parts: EngineParts): Promise<void> {
  const { team, server, supervising, leaving } = parts
  const { runtime } = team
  leaving.abort()
  await server.close()
  // Whoever waits for a full disk is let go by that, and the supervisor may be who waits.
  await runtime.close()
  await supervising
  await team.close().catch((error) => {
    // What a journal that has failed says at its end, it has said before.
    if (runtime.health().state !== 'failed') throw error
  })
}
