import { AUTHOR, type Git, GitError, type GitOptions } from '../../src/effects/git/git.ts'
import type { Processes } from '../../src/effects/process/processes.ts'

/** Git as most programs run it: with everything that the machine and the user have set up. */
export function openTrustingGit(processes: Processes): Git {
  const git: Git = {
    async find(repository, names) {
      const stdin = names.map((name) => `${name}\n`).join('')
      const { text } = await git.run(['cat-file', '--batch-check'], { repository, stdin })
      return text.split('\n').map((line) => /^[0-9a-f]{40}(?= )/.exec(line)?.[0])
    },
    async run(args, options = {}) {
      const cwd = options.workTree ?? options.repository ?? '/'
      const stdin = options.stdin === undefined ? {} : { stdin: options.stdin }
      const bounds = { timeoutMs: 60_000, outputBytesMax: 1e8 }
      const argv = ['git', ...args] as const
      const env = { ...process.env, ...IDENTITY, ...variablesOf(options) } as Record<string, string>
      const ended = await processes.run({ argv, cwd, env, ...stdin, ...bounds }, 'trusted')
      const { exitCode, stdout } = ended
      if (exitCode === null || !(options.accept ?? [0]).includes(exitCode)) {
        throw new GitError(args[0] ?? '', ended)
      }
      return { exitCode, stdout, text: stdout.toString().replace(/\n$/, '') }
    },
  }
  return git
}

const IDENTITY = {
  GIT_AUTHOR_NAME: AUTHOR.name,
  GIT_AUTHOR_EMAIL: AUTHOR.email,
  GIT_COMMITTER_NAME: AUTHOR.name,
  GIT_COMMITTER_EMAIL: AUTHOR.email,
}

function variablesOf({ repository, workTree, index, env }: GitOptions): Record<string, string> {
  return {
    ...(repository === undefined ? {} : { GIT_DIR: repository }),
    ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree }),
    ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
    ...env,
  }
}
