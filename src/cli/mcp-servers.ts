import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openInside } from '../effects/guards/path-guard.ts'
import type { Processes } from '../effects/process/processes.ts'
import { type McpConfig, readMcpConfig } from '../effects/tools/mcp/mcp-config.ts'
import { type McpRefusal, type McpTools, openMcpTools } from '../effects/tools/mcp/mcp-tools.ts'
import { readMcpTrust } from '../effects/tools/mcp/mcp-trust.ts'
import { type RunServer, runOnMachine } from '../effects/tools/mcp/run-server.ts'
import type { Environment } from './config/place.ts'
import { printable } from './printable.ts'

const FILE = '.mcp.json'
const FILE_BYTES_MAX = 1024 * 1024

/** The servers that a repository names. Starts nothing; a link that leads out is not followed. */
export async function readMcpServers(root: string): Promise<McpConfig> {
  try {
    const file = await openInside(root, FILE, 'read')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(FILE_BYTES_MAX + 1))
      if (bytesRead > FILE_BYTES_MAX) return { servers: [], problems: ['it is too long'] }
      return readMcpConfig(buffer.toString('utf8', 0, bytesRead))
    } finally {
      await file.close()
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { servers: [], problems: code === 'ENOENT' ? [] : [message] }
  }
}

/**
 * How servers are started: on this machine, in a folder of their own. It is a package of its own
 * too, or what npx starts there would be for the files of the repository around it to say.
 */
export async function openServerRun(
  stateFolder: string,
  processes: Processes,
  environment: Environment,
): Promise<RunServer> {
  const folder = join(stateFolder, 'mcp')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
  return runOnMachine(processes, folder, environment)
}

/** The tools of the servers that the user trusts. What is not offered is said on stderr. */
export async function openTrustedTools(
  root: string,
  stateFolder: string,
  processes: Processes,
  { environment, secrets }: { environment: Environment; secrets: readonly string[] },
): Promise<Pick<McpTools, 'tools' | 'secrets' | 'close'>> {
  const { servers, problems } = await readMcpServers(root)
  for (const problem of problems) say(problem)
  if (servers.length === 0) return { tools: [], secrets: [], close: async () => {} }
  const opened = await openMcpTools({
    servers,
    trust: await readMcpTrust(stateFolder),
    run: await openServerRun(stateFolder, processes, environment),
    environment,
    secrets,
    onRefused: (refusal) => say(describeRefusal(refusal)),
  })
  for (const refusal of opened.refused) say(describeRefusal(refusal))
  return opened
}

/** One line about a server, or a tool of one, that is not offered. */
export function describeRefusal({ server, tool, reason }: McpRefusal): string {
  const what = tool === undefined ? server : `${server}, ${JSON.stringify(tool)}`
  return `${what} is not offered: ${reason}`
}

function say(text: string): void {
  process.stderr.write(`slipway: ${FILE}: ${printable(text)}\n`)
}
