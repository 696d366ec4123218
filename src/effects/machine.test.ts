import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MACHINE_SERVICE, machineOf, machineService } from './machine.ts'
import type { Isolation, Sandbox } from './sandbox/sandbox.ts'

test.each([
  'git clone: fatal: write error: No space left on device',
  "git fetch: error: cannot update ref 'refs/gate': couldn't write '/s/mirror.git/refs/gate.lock'",
  'git write-tree: fatal: unable to write new index file',
  'git add: error: open("a"): Too many open files',
  'git gc: fatal: Out of memory, malloc failed',
  'git clone: Error: spawn /usr/bin/git EAGAIN',
  "fatal: cannot create directory at 'src': Disk quota exceeded",
  'Error: EIO: Input/output error, read',
])('the machine is waited for after %s', (message) => {
  expect(machineOf(new Error(message))).toEqual({ service: MACHINE_SERVICE })
})

test('the machine is waited for after an error of the file system that says so by its code', () => {
  const error = Object.assign(new Error('mkdtemp'), { code: 'ENOSPC' })
  expect(machineOf(error)).toEqual({ service: MACHINE_SERVICE })
})

test.each([
  'git clone: fatal: repository does not exist',
  "git fetch: fatal: Unable to create 'gate.lock': File exists.",
  'git cat-file: fatal: bad object',
  'Error: spawn /usr/bin/git ENOENT',
  'git commit-tree: error: insufficient permission for adding an object to repository database /s/work.git/objects\nfatal: failed to write commit object',
  "git fetch: error: couldn't write '/s/mirror.git/refs/gate.lock': Operation not permitted",
])('the machine cannot help %s', (message) => {
  expect(machineOf(new Error(message))).toEqual({})
})

const NONE = Buffer.alloc(0)
const STREAMS = { stdout: NONE, stderr: NONE, output: NONE, droppedBytes: 0, durationMs: 1 }

/** Sandboxes that run commands so. */
function isolationOf(run: Sandbox['run']): Isolation {
  const sandbox: Sandbox = { level: 'none', run, close: async () => {} }
  return { level: 'none', description: '', open: async () => sandbox }
}

/** Sandboxes whose commands end so. */
function isolationThat(how: 'exited' | 'not_started'): Isolation {
  return isolationOf(async () => ({ how, exitCode: how === 'exited' ? 0 : null, ...STREAMS }))
}

test('the machine answers when a command starts and a file can be stored', async () => {
  const state = mkdtempSync(join(tmpdir(), 'slipway-machine-'))
  const probe = (isolation: Isolation, folder = state) =>
    machineService(isolation, folder, []).probe(new AbortController().signal)
  expect(await probe(isolationThat('exited'))).toBe(true)
  expect(await probe(isolationThat('not_started'))).toBe(false)
  const refusing = { ...isolationThat('exited'), open: () => Promise.reject(new Error('none')) }
  expect(await probe(refusing)).toBe(false)
  writeFileSync(join(state, 'file'), '')
  expect(await probe(isolationThat('exited'), join(state, 'file'))).toBe(false)
  expect(readdirSync(join(state, 'sandbox')), 'nothing is left of it').toEqual([])
  rmSync(state, { recursive: true })
})

test('a probe of the machine ends when nobody waits for it any more', async () => {
  const state = mkdtempSync(join(tmpdir(), 'slipway-machine-'))
  const end = new AbortController()
  const isolation = isolationOf(async ({ signal }) => {
    const ended = new Promise((resolve) => signal?.addEventListener('abort', resolve))
    end.abort()
    await ended
    return { how: 'aborted', exitCode: null, ...STREAMS }
  })
  expect(await machineService(isolation, state, []).probe(end.signal)).toBe(false)
  rmSync(state, { recursive: true })
})
