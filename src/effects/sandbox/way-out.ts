import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ended } from '../process/command.ts'
import { openEgressProxy } from './egress-proxy.ts'
import { makeTemporary, makeTemporaryElsewhere } from './own-folder.ts'
import { openPortDoor } from './port-door.ts'
import type { SandboxMount, SandboxSettings } from './sandbox.ts'

/** Where the proxy's socket is seen inside. */
const INSIDE_FOLDER = '/run/slipway'
const PORT = 3_128
const LONGEST_SOCKET = '65535.sock'
const START_MS_MAX = 30_000
/** The kernel takes no longer path for a socket. */
const SOCKET_PATH_BYTES_MAX = 107

/** Runs inside, where programs want ports: passes every connection on to the port's socket. */
const FORWARDER = `
const { connect, createServer } = require('node:net')
const [, folder, ...ports] = process.argv
let open = 0
for (const port of ports) {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: folder + '/' + port + '.sock', allowHalfOpen: true })
    near.pipe(far).pipe(near)
    for (const [one, other] of [[near, far], [far, near]]) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroySoon())
    }
  })
  server.maxConnections = 128
  server.on('error', ({ code }) => {
    console.error('port ' + port + ' cannot be opened inside (' + code + '); use an address with another one')
    process.exit(1)
  })
  server.listen(Number(port), '127.0.0.1', () => ++open === ports.length && console.log('ready'))
}
`

/** The allowed hosts and ports of one sandbox, and how its commands get to them. */
export interface WayOut {
  /** To be seen inside. */
  readonly mount: SandboxMount
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

/** What of a sandbox's settings is about the way out of it. */
type Destinations = Pick<SandboxSettings, 'hosts' | 'ports'>

/** Whether a sandbox is to have any way out. */
export function wantsWayOut({ hosts = [], ports = [] }: Destinations): boolean {
  return hosts.length + ports.length > 0
}

/** Opens a way to some hosts and ports. Rejects names that are none. */
export async function openWayOut(folder: string, wanted: Destinations): Promise<WayOut> {
  const { hosts = [], ports = [] } = wanted
  if (ports.includes(PORT)) throw new Error(`port ${PORT} is that of the proxy inside`)
  const socketFolder = await makeSocketFolder(folder)
  const socketOf = (port: number) => join(socketFolder, `${port}.sock`)
  const doors: { close(): Promise<void> }[] = []
  const close = async () => {
    await Promise.all(doors.map((door) => door.close()))
    await rm(socketFolder, { recursive: true, force: true })
  }
  try {
    doors.push(await openEgressProxy(socketOf(PORT), hosts))
    for (const port of ports) doors.push(await openPortDoor(socketOf(port), port))
  } catch (error) {
    await close()
    throw error
  }
  const address = `http://127.0.0.1:${PORT}`
  const names = ['http_proxy', 'https_proxy', 'all_proxy']
  const proxies = [...names, ...names.map((name) => name.toUpperCase())]
  const direct = 'localhost,127.0.0.1,::1'
  return {
    mount: { outside: socketFolder, inside: INSIDE_FOLDER, access: 'read' },
    env: {
      ...Object.fromEntries(proxies.map((name) => [name, address])),
      no_proxy: direct,
      NO_PROXY: direct,
    },
    start: (run) =>
      new Promise((done, fail) => {
        const args = ['-e', FORWARDER, INSIDE_FOLDER, ...[PORT, ...ports].map(String)]
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
    close,
  }
}

/** A folder whose path is short enough for sockets in it. */
export async function makeSocketFolder(ownFolder: string): Promise<string> {
  const folder = await makeTemporary(ownFolder, 'proxy')
  if (Buffer.byteLength(join(folder, LONGEST_SOCKET)) <= SOCKET_PATH_BYTES_MAX) return folder
  await rmdir(folder)
  return makeTemporaryElsewhere(ownFolder)
}
