import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** What a user would see. */
interface Seen {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A user with a home of their own, and a repository with one commit. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'slipway-place-'))
  readonly repository = join(this.folder, 'repository')
  readonly home = join(this.folder, 'home')
  /** All of the environment; nothing of ours is inherited. */
  readonly env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: this.home,
    // Nobody listens there, whatever runs on this machine.
    OLLAMA_HOST: '127.0.0.1:1',
  }

  constructor() {
    mkdirSync(this.home)
    mkdirSync(this.repository)
    this.git('init', '--quiet', '--initial-branch=main')
    this.commit('first')
  }

  git(...args: string[]): string {
    const env = { ...this.env, GIT_CONFIG_NOSYSTEM: '1' }
    return execFileSync('git', args, { cwd: this.repository, env, encoding: 'utf8' })
  }

  commit(message: string): void {
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org']
    this.git(...who, 'commit', '--quiet', '--allow-empty', '-m', message)
  }

  /** Writes a file of the repository, or of the home when the path begins with ~/. */
  write(path: string, text: string, mode = 0o644): string {
    const file = path.startsWith('~/')
      ? join(this.home, path.slice(2))
      : join(this.repository, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode })
    return file
  }

  /** Runs the built command in the repository, while this process goes on. */
  slipway(...args: string[]): Promise<Seen> {
    const argv = [resolve('dist/slipway.js'), ...args]
    const child = spawn(process.execPath, argv, {
      cwd: this.repository,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const seen = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => (seen.stdout += chunk))
    child.stderr.on('data', (chunk) => (seen.stderr += chunk))
    return new Promise((done, fail) => {
      child.on('error', fail)
      child.on('close', (exitCode) => done({ exitCode, ...seen }))
    })
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
