import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
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
  const { ended, pid } = await start('setTimeout(() => process.exit(7), 200)')
  await endEngine(pid)
  expect(await ended).toEqual([7, null])
  await endEngine(pid)
})

test.runIf(process.platform === 'linux')(
  'one that has ended has, also where nobody waits for its process',
  async () => {
    // The shell becomes a sleep, which does not wait for the child that it had before.
    const script = 'sleep 60 & echo $!; exec sleep 60'
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    const ended = once(parent, 'exit')
    try {
      const [line] = await once(parent.stdout, 'data')
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n')
      const pid = Number(String(line))
      await endEngine(pid, 2_000)
      expect(process.kill(pid, 0)).toBe(true)
    } finally {
      parent.kill('SIGKILL')
      await ended
    }
  },
)

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
