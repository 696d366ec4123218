import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const runFile = promisify(execFile)

/** Runs a bundled worker in a process of its own and gives what it measured: its output as JSON. */
export async function runWorker<Result>(
  file: string,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
): Promise<Result> {
  const { stdout } = await runFile(process.execPath, [...nodeOptions, file, ...args])
  return JSON.parse(stdout) as Result
}
