import { spawnSync } from 'node:child_process'

/** Runs the built command and gives what a user would see. */
export function slipway(...args: string[]) {
  const env = { ...process.env, NO_COLOR: '' }
  const result = spawnSync(process.execPath, ['dist/slipway.js', ...args], {
    encoding: 'utf8',
    env,
  })
  return { exitCode: result.status, stdout: result.stdout, stderr: result.stderr }
}
