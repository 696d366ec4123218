import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { readProcessTable, readStartedTick, readStatus } from './process-table.ts'

const MARK = `SLIPWAY_TABLE_TEST=${process.pid}.`
const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function start(file: string, args: readonly string[], marked = false): number {
  const [name = '', value] = MARK.split('=')
  const env = marked ? { [name]: value } : {}
  const child = spawn(file, args, { env: { PATH: process.env.PATH, ...env }, detached: true })
  children.push(child)
  return child.pid ?? 0
}

describe('the process table', () => {
  test('has every process with its parent, and knows the marked ones', async () => {
    const marked = start('sleep', ['60'], true)
    const other = start('sleep', ['60'])
    const table = await readProcessTable(MARK)
    const find = (pid: number) => table.find((entry) => entry.pid === pid)
    expect(find(marked)).toMatchObject({ parent: process.pid, session: marked, marked: true })
    expect(find(other)).toMatchObject({ parent: process.pid, session: other, marked: false })
    expect(find(process.pid)).toMatchObject({ parent: process.ppid, marked: false })
  })

  test.runIf(process.platform === 'linux')('leaves those alone that started before', async () => {
    const marked = start('sleep', ['60'], true)
    const table = await readProcessTable(MARK, readStartedTick(marked) + 1)
    expect(table.find((entry) => entry.pid === marked)?.marked).toBe(false)
  })

  test.runIf(process.platform === 'linux')('is not misled by the name of a program', () => {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-table-'))
    const program = join(folder, 'a) Z 1 (b')
    copyFileSync('/bin/sleep', program)
    const pid = start(program, ['60'])
    expect(readStatus(pid)).toMatchObject({ pid, parent: process.pid, session: pid })
    rmSync(folder, { recursive: true })
  })

  test.runIf(process.platform === 'linux')('does not count a zombie as living', async () => {
    // The shell becomes a sleep, which does not wait for the child that it had before.
    const script = 'sleep 0.1 & echo $!; exec sleep 60'
    const shell = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    children.push(shell)
    const [line] = await once(shell.stdout as NodeJS.ReadableStream, 'data')
    const zombie = Number(String(line))
    await expect.poll(() => readStatus(zombie)).toBeUndefined()
    expect(readStartedTick(zombie)).toBeGreaterThan(0)
    expect((await readProcessTable(MARK)).some((entry) => entry.pid === zombie)).toBe(false)
  })

  test('says of a process that is not there that it is not', () => {
    expect(readStatus(2 ** 30)).toBeUndefined()
  })
})
