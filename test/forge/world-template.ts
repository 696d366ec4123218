import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openGit } from '../../src/effects/git/git.ts'
import { openRepositories } from '../../src/effects/git/repositories.ts'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { openWorkspaces } from '../../src/effects/workspace/workspaces.ts'
import { type GitWorld, openGitWorld } from '../git/world.ts'

/** A world that is made once and copied for each test, which is a dozen runs of git cheaper. */
export interface WorldTemplate {
  copy(): Promise<GitWorld>
  close(): Promise<void>
}

export async function openWorldTemplate(): Promise<WorldTemplate> {
  const template = await openGitWorld({ 'readme.txt': 'hello\n' })
  return {
    async copy() {
      const scratch = mkdtempSync(join(tmpdir(), 'slipway-forge-'))
      cpSync(template.scratch, scratch, { recursive: true })
      const state = join(scratch, 'state')
      const processes = openProcesses(state)
      const git = openGit(processes)
      const repositories = await openRepositories(git, state)
      return {
        ...{ scratch, state, processes, git, repositories, base: template.base },
        user: join(scratch, 'user'),
        workspaces: openWorkspaces(git, repositories, state),
        async close() {
          await processes.close()
          rmSync(scratch, { recursive: true, force: true })
        },
      }
    },
    close: () => template.close(),
  }
}
