import { z } from 'zod'
import { parseCommented } from './commented-json.ts'

/** A name that no user has given to an agent of opencode, so that nobody has allowed it anything. */
const READER = 'slipway-reader'

/** The agents below it are its user's too, and may be allowed more. */
const DENIED = { edit: 'deny', bash: 'deny', webfetch: 'deny', task: 'deny' }

const group = z.record(z.string(), z.unknown()).optional()
const configurationSchema = z.looseObject({ agent: group, mcp: group })

type Configuration = z.infer<typeof configurationSchema>

/**
 * The settings of opencode where a state only reads, for the variable that counts more than all
 * files: `given` is what its user has in it, and `texts` are the user's files. What starts programs
 * in the workspace is off: servers of MCP, which `npx` finds in a repository's own packages first,
 * and language servers, some of which are a part of the repository. Throws where `given` cannot be
 * read, since opencode would then hear nothing of this.
 */
export function opencodeReading(given: string | undefined, texts: readonly string[]): string {
  const own = readConfiguration(given ?? '{}')
  if (own === undefined) throw new Error('OPENCODE_CONFIG_CONTENT is no configuration of opencode')
  const all = [own, ...texts.map(readConfiguration)]
  const servers = all.flatMap((one) => Object.keys(one?.mcp ?? {}))
  const off = servers.map((name) => [name, { ...Object(own.mcp?.[name]), enabled: false }])
  return JSON.stringify({
    ...own,
    default_agent: READER,
    agent: { ...own.agent, [READER]: { mode: 'primary', permission: DENIED } },
    mcp: Object.fromEntries(off),
    lsp: false,
    formatter: false,
  })
}

/** Undefined for what opencode could not read either. */
function readConfiguration(text: string): Configuration | undefined {
  return configurationSchema.safeParse(parseCommented(text)).data
}
