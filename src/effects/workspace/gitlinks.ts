import { join } from 'node:path'
import type { Git } from '../git/git.ts'
import type { Repositories } from '../git/repositories.ts'
import { inScratch } from '../git/scratch.ts'
import { type BytePath, bytePathOf } from './byte-path.ts'

interface Link {
  readonly id: string
  readonly path: BytePath
}

/**
 * A tree with the submodules of its base: their folders are empty in a workspace, and what a tool
 * writes there or removes is no wish to change them. One that .gitmodules has ceased to name is gone.
 */
export async function restoreGitlinks(
  git: Git,
  repositories: Repositories,
  base: string,
  tree: string,
): Promise<string> {
  const { work: repository } = repositories
  const lost = await findLost(git, repository, base, tree)
  if (lost.length === 0) return tree
  const before = await readModules(git, repository, base)
  const after = await readModules(git, repository, tree)
  const wanted = lost.filter(({ path }) => after.has(path) || !before.has(path))
  return inScratch(repositories, async (scratch) => {
    const options = { repository, index: join(scratch, 'index') }
    await git.run(['read-tree', tree], options)
    const { stdout } = await git.run(['ls-files', '-z'], options)
    const files = stdout.toString('latin1').split('\0').filter(Boolean)
    const kept = new Set(files)
    const hasRoom = ({ path }: Link) => !parentsOf(path).some((parent) => kept.has(parent))
    const links = wanted.filter(hasRoom)
    const below = files.filter((file) => links.some(({ path }) => file.startsWith(`${path}/`)))
    const lines = [
      ...below.map((file) => `0 ${'0'.repeat(40)}\t${file}\0`),
      ...links.map(({ id, path }) => `160000 ${id}\t${path}\0`),
    ]
    const stdin = Buffer.from(lines.join(''), 'latin1')
    await git.run(['update-index', '-z', '--index-info'], { ...options, stdin })
    return (await git.run(['write-tree'], options)).text
  })
}

/** The paths that .gitmodules names. */
async function readModules(
  git: Git,
  repository: string,
  tree: string,
): Promise<ReadonlySet<BytePath>> {
  const args = ['cat-file', 'blob', `${tree}:.gitmodules`]
  const { text } = await git.run(args, { repository, accept: [0, 128] })
  const paths = text.matchAll(/^\s*path\s*=\s*"?(.*?)"?\s*$/gm)
  return new Set([...paths].map(([, path = '']) => bytePathOf(path)))
}

async function findLost(
  git: Git,
  repository: string,
  base: string,
  tree: string,
): Promise<readonly Link[]> {
  // Ours is a git that overlooks submodules unless it is told otherwise.
  const flags = ['-r', '--raw', '--no-renames', '--no-abbrev', '--ignore-submodules=none', '-z']
  const { stdout } = await git.run(['diff-tree', ...flags, base, tree], { repository })
  const fields = stdout.toString('latin1').split('\0')
  return fields.flatMap((field, i) => {
    const id = /^:160000 \d{6} ([0-9a-f]{40}) /.exec(field)?.[1]
    return id === undefined ? [] : [{ id, path: fields[i + 1] ?? '' }]
  })
}

function parentsOf(path: BytePath): readonly BytePath[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('/'))
}
