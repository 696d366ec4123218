import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { Forge } from '../../src/effects/forge/forge.ts'
import { type GithubForgeParts, openGithubForge } from '../../src/effects/forge/github-forge.ts'
import { findGithubRepository } from '../../src/effects/forge/github-repository.ts'
import type { ForgePlace } from './conformance.ts'
import { EmulatedRepository } from './emulated-repository.ts'
import { type Emulator, OWNER, startEmulator, TOKEN } from './emulator.ts'
import { GithubHost } from './github-host.ts'
import { remoteGit } from './remote-git.ts'
import { openWorldTemplate, type WorldTemplate } from './world-template.ts'

/** A repository on GitHub, and a state folder that works on it. */
export interface GithubPlace extends ForgePlace {
  readonly host: GithubHost
  open(changes?: Partial<GithubForgeParts>): Promise<Forge>
}

/** GitHub on this machine, with as many repositories as tests want. */
export interface Github {
  makePlace(): Promise<GithubPlace>
  stop(): Promise<void>
}

export async function startGithub(): Promise<Github> {
  const template = await openWorldTemplate()
  const emulator = await startEmulator()
  let count = 0
  return {
    makePlace() {
      count += 1
      return makePlace(emulator, template, `app-${count}`)
    },
    async stop() {
      await emulator.stop()
      await template.close()
    },
  }
}

async function makePlace(
  emulator: Emulator,
  template: WorldTemplate,
  name: string,
): Promise<GithubPlace> {
  const world = await template.copy()
  const root = join(world.scratch, 'remote')
  const repository = new EmulatedRepository(emulator.url, root, name)
  cpSync(join(world.user, '.git'), repository.folder, { recursive: true })
  await remoteGit(repository.folder, 'config', 'core.bare', 'true')
  await repository.create()
  const host = new GithubHost(root, repository)
  await host.listen()
  return {
    world,
    host,
    async open(changes) {
      const { url } = host
      const address = findGithubRepository(
        `${url}/${OWNER}/${repository.name}.git`,
        `${url}/api/v3`,
      )
      if (address.kind === 'refused') throw new Error(address.reason)
      const { git, repositories } = world
      const checks = { token: TOKEN, checksGraceMs: 0 }
      const parts = { git, repositories, repository: address.repository, ...checks }
      return openGithubForge({ ...parts, ...changes })
    },
    async reviewsOf(number) {
      const path = `/repos/${OWNER}/${repository.name}/pulls/${number}/reviews`
      const { body } = await repository.ask('GET', path)
      const reviews = body as unknown as { commit_id: string; body: string; state: string }[]
      return reviews.map(({ commit_id, ...rest }) => ({ commit: commit_id, ...rest }))
    },
    moveTarget: () => host.commitFromElsewhere('main'),
    async headOf(branch) {
      const args = ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`]
      return (await remoteGit(repository.folder, ...args)) || undefined
    },
    async dispose() {
      await host.close()
      await world.close()
    },
  }
}

/** Somebody else's file arrives on the target. */
export async function addFileElsewhere({ host }: GithubPlace): Promise<void> {
  const { folder } = host.repository
  const blob = await remoteGit(folder, 'rev-parse', 'main:readme.txt')
  await remoteGit(folder, 'read-tree', 'main')
  await remoteGit(folder, 'update-index', '--add', '--cacheinfo', `100644,${blob},more.txt`)
  const tree = await remoteGit(folder, 'write-tree')
  const commit = await remoteGit(folder, 'commit-tree', tree, '-p', 'main', '-m', 'one more file')
  await remoteGit(folder, 'update-ref', 'refs/heads/main', commit)
  await host.repository.takeOver()
}
