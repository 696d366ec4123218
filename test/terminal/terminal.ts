import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { vi } from 'vitest'

/** Where a command is typed. */
interface Desk {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const TIMEOUT_MS = 90_000
export const SLIPWAY = `"${process.execPath}" "${resolve('dist/slipway.js')}"`

/** Real terminals of 110 columns, each a window that one command runs in. */
export class Terminals {
  readonly #folder = mkdtempSync(join(tmpdir(), 'slipway-terminals-'))
  #count = 0

  /** Opens one more, and types a command line; its exit code is shown when it ended. */
  open(line: string, { cwd, env }: Desk): Terminal {
    this.#count += 1
    const name = `t${this.#count}`
    const script = `trap : INT; ${line}; echo "ended with $?"; sleep infinity`
    const size = ['-x', '110', '-y', '45', '-c', cwd]
    this.#tmux(env, 'new-session', '-d', '-s', name, ...size, 'sh', '-c', script)
    return new Terminal((...args) => this.#tmux(env, ...args), name)
  }

  close(): void {
    try {
      this.#tmux(process.env, 'kill-server')
    } finally {
      rmSync(this.#folder, { recursive: true })
    }
  }

  #tmux(env: NodeJS.ProcessEnv, ...args: string[]): string {
    const all = ['-S', join(this.#folder, 'tmux.sock'), '-f', '/dev/null', ...args]
    return execFileSync('tmux', all, { env: { ...env, TERM: 'xterm-256color' } }).toString()
  }
}

/** One terminal: what is on it, and the keys that are pressed. */
class Terminal {
  readonly #tmux: (...args: string[]) => string
  readonly #name: string

  constructor(tmux: (...args: string[]) => string, name: string) {
    this.#tmux = tmux
    this.#name = name
  }

  press(...keys: string[]): void {
    this.#tmux('send-keys', '-t', this.#name, ...keys)
  }

  /** What can be seen, lines that were too long for it joined again. */
  screen(): string {
    return this.#tmux('capture-pane', '-p', '-J', '-t', this.#name)
  }

  /** Closes its window, as somebody does who has had enough. */
  hangUp(): void {
    this.#tmux('kill-session', '-t', this.#name)
  }

  /** What is seen once it says so. */
  async shows(words: string): Promise<string> {
    const isThere = () => this.screen().includes(words)
    await vi.waitUntil(isThere, { timeout: TIMEOUT_MS, interval: 100 }).catch(() => {
      throw new Error(`it never says ${JSON.stringify(words)}:\n${this.screen()}`)
    })
    return this.screen()
  }
}
