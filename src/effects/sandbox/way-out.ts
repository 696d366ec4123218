import { mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ended } from '../process/command.ts'
import { openEgressProxy } from './egress-proxy.ts'
import { makeTemporary } from './own-folder.ts'

/** Where the proxy's socket is seen inside. */
const INSIDE_FOLDER = '/run/slipway'
const SOCKET = 'proxy.sock'
const PORT = 3_128
const START_MS_MAX = 30_000
/** The kernel takes no longer path for a socket. */
const SOCKET_PATH_BYTES_MAX = 107

/** Runs inside, where programs want a port: passes every connection on to the socket. */
const FORWARDER = `
const { connect, createServer } = require('node:net')
const [, socketPath, port] = process.argv
const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ path: socketPath, allowHalfOpen: true })
  near.pipe(far).pipe(near)
  for (const [one, other] of [[near, far], [far, near]]) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroySoon())
  }
})
server.maxConnections = 128
server.listen(Number(port), '127.0.0.1', () => console.log('ready'))
`

/** The allowed hosts of one sandbox, and how its commands get to them. */
export interface WayOut {
  /** To be seen inside, read-only. */
  readonly mount: readonly [outside: string, inside: string]
  /** By which programs find the proxy. */
  readonly env: Readonly<Record<string, string>>
  /** Starts the forwarder inside by `run`, which has to give its output. Rejects when it ends. */
  start(run: (forwarder: Forwarder) => Promise<Ended>): Promise<void>
  close(): Promise<void>
}

/** A program that runs inside for as long as the sandbox is open. */
interface Forwarder {
  argvOf(node: string): [string, ...string[]]
  onOutput(chunk: Buffer): void
}

/** Opens a way to some hosts. Rejects names that are none. */
export async function openWayOut(folder: string, hosts: readonly string[]): Promise<WayOut> {
  const socketFolder = await makeSocketFolder(folder)
  const remove = () => rm(socketFolder, { recursive: true, force: true })
  const proxy = await openEgressProxy(join(socketFolder, SOCKET), hosts).catch(async (error) => {
    await remove()
    throw error
  })
  const address = `http://127.0.0.1:${PORT}`
  const names = ['http_proxy', 'https_proxy', 'all_proxy']
  const proxies = [...names, ...names.map((name) => name.toUpperCase())]
  const direct = 'localhost,127.0.0.1,::1'
  return {
    mount: [socketFolder, INSIDE_FOLDER],
    env: {
      ...Object.fromEntries(proxies.map((name) => [name, address])),
      no_proxy: direct,
      NO_PROXY: direct,
    },
    start: (run) =>
      new Promise((done, fail) => {
        const args = ['-e', FORWARDER, `${INSIDE_FOLDER}/${SOCKET}`, String(PORT)]
        const argvOf = (node: string): [string, ...string[]] => [node, ...args]
        const late = () => fail(new Error('the way to the allowed hosts does not open'))
        const timer = setTimeout(late, START_MS_MAX)
        const onOutput = (chunk: Buffer) => {
          if (chunk.toString() !== 'ready\n') return
          clearTimeout(timer)
          done()
        }
        void run({ argvOf, onOutput }).then(({ output }) =>
          fail(new Error(`the way to the allowed hosts is closed: ${output.toString().trim()}`)),
        )
      }),
    async close() {
      await proxy.close()
      await remove()
    },
  }
}

async function makeSocketFolder(ownFolder: string): Promise<string> {
  const folder = await makeTemporary(ownFolder, 'proxy')
  if (Buffer.byteLength(join(folder, SOCKET)) <= SOCKET_PATH_BYTES_MAX) return folder
  await rmdir(folder)
  return mkdtemp(join(tmpdir(), 'slipway-proxy-'))
}
