import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StateFolderError } from '../../journal/state-folder-error.ts'
import { type Control, connectControl, readAddress, serveControl } from './control.ts'
import { EngineGoneError, EngineSilentError } from './engine-error.ts'

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
  const connected = await connectControl(scratch)
  expect(server.isAsked()).toBe(false)
  const answer = connected?.stop('r').then(() => 'stopped')
  await asked
  expect(server.isAsked()).toBe(true)
  await server.close()
  expect(server.isAsked()).toBe(false)
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
  await expect(server.close()).rejects.toThrow(
    new StateFolderError(
      `${address} cannot be removed (ERR_FS_EISDIR). Nothing is lost; remove it, or the next start takes this for a crash.`,
    ),
  )
  expect(existsSync(own)).toBe(false)
})

/** Something in the place of an engine that does not do as one does. */
async function serveOther(listener: RequestListener): Promise<Server> {
  const server = createServer(listener)
  const socket = join(scratch, 'other.sock')
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  const address = { socket, pid: 4_711, grounds: null }
  writeFileSync(join(scratch, 'engine.json'), JSON.stringify(address))
  return server
}

test('one that is killed in the middle of an answer is gone', async () => {
  const server = await serveOther(({ url }, response) => {
    if (url === '/runs') return void response.end('{"value":[]}')
    response.write('{"value":[', () => response.destroy())
  })
  const connected = await connectControl(scratch)
  await expect(connected?.agents('r')).rejects.toThrow(EngineGoneError)
  server.closeAllConnections()
  server.close()
})

test('one that gives no sign of life is told of by its process', async () => {
  const silent = await serveOther(() => {})
  const connected = connectControl(scratch, 200)
  await expect(connected).rejects.toThrow(EngineSilentError)
  await expect(connected).rejects.toThrow(/\(process 4711\).*kill -CONT 4711.*kill -9 4711/)
  silent.closeAllConnections()
  silent.close()
})

test('one that works long on what it was asked is waited for while it gives other signs', async () => {
  let isLiving = true
  const slow = {
    ...control,
    condition: () => (isLiving ? Promise.resolve(null) : new Promise(() => {})),
    stop: () => new Promise((resolve) => setTimeout(() => resolve('stopped'), 1_500)),
    pause: () => new Promise(() => {}),
  } as unknown as Control
  const server = await serveControl(scratch, slow, null)
  const connected = await connectControl(scratch, 200)
  expect(await connected?.stop('r')).toBe('stopped')
  isLiving = false
  await expect(connected?.pause('r')).rejects.toThrow(EngineSilentError)
  await server.close()
})
