import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openProcesses } from '../../src/effects/process/processes.ts'
import { bundle } from '../bundle.ts'
import type { Conversant } from '../conversation.ts'
import { makeFolder, removeFolder } from '../disk.ts'
import { type CodingAgent, installedVersion } from '../peers/coding-agents.ts'

const CONVERSATION_MS_MAX = 120_000

/** What the product is given for a conversation. */
export interface SlipwaySettings {
  readonly version: string
  /** Tools of a coder; all of them when absent. */
  readonly tools?: readonly string[]
  /** How much there is to read before the first turn: next to nothing, or what a story has. */
  readonly opening: 'short' | 'story'
}

/** The product, durable and sandboxed as it always is, in a process of its own. */
export function slipwayConversant({ version, tools = [], opening }: SlipwaySettings): Conversant {
  const worker = bundle(new URL('../workers/turn.ts', import.meta.url))
  return ownConversant('slipway', version, worker, (turns) => [
    String(turns),
    opening,
    tools.join(),
  ])
}

/** The limit: what the product's turn is made of, without the product. */
export function limitConversant(version: string): Conversant {
  const worker = bundle(new URL('../workers/turn-limit.ts', import.meta.url))
  return ownConversant('its parts alone', version, worker, () => [])
}

function ownConversant(
  name: string,
  version: string,
  worker: string,
  argsOf: (turns: number) => readonly string[],
): Conversant {
  return {
    name,
    version,
    shell: { tool: 'shell', input: (line) => ({ command: line }) },
    end: { tool: 'done', input: { summary: 'All of it was run.' } },
    converse: (url, turns) =>
      inFolder('slipway', (folder) => {
        const { PATH = '', HOME = '' } = process.env
        const argv = [process.execPath, worker, url, folder, ...argsOf(turns)] as const
        return run({ argv, cwd: '.', env: { PATH, HOME } })
      }),
  }
}

/** A coding agent with an empty home, in an empty folder; undefined where it is not installed. */
export function peerConversant(agent: CodingAgent): Conversant | undefined {
  const version = installedVersion(agent)
  if (version === undefined) return undefined
  return {
    name: agent.name,
    version,
    shell: agent.shell,
    converse: (url) =>
      inFolder(agent.name, (folder) => {
        const [home, cwd] = [join(folder, 'home'), join(folder, 'workspace')]
        for (const path of [home, cwd]) mkdirSync(path)
        const { argv, env } = agent.start(home, url)
        return run({ argv, cwd, env: { HOME: home, PATH: process.env.PATH ?? '', ...env } })
      }),
  }
}

interface Program {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs a program to its end, and ends whatever it leaves: some leave servers. */
async function run(program: Program): Promise<void> {
  const processes = openProcesses(program.cwd)
  const limits = { timeoutMs: CONVERSATION_MS_MAX, outputBytesMax: 10_000 }
  const { how, exitCode, output } = await processes.run({ ...program, ...limits })
  await processes.close()
  if (exitCode !== 0) throw new Error(`${program.argv.join(' ')}: ${how} ${exitCode}: ${output}`)
}

async function inFolder(name: string, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = makeFolder(name)
  try {
    await use(folder)
  } finally {
    removeFolder(folder)
  }
}
