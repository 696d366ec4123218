/** A repository on GitHub or on a GitHub Enterprise server, and how it is reached. */
export interface GithubRepository {
  readonly owner: string
  readonly repo: string
  /** Without a slash at its end. */
  readonly apiUrl: string
  /** Where git fetches and pushes, over HTTPS whatever the remote uses. */
  readonly gitUrl: string
  /** The host as people and `gh` name it. */
  readonly host: string
}

export type GithubAddress =
  | { readonly kind: 'github'; readonly repository: GithubRepository }
  /** The reason repeats nothing of the address, which may hold a secret. */
  | { readonly kind: 'refused'; readonly reason: string }

const HOST = '[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?'
const PATH = '(?<owner>[A-Za-z0-9][A-Za-z0-9_-]{0,99})/(?<repo>[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99})/?'
const USER = '(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}@)?'

/**
 * Matched as text and never handed to a URL parser: two parsers can disagree about where a host
 * ends, and the token is sent to the host.
 */
const FORMS: readonly RegExp[] = [
  new RegExp(`^(?<scheme>https?)://(?<host>${HOST}(?::\\d{1,5})?)/${PATH}$`),
  new RegExp(`^ssh://${USER}(?<host>${HOST})(?::\\d{1,5})?/${PATH}$`),
  new RegExp(`^${USER}(?<host>${HOST}):/?${PATH}$`),
]

const PUBLIC = { webUrl: 'https://github.com', apiUrl: 'https://api.github.com' }

/**
 * Finds the repository that the address of a git remote stands for. Only github.com, and the server
 * of the API that the user has configured: a repository must not choose where a token is sent.
 */
export function findGithubRepository(remoteUrl: string, apiUrl?: string): GithubAddress {
  const server = apiUrl === undefined ? PUBLIC : serverOf(apiUrl)
  if (server === undefined) return refuse('the address of the API is not a plain https address')
  const groups = FORMS.map((form) => form.exec(remoteUrl)?.groups).find(Boolean)
  const repo = groups?.repo?.replace(/\.git$/, '') ?? ''
  if (groups === undefined || ['', '.', '..'].includes(repo)) {
    return refuse('the remote is not the plain https or ssh address of a repository')
  }
  const { scheme, host = '', owner = '' } = groups
  const web = new URL(server.webUrl)
  const isSameHost =
    scheme === undefined
      ? host.toLowerCase().replace(/^ssh\.(?=github\.com$)/, '') === web.hostname
      : `${scheme}://${host.toLowerCase()}` === web.origin
  if (!isSameHost) return refuse(`the remote is not on ${web.host}`)
  const gitUrl = `${web.origin}/${owner}/${repo}.git`
  return {
    kind: 'github',
    repository: { owner, repo, apiUrl: server.apiUrl, gitUrl, host: web.host },
  }
}

const refuse = (reason: string): GithubAddress => ({ kind: 'refused', reason })

/** Where people look, from where programs look: `api.x` belongs to `x`, `x/api/v3` to `x`. */
function serverOf(apiUrl: string): typeof PUBLIC | undefined {
  const form = new RegExp(`^(https?)://(${HOST})(:\\d{1,5})?((?:/[A-Za-z0-9_-]+)*)/?$`)
  const [, scheme, name = '', port = '', path = ''] = form.exec(apiUrl) ?? []
  const host = name.toLowerCase()
  const isLoopback = host === 'localhost' || /^127(\.\d+){3}$/.test(host)
  if (scheme === undefined || (scheme === 'http' && !isLoopback)) return undefined
  const webHost = path === '' ? host.replace(/^api\./, '') : host
  return {
    apiUrl: `${scheme}://${host}${port}${path}`,
    webUrl: `${scheme}://${webHost}${port}`,
  }
}
