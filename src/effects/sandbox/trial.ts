import { rm } from 'node:fs/promises'
import { makeTemporary } from './own-folder.ts'
import type { Isolation } from './sandbox.ts'

/** Really runs a command in a sandbox around an empty folder; the reason when that fails. */
export async function tryOut(
  open: Isolation['open'],
  ownFolder: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const workspace = await makeTemporary(ownFolder, 'trial')
  try {
    const sandbox = await open({ workspace, access: 'write' })
    const command = { argv: ['true'], timeoutMs: 30_000, outputBytesMax: 4_096 } as const
    const ended = await sandbox.run(signal === undefined ? command : { ...command, signal })
    const { how, exitCode, output } = ended
    await sandbox.close()
    return exitCode === 0 ? undefined : `a trial command ${how}: ${output.toString().trim()}`
  } catch (error) {
    return (error as Error).message
  } finally {
    await rm(workspace, { recursive: true, force: true })
  }
}
