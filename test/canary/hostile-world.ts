import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Git, openGit } from '../../src/effects/git/git.ts'
import { changeRefs } from '../../src/effects/git/refs.ts'
import { openRepositories, updateMirror } from '../../src/effects/git/repositories.ts'
import { openProcesses, type Processes } from '../../src/effects/process/processes.ts'
import { openWorkspaces } from '../../src/effects/workspace/workspaces.ts'
import { type GitWorld, plainGit, writeFiles } from '../git/world.ts'
import { HOME_VECTORS } from './home-vectors.ts'
import { type Marks, openMarks } from './marks.ts'
import { inHome, inRepository, plant } from './planting.ts'
import { REPOSITORY_VECTORS } from './repository-vectors.ts'
import type { Vector } from './vector.ts'
import { makeVictim } from './victim.ts'

/** What no text of ours may ever hold: it lies outside of everything that we work on. */
export const SECRET = 'the content of a file that is none of our business'

/** A machine on which everything is hostile: the repository, the home and the environment. */
export interface HostileWorld {
  readonly scratch: string
  readonly user: string
  readonly home: string
  /** A folder with a secret, which links lead to. */
  readonly outside: string
  readonly marks: Marks
  /** What is planted in .git folders here. */
  readonly vectors: readonly Vector[]
  /** Starts the product, in the hostile environment. */
  start(open?: (processes: Processes) => Git): Promise<GitWorld>
  /** Brings the environment back. */
  close(): void
}

export function openHostileWorld(isPlanted: (vector: Vector) => boolean): HostileWorld {
  const scratch = mkdtempSync(join(tmpdir(), 'slipway-canary-'))
  const { user, home } = makeVictim(scratch)
  writeFiles(user, { '.gitmodules': hostileModules(scratch) })
  plainGit(user, 'commit', '-q', '-a', '-m', 'modules')
  const outside = join(scratch, 'outside')
  writeFiles(outside, { id_rsa: SECRET, '.git/config': SECRET, 'hooks/pre-commit': SECRET })
  const marks = openMarks(join(scratch, 'canary'))
  const grounds = join(scratch, 'grounds')
  const vectors = REPOSITORY_VECTORS.filter(isPlanted)
  plant(vectors, inRepository('user', user, grounds), marks)
  const env = plant(HOME_VECTORS.filter(isPlanted), inHome(home, user, grounds), marks)
  const before = { ...process.env }
  Object.assign(process.env, env, { HOME: home })
  process.env.XDG_CONFIG_HOME = join(home, '.config')
  return {
    ...{ scratch, user, home, outside, marks, vectors },
    start: (open = openGit) => start(scratch, user, open),
    close() {
      for (const name of Object.keys(process.env)) delete process.env[name]
      Object.assign(process.env, before)
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

/** What git refuses to read; whoever asks it about submodules gets no further. */
function hostileModules(scratch: string): string {
  const program = join(scratch, 'canary/programs/modules@user')
  return `[submodule "sub"]\n\tpath = sub\n\turl = ext::${program}\n\tupdate = !${program}\n`
}

async function start(
  scratch: string,
  user: string,
  open: (processes: Processes) => Git,
): Promise<GitWorld> {
  const state = join(scratch, 'state')
  mkdirSync(state, { recursive: true })
  const processes = openProcesses(state)
  const git = open(processes)
  const repositories = await openRepositories(git, state)
  await updateMirror(git, repositories, user)
  const seen = ['rev-parse', 'refs/origin/heads/main']
  const { text: base } = await git.run(seen, { repository: repositories.mirror })
  await changeRefs(git, repositories.mirror, [{ ref: 'refs/heads/main', to: base, from: null }])
  const workspaces = openWorkspaces(git, repositories, state)
  const close = () => processes.close()
  return { scratch, user, state, processes, git, repositories, workspaces, base, close }
}
