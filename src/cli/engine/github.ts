import { openGithubForge } from '../../effects/forge/github-forge.ts'
import {
  findGithubRepository,
  type GithubRepository,
} from '../../effects/forge/github-repository.ts'
import { findGithubToken, tokenVariables } from '../../effects/forge/github-token.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Environment, RepositoryPlace } from '../config/place.ts'
import { UsageError } from '../usage-error.ts'
import type { TeamParts } from './team.ts'

type ForgeParts = Parameters<NonNullable<TeamParts['openForge']>>[0]

/** How the configured forge is opened, and who is told its token; undefined for the local one. */
export function forgeOpener(
  { config, repository: place }: LoadedConfig,
  environment: Environment,
  onToken: (token: string) => void,
): TeamParts['openForge'] {
  const { kind, checksGraceSeconds } = config.forge
  if (kind === 'local' || place === undefined) return undefined
  return async ({ git, repositories, processes }) => {
    const found = await findGithub(config, place, environment, { git, processes })
    onToken(found.token)
    const checksGraceMs = Math.round(checksGraceSeconds * 1_000)
    return openGithubForge({ git, repositories, ...found, checksGraceMs })
  }
}

/** The repository at GitHub and the token for it. Throws a usage error that says what is missing. */
export async function findGithub(
  { forge }: LoadedConfig['config'],
  place: RepositoryPlace,
  environment: Environment,
  { git, processes }: Pick<ForgeParts, 'git' | 'processes'>,
): Promise<{ readonly repository: GithubRepository; readonly token: string }> {
  const remote = await git.run(['config', '--local', '--get', 'remote.origin.url'], {
    repository: place.git,
    workTree: place.root,
    accept: [0, 1],
  })
  const address = findGithubRepository(remote.text, forge.apiUrl ?? undefined)
  if (address.kind === 'refused') {
    throw new UsageError(
      `forge.kind is github, but ${address.reason}. Point the remote origin at GitHub, or set forge.kind to local.`,
    )
  }
  const { repository } = address
  const token = await findGithubToken(repository.host, { env: environment, processes })
  if (token !== undefined) return { repository, token }
  throw new UsageError(
    `There is no token for ${repository.host}. Set ${tokenVariables(repository.host)[0]}, or sign in with gh auth login.`,
  )
}
