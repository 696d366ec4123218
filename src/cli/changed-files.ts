import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Git, openGit } from '../effects/git/git.ts'
import { openProcesses } from '../effects/process/processes.ts'
import type { RepositoryPlace } from './config/place.ts'

const GIT_MS_MAX = 10_000

/** What of the user's files no run sees, in words; undefined where there is nothing, or no telling. */
export async function describeChanges(place: RepositoryPlace): Promise<string | undefined> {
  const scratch = await mkdtemp(join(tmpdir(), 'slipway-compare-'))
  const processes = openProcesses(scratch)
  try {
    const count = (await findChanged(openGit(processes), place, scratch)).length
    if (count === 0) return undefined
    return `${count === 1 ? '1 tracked file is' : `${count} tracked files are`} changed and not committed`
  } catch {
    // No commit yet, an index of another kind, too many files: others say what is in the way.
    return undefined
  } finally {
    await processes.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

/**
 * The tracked files that are not as in the commit that is checked out. They are compared in a
 * repository of our own, with a copy of the index: in the user's, git would start the filters that
 * its configuration names, and write what it saw into the index.
 */
async function findChanged(
  git: Git,
  { root, git: folder }: RepositoryPlace,
  scratch: string,
): Promise<readonly string[]> {
  const places = ['rev-parse', 'HEAD^{commit}', '--git-path', 'index', '--git-path', 'objects']
  const asked = { repository: folder, workTree: root, timeoutMs: GIT_MS_MAX }
  const [commit = '', index = '', objects = ''] = (await git.run(places, asked)).text.split('\n')
  await git.run(['init', '--quiet', '--template=', scratch])
  const copy = join(scratch, 'index')
  await copyFile(resolve(root, index), copy)
  const ours = {
    repository: join(scratch, '.git'),
    workTree: root,
    index: copy,
    env: { GIT_OBJECT_DIRECTORY: resolve(root, objects) },
    timeoutMs: GIT_MS_MAX,
  }
  // Where a file system keeps no modes, all of them would differ; and where the user has git write
  // other line ends, in whatever configuration, so would these. What has them on purpose keeps them.
  const compare = [
    '-c',
    'core.fileMode=false',
    '-c',
    'core.autocrlf=input',
    'diff',
    '--name-only',
    '-z',
    '--no-ext-diff',
    commit,
  ]
  const { stdout: changed } = await git.run(compare, ours)
  if (changed.length === 0) return []
  const filters = ['check-attr', '-z', '--stdin', 'filter']
  const { stdout } = await git.run(filters, { ...ours, stdin: changed })
  const fields = stdout.toString().split('\0')
  // Without its filter nobody knows whether a file has changed.
  return fields.filter((_, i) => i % 3 === 0 && fields[i + 2] === 'unspecified')
}
