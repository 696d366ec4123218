import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { endEngine } from './end-engine.ts'

/** A process that does that when it is asked to end. */
async function start(onTerm: string) {
  const program = `process.on('SIGTERM', () => { ${onTerm} }); console.log(1); setInterval(() => {}, 1e6)`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return { child, ended, pid: child.pid as number }
}

test('an engine is asked to end, and waited for; one that is gone has ended', async () => {
  const { child, pid } = await start('setTimeout(() => process.exit(7), 200)')
  await endEngine(pid)
  expect(child.exitCode).toBe(7)
  await endEngine(pid)
})

test('one that does not end is named, with what to do', async () => {
  const { child, ended, pid } = await start('')
  try {
    await expect(endEngine(pid, 200)).rejects.toThrow(
      new RegExp(`process ${pid}\\) has not ended after 0.2 s.*kill -9 ${pid}`),
    )
  } finally {
    child.kill('SIGKILL')
    await ended
  }
})
