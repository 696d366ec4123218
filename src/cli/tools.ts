import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openProcesses } from '../effects/process/processes.ts'
import type { McpServer } from '../effects/tools/mcp/mcp-config.ts'
import type { McpDefinition } from '../effects/tools/mcp/mcp-definitions.ts'
import {
  admitServer,
  inspectMcpServer,
  type McpInspection,
} from '../effects/tools/mcp/mcp-tools.ts'
import { distrustMcpServer, readMcpTrust, trustMcpServer } from '../effects/tools/mcp/mcp-trust.ts'
import { variablesIn } from '../effects/tools/mcp/mcp-variables.ts'
import { agree } from './agreement.ts'
import { layOut } from './columns.ts'
import { findRepository } from './config/place.ts'
import { EXIT_CODE } from './exit-code.ts'
import { jsonText } from './json-text.ts'
import { describeRefusal, openServerRun, readMcpServers } from './mcp-servers.ts'
import { printable } from './printable.ts'
import { findPlace, prepareStateFolder, type StateOptions } from './state-folder.ts'
import { styleFor } from './style.ts'
import { columnsOf } from './terminal-size.ts'
import { refuseTrackedState } from './tracked-state.ts'
import { UsageError } from './usage-error.ts'

export interface ToolsOptions extends StateOptions {
  readonly json?: true
}

export interface TrustToolsOptions extends ToolsOptions {
  readonly yes?: true
  /** Names with commas between them. */
  readonly variables?: string
}

/** `slipway tools list`: the servers that the repository names. Starts none of them. */
export async function listTools(options: ToolsOptions): Promise<void> {
  const { root, stateFolder } = await openPlace(options)
  const { servers, problems } = await readMcpServers(root)
  const trust = await readMcpTrust(stateFolder)
  const found = servers.map((server) => {
    const admitted = admitServer(server, trust, process.env)
    const { name, entry } = server
    const { type } = entry
    const reason = admitted.ok ? null : admitted.reason
    return { name, type, at: placeOf(server), trusted: admitted.ok, reason }
  })
  if (options.json) write(jsonText({ servers: found, problems }))
  else if (found.length > 0) {
    const style = styleFor(process.stdout)
    const rows = found.map(({ name, at, reason }) => [name, reason ?? 'trusted', at].map(printable))
    const width = columnsOf(process.stdout)
    write(layOut([['SERVER', 'STATUS', 'AT'], ...rows], width, [style.bold]))
  } else if (problems.length === 0) talk('The repository names no servers in .mcp.json.')
  for (const problem of problems) talk(`.mcp.json: ${problem}`)
}

/** `slipway tools trust`: shows an entry, starts it once, shows its tools, and pins both. */
export async function trustTools(name: string, options: TrustToolsOptions): Promise<number> {
  const { root, stateFolder } = await openPlace(options)
  const server = findServer(name, await readMcpServers(root))
  const variables = readVariables(server, options.variables)
  const show = (text: string) =>
    (options.json ? process.stderr : process.stdout).write(`${printable(text)}\n`)
  const isAgreed = async (question: string) => options.yes === true || agree(question)
  show(`${name} of .mcp.json:\n${jsonText(server.entry)}`)
  show(`variables that it is given: ${variables.join(', ') || 'none'}`)
  if (!(await isAgreed('Start it once on this machine, to see its tools?'))) {
    return finish(options, { name, trusted: false, reason: 'nothing was started' })
  }
  prepareStateFolder(stateFolder)
  const found = await inspect(server, variables, stateFolder)
  if (!found.ok) return finish(options, { name, trusted: false, reason: found.reason })
  show(found.tools.map(describeTool).join('\n\n') || 'It has no tools.')
  for (const refusal of found.refused) show(describeRefusal(refusal))
  const { tools, refused, definitions } = found
  if (!(await isAgreed('Trust it with these tools?'))) {
    return finish(options, { name, trusted: false, reason: 'you did not agree', tools, refused })
  }
  await trustMcpServer(stateFolder, server, { definitions, variables })
  return finish(options, { name, trusted: true, variables, tools, refused })
}

/** `slipway tools distrust`: forgets a server, also one that the repository no longer names. */
export async function distrustTools(name: string, options: ToolsOptions): Promise<number> {
  const { stateFolder } = await openPlace(options)
  const trust = await readMcpTrust(stateFolder)
  if (!trust.has(name)) throw new UsageError(`${JSON.stringify(name)} is not trusted.`)
  await distrustMcpServer(stateFolder, name)
  if (options.json) write(jsonText({ name, trusted: false }))
  talk(`${name} is no longer trusted.`)
  return EXIT_CODE.done
}

/** A state folder that came with the repository would say whom to trust. */
async function openPlace(options: StateOptions): Promise<{ root: string; stateFolder: string }> {
  const place = findPlace(options)
  const repository = findRepository(place.root)
  if (repository !== undefined && existsSync(place.stateFolder)) {
    await refuseTrackedState(repository, place.stateFolder)
  }
  return place
}

function findServer(
  name: string,
  { servers, problems }: Awaited<ReturnType<typeof readMcpServers>>,
): McpServer {
  const server = servers.find((each) => each.name === name)
  if (server !== undefined) return server
  const names = servers.map((each) => each.name).join(', ') || 'none'
  const lines = [`.mcp.json names no server ${JSON.stringify(name)}. There are: ${names}.`]
  throw new UsageError([...lines, ...problems].join('\n'))
}

function readVariables(server: McpServer, given = ''): readonly string[] {
  const mentioned = variablesIn(server.entry)
  const names = given.split(',').flatMap((each) => each.trim() || [])
  const odd = names.find((each) => !mentioned.includes(each))
  if (odd === undefined) return names
  const known = mentioned.join(', ') || 'none'
  throw new UsageError(`The entry has no variable ${JSON.stringify(odd)}. It has: ${known}.`)
}

async function inspect(
  server: McpServer,
  variables: readonly string[],
  stateFolder: string,
): Promise<McpInspection> {
  // An engine that starts meanwhile ends what it takes for left behind in its own folder.
  const processes = openProcesses(join(stateFolder, 'mcp'))
  try {
    const run = await openServerRun(stateFolder, processes, process.env)
    return await inspectMcpServer(server, variables, { run, environment: process.env })
  } finally {
    await processes.close()
  }
}

interface Outcome {
  readonly name: string
  readonly trusted: boolean
  readonly reason?: string
  readonly [fact: string]: unknown
}

function finish({ json }: ToolsOptions, outcome: Outcome): number {
  const { name, trusted, reason } = outcome
  if (json) write(jsonText(outcome))
  talk(
    trusted
      ? `${name} is trusted as it is now. An engine that is started from now on offers its tools.`
      : `${name} is not trusted: ${reason}.`,
  )
  return trusted ? EXIT_CODE.done : EXIT_CODE.failed
}

function describeTool({ name, description = '', inputSchema }: McpDefinition): string {
  return `${name}\n${description}\n${jsonText(inputSchema)}`
}

function placeOf({ entry }: McpServer): string {
  return entry.type === 'stdio' ? [entry.command, ...entry.args].join(' ') : entry.url
}

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}

function talk(text: string): void {
  process.stderr.write(`slipway: ${printable(text)}\n`)
}
