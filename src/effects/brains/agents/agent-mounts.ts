import { access, lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_HOME } from '../../sandbox/bubblewrap-view.ts'
import type { SandboxMount } from '../../sandbox/sandbox.ts'
import type { Agent } from './agent.ts'

/** The files of a user's home that an agent is shown and not as a copy, as far as they are there. */
export async function homeMounts({ home }: Agent, userHome: string): Promise<SandboxMount[]> {
  const themselves = home.filter(({ renew }) => renew === undefined)
  const found = themselves.map(
    async ({ path, access: wanted, inParts }): Promise<SandboxMount[]> => {
      const outside = join(userHome, path)
      const inside = join(PRIVATE_HOME, path)
      if (inParts === undefined) return showExisting({ outside, inside, access: wanted })
      const names = await readdir(outside).catch(() => [])
      const parts = names.map((name) =>
        showExisting({ outside: join(outside, name), inside: join(inside, name), access: wanted }),
      )
      return (await Promise.all(parts)).flat()
    },
  )
  return (await Promise.all(found)).flat()
}

/** Nothing for what is not there, such as where a link leads nowhere. */
async function showExisting(mount: SandboxMount): Promise<SandboxMount[]> {
  return access(mount.outside).then(
    () => [mount],
    () => [],
  )
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
