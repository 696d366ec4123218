import type { Processes } from '../process/processes.ts'

export interface TokenSources {
  /** Without it, `gh` is not asked. */
  readonly processes?: Pick<Processes, 'run'>
  readonly env: Readonly<Record<string, string | undefined>>
}

const GH_TIMEOUT_MS = 10_000

/** What `gh` needs to find its own configuration and the keyring. */
const GH_ENVIRONMENT = [
  'PATH',
  'HOME',
  'GH_CONFIG_DIR',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
]

/**
 * The token for a host: from the environment, by the names that `gh` uses, or from `gh` itself.
 * A token for github.com is never used for another host.
 */
export async function findGithubToken(
  host: string,
  { env, processes }: TokenSources,
): Promise<string | undefined> {
  const given = tokenVariables(host)
    .map((name) => env[name]?.trim())
    .find(Boolean)
  const token = given ?? (processes && (await askGh(host, processes, env)))
  // Anything else could end the header that it is put into and begin another.
  return token !== undefined && /^[\x21-\x7e]{1,1000}$/.test(token) ? token : undefined
}

/** Where the token for a host is looked for first. */
export function tokenVariables(host: string): readonly [string, string] {
  const isPublic = host === 'github.com' || host.endsWith('.ghe.com')
  return isPublic
    ? ['GH_TOKEN', 'GITHUB_TOKEN']
    : ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN']
}

async function askGh(
  host: string,
  processes: Pick<Processes, 'run'>,
  env: TokenSources['env'],
): Promise<string | undefined> {
  const kept = GH_ENVIRONMENT.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const { exitCode, stdout } = await processes.run({
    argv: ['gh', 'auth', 'token', '--hostname', host],
    cwd: '/',
    env: Object.fromEntries(kept),
    timeoutMs: GH_TIMEOUT_MS,
    outputBytesMax: 4_096,
  })
  const token = stdout.toString().trim()
  return exitCode === 0 && token !== '' ? token : undefined
}
