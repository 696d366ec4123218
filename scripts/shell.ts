import { spawn } from 'node:child_process'

/** How a command ended, and all it printed. */
export interface CommandResult {
  readonly exitCode: number
  readonly output: string
  readonly durationMs: number
}

/** Runs a command to its end and gathers its output. Never rejects: one that cannot start is 127. */
export function run(command: string, args: readonly string[]): Promise<CommandResult> {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    let output = ''
    const end = (exitCode: number) =>
      resolve({ exitCode, output, durationMs: performance.now() - startedMs })
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => {
      output += error.message
      end(127)
    })
    child.on('close', (code) => end(code ?? 1))
  })
}

/** Runs a command in front of the user's eyes and gives its exit code. Never rejects. */
export function show(
  command: string,
  args: readonly string[],
  talk: 'stdout' | 'stderr' = 'stdout',
): Promise<number> {
  return new Promise((resolve) => {
    const output = talk === 'stdout' ? 'inherit' : process.stderr
    const child = spawn(command, args, { stdio: ['ignore', output, 'inherit'] })
    child.on('error', () => resolve(127))
    child.on('close', (code) => resolve(code ?? 1))
  })
}
