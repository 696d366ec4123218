import { execFileSync } from 'node:child_process'
import { isAbsolute } from 'node:path'

/** Git for the test's own needs, in the midst of it all: what is planted here does not reach it. */
export function calmGit(folder: string, ...args: string[]): string {
  const path = (process.env.PATH ?? '').split(':').filter(isAbsolute).join(':')
  const identity = ['-c', 'user.name=M', '-c', 'user.email=m@example.org']
  const env = { PATH: path, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', [...identity, ...args], {
    ...{ cwd: folder, env, maxBuffer: 1e9, encoding: 'utf8' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}
