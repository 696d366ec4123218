import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Control, connectControl, readAddress, serveControl } from './control.ts'

let scratch: string

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'slipway-control-'))
})

afterEach(() => rmSync(scratch, { recursive: true, force: true }))

const control = { runs: async () => [] } as unknown as Control

test('the socket of a long path is in a folder of its own, which goes with it', async () => {
  const state = join(scratch, 'x'.repeat(120))
  mkdirSync(state)
  const killed = await serveControl(state, control, null)
  const left = dirname((await readAddress(state))?.socket ?? '')
  expect(dirname(left)).toBe(tmpdir())
  const next = await serveControl(state, control, null)
  expect(existsSync(left)).toBe(false)
  const own = dirname((await readAddress(state))?.socket ?? '')
  expect(await (await connectControl(state))?.runs()).toEqual([])
  await next.close()
  expect(existsSync(own)).toBe(false)
  await killed.close()
})

test('who asked before the end is answered', async () => {
  let release = () => {}
  const asked = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow = {
    ...control,
    async stop() {
      release()
      await new Promise((resolve) => setTimeout(resolve, 300))
    },
  } as unknown as Control
  const server = await serveControl(scratch, slow, null)
  const answer = (await connectControl(scratch))?.stop('r').then(() => 'stopped')
  await asked
  await server.close()
  expect(await answer).toBe('stopped')
  expect(await connectControl(scratch)).toBe(undefined)
})

test('where its address cannot be removed, the folder of the socket goes all the same', async () => {
  const state = join(scratch, 'x'.repeat(120))
  mkdirSync(state)
  const server = await serveControl(state, control, null)
  const own = dirname((await readAddress(state))?.socket ?? '')
  const address = join(state, 'engine.json')
  rmSync(address)
  // A folder is not removed as a file is.
  mkdirSync(address)
  await expect(server.close()).rejects.toThrow(address)
  expect(existsSync(own)).toBe(false)
})
