import { access, lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_HOME } from '../../sandbox/bubblewrap-view.ts'
import type { SandboxMount } from '../../sandbox/sandbox.ts'
import type { Agent } from './agent.ts'

/** The files of a user's home that an agent is shown, as far as they are there. */
export async function homeMounts({ home }: Agent, userHome: string): Promise<SandboxMount[]> {
  const found = home.map(async ({ path, access: wanted }) => {
    const outside = join(userHome, path)
    const isThere = await access(outside).then(
      () => true,
      () => false,
    )
    return isThere ? [{ outside, inside: join(PRIVATE_HOME, path), access: wanted }] : []
  })
  return (await Promise.all(found)).flat()
}

/**
 * Covers what an agent must not take from a repository. What is not there now may come into being
 * while the agent works, and is covered in its next turn. Rejects a link, which leads elsewhere.
 */
export async function coveringMounts(
  { repository = [] }: Agent,
  workspace: string,
  emptyFolder: string,
): Promise<SandboxMount[]> {
  const covered = repository.map(async (path): Promise<SandboxMount[]> => {
    const inside = join(workspace, path)
    const found = await lstat(inside).catch(() => undefined)
    if (found === undefined) return []
    if (found.isSymbolicLink()) throw new Error(`${path} is a link, which nothing can cover`)
    if (!found.isDirectory()) return [{ outside: '/dev/null', inside, access: 'read' }]
    await mkdir(emptyFolder, { recursive: true })
    return [{ outside: emptyFolder, inside, access: 'read' }]
  })
  return (await Promise.all(covered)).flat()
}
