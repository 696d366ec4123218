import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** GitHub's REST API on this machine: repositories, pull requests, reviews and checks. */
export interface Emulator {
  readonly url: string
  stop(): Promise<void>
}

export const OWNER = 'robot'
/** Looks like nothing else, so that finding it anywhere is a leak. */
export const TOKEN = 'canary-0f7c1d52b6e94a83'

const COMMAND = 'test/forge/node_modules/emulate/dist/index.js'
const NODE_MIN = 24
const STARTS_MAX = 3

/** The Node that runs it: ours where that is new enough, else the one that CI tests on. */
function findNode(): string {
  if (Number(process.versions.node.split('.')[0]) >= NODE_MIN) return process.execPath
  return `test/nodes/node_modules/node-${NODE_MIN}/bin/node`
}

export async function startEmulator(): Promise<Emulator> {
  const node = findNode()
  for (const path of [COMMAND, node]) {
    if (existsSync(path)) continue
    const folder = path.split('/node_modules/')[0]
    throw new Error(`${path} is missing; to install it: npm ci --ignore-scripts --prefix ${folder}`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'slipway-emulator-'))
  const seed = join(folder, 'seed.json')
  const tokens = { [TOKEN]: { login: OWNER, scopes: ['repo'] } }
  writeFileSync(seed, JSON.stringify({ tokens, github: { users: [{ login: OWNER }] } }))
  for (let start = 1; ; start += 1) {
    const port = await findFreePort()
    const args = [COMMAND, 'start', '--service', 'github', '--port', String(port), '--seed', seed]
    const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    if (!(await isReady(child)) && start < STARTS_MAX) continue
    const stop = async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGKILL')) await ended
      rmSync(folder, { recursive: true, force: true })
    }
    return { url: `http://127.0.0.1:${port}`, stop }
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

function isReady(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk) => String(chunk).includes('Ready') && resolve(true))
    child.once('error', () => resolve(false))
    child.once('exit', () => resolve(false))
  })
}
