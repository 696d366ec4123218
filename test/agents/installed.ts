import { existsSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** What the adapters need, and where there is one. */
const NODE_MIN = 22
const NEWER_NODE = 'test/nodes/node_modules/node-24/bin/node'
const MODULES = resolve('test/agents/node_modules')

/** Programs that no command of npm leads to, since install scripts do not run. */
const BINARIES = {
  claude: '@anthropic-ai/claude-code-linux-x64/claude',
  opencode: 'opencode-linux-x64/bin/opencode',
}

/** Makes a PATH on which all agents are installed, as they would be on a user's. */
export async function makeSearchPath(folder: string): Promise<string> {
  const node = findNode()
  await mkdir(folder)
  for (const [name, path] of Object.entries(BINARIES)) {
    const file = join(MODULES, path)
    if (!existsSync(file)) throw new Error(missing(file))
    await symlink(file, join(folder, name))
  }
  return [folder, dirname(node), join(MODULES, '.bin'), '/usr/bin', '/bin'].join(':')
}

/** The Node that runs adapters: ours where that is new enough, else one that CI tests on. */
function findNode(): string {
  if (Number(process.versions.node.split('.')[0]) >= NODE_MIN) return process.execPath
  const node = resolve(NEWER_NODE)
  if (!existsSync(node)) throw new Error(missing(node))
  return node
}

function missing(path: string): string {
  const folder = path.split('/node_modules/')[0]
  return `${path} is missing; to install it: npm ci --ignore-scripts --prefix ${folder}`
}
