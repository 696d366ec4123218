import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openRepositories, updateMirror } from '../../src/effects/git/repositories.ts'
import { type GitWorld, writeFiles } from '../git/world.ts'
import { openQueue, type Queue, RUN } from '../merge/queue.ts'
import type { HostileWorld } from './hostile-world.ts'
import { TAMPERINGS } from './tamperings.ts'

/** Everything that the product does with a repository, on workspaces that models have spoiled. */
export async function walkProduct(
  hostile: HostileWorld,
  world: GitWorld,
  tamperings: readonly string[],
): Promise<void> {
  const queue = await openQueue(world)
  for (const name of tamperings) await walkStory(hostile, queue, name)
  await walkConflict(hostile, queue)
  const { git, state, user } = world
  await queue.workspaces.remove({ run: RUN, story: 'planted' })
  await queue.workspaces.restore({ run: RUN, story: 'planted' })
  await queue.workspaces.reconcile([{ run: RUN, story: 'planted' }])
  await queue.workspaces.reconcile([])
  await updateMirror(git, await openRepositories(git, state), user)
}

async function walkStory(hostile: HostileWorld, queue: Queue, name: string): Promise<void> {
  const owner = { run: RUN, story: name }
  const { workspaces } = queue
  const base = await targetOf(queue)
  const { folder } = await workspaces.prepare(owner, base)
  TAMPERINGS[name]?.(folder, hostile, name)
  writeFiles(folder, { [`stories/${name}.txt`]: 'one\n' })
  await workspaces.checkpoint(owner)
  writeFiles(folder, { [`stories/${name}.txt`]: 'two\n' })
  const head = await workspaces.commit(owner, `Work on ${name}`)
  const before = filesOf(folder)
  rmSync(folder, { recursive: true })
  await workspaces.prepare(owner, base)
  expect(readFileSync(join(folder, `stories/${name}.txt`), 'utf8')).toBe('two\n')
  expect(filesOf(folder), name).toEqual(before)
  await workspaces.checkpoint(owner)
  expect(await queue.merge(name, head as string), name).toMatchObject({ kind: 'merged' })
}

/** The paths of all files and links, with those of repositories inside. */
function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => path !== '.git' && !path.startsWith('.git/'))
    .sort()
}

async function targetOf({ forge }: Queue): Promise<string> {
  const target = await forge.readTarget('main')
  if (target.ok) return target.value
  throw new Error(target.error.message)
}

async function walkConflict(hostile: HostileWorld, queue: Queue): Promise<void> {
  const { workspaces } = queue
  const base = await targetOf(queue)
  const tamper = (folder: string) => TAMPERINGS.planted?.(folder, hostile, 'planted')
  const change = async (story: string, text: string) => {
    const owner = { run: RUN, story }
    const { folder } = await workspaces.prepare(owner, base)
    tamper(folder)
    writeFiles(folder, { 'a.txt': text })
    return (await workspaces.commit(owner, story)) as string
  }
  const [left, right] = [await change('left', 'left\n'), await change('right', 'right\n')]
  expect(await queue.merge('left', left)).toMatchObject({ kind: 'merged' })
  const outcome = await queue.merge('right', right)
  if (outcome.kind !== 'conflicted') throw new Error(`${outcome.kind} is no conflict`)
  expect(outcome.conflicts[0]?.hunks[0]?.story).toBe('right\n')
  const owner = { run: RUN, story: 'right' }
  const { folder } = await workspaces.prepare(owner, outcome.onto, outcome.content)
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toMatch(/<<<<<<<[\s\S]*left[\s\S]*right/)
  tamper(folder)
  writeFiles(folder, { 'a.txt': 'left and right\n' })
  const head = (await workspaces.commit(owner, 'Resolve')) as string
  expect(await queue.merge('right', head)).toMatchObject({ kind: 'merged' })
}
