import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Git in a repository of the emulated server, as somebody else; gives what it printed. */
export async function remoteGit(folder: string, ...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=A Server', '-c', 'user.email=server@example.org']
  return (await run('git', [...identity, ...args], { cwd: folder })).stdout.trim()
}

/** An object of such a repository, byte by byte, as text. */
export async function remoteObject(folder: string, type: string, id: string): Promise<string> {
  return (await run('git', ['cat-file', type, id], { cwd: folder })).stdout
}
