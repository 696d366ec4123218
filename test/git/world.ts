import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Git, openGit } from '../../src/effects/git/git.ts'
import { changeRefs } from '../../src/effects/git/refs.ts'
import {
  openRepositories,
  type Repositories,
  updateMirror,
} from '../../src/effects/git/repositories.ts'
import { openProcesses, type Processes } from '../../src/effects/process/processes.ts'
import { openWorkspaces, type Workspaces } from '../../src/effects/workspace/workspaces.ts'

/** A user's repository and a state folder that works on it, all real. */
export interface GitWorld {
  readonly scratch: string
  readonly user: string
  readonly state: string
  readonly processes: Processes
  readonly git: Git
  readonly repositories: Repositories
  readonly workspaces: Workspaces
  /** The commit that everything starts from, on `main`. */
  readonly base: string
  close(): Promise<void>
}

/** Plain git, as a user runs it. */
export function plainGit(folder: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=A User', '-c', 'user.email=user@example.org']
  return execFileSync('git', [...identity, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1e9,
  }).trim()
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** Makes a user's repository with these files in one commit, and a state folder beside it. */
export async function openGitWorld(files: Readonly<Record<string, string>>): Promise<GitWorld> {
  const scratch = mkdtempSync(join(tmpdir(), 'slipway-git-'))
  const user = join(scratch, 'user')
  const state = join(scratch, 'state')
  mkdirSync(user)
  plainGit(user, 'init', '-q', '-b', 'main')
  writeFiles(user, files)
  plainGit(user, 'add', '-A')
  plainGit(user, 'commit', '-q', '-m', 'init')
  const base = plainGit(user, 'rev-parse', 'HEAD')
  const processes = openProcesses(state)
  const git = openGit(processes)
  const repositories = await openRepositories(git, state)
  await updateMirror(git, repositories, user)
  await changeRefs(git, repositories.mirror, [{ ref: 'refs/heads/main', to: base, from: null }])
  const workspaces = openWorkspaces(git, repositories, state)
  const close = async () => {
    await processes.close()
    rmSync(scratch, { recursive: true, force: true })
  }
  return { scratch, user, state, processes, git, repositories, workspaces, base, close }
}

/** Every file and link below a folder with its bytes and whether it is executable. */
export function contentOf(folder: string, leaveOut: readonly string[] = ['.git']): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !leaveOut.includes(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        return contentOf(path, leaveOut).map((line) => `${entry.name}/${line}`)
      }
      if (entry.isSymbolicLink()) return [`${entry.name} -> ${readlinkSync(path)}`]
      const mode = lstatSync(path).mode & 0o100 ? 'x' : '-'
      return [`${entry.name} ${mode} ${readFileSync(path).toString('base64')}`]
    })
    .sort()
}
