import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { EmulatedRepository, Json } from './emulated-repository.ts'
import { TOKEN } from './emulator.ts'
import { serveGit } from './git-http.ts'
import { remoteGit } from './remote-git.ts'

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Json | Buffer
}

/** What a test can make of a request; `pass` lets it through and gives the real answer. */
type Intervention = (pass: () => Promise<Answer>) => Promise<Answer | 'cut' | 'hang'>

/**
 * One repository of GitHub at one address, as Enterprise servers have it: `/api/v3` is the
 * emulator, `/owner/repo.git` a real repository behind git's own server. The emulator knows pull
 * requests and no git, so that heads and merges are taken from the repository.
 */
export class GithubHost {
  readonly repository: EmulatedRepository
  /** All requests so far, such as `GET /repos/robot/app/pulls/1`. */
  readonly requests: string[] = []
  readonly #server: Server
  readonly #root: string
  #elsewhere = 0
  readonly #interventions: { pattern: RegExp; intervene: Intervention; left: number }[] = []

  constructor(root: string, repository: EmulatedRepository) {
    this.#root = root
    this.repository = repository
    this.#server = createServer((request, response) => {
      void this.#handle(request, response).catch((error) => {
        response.writeHead(500).end(String(error))
      })
    })
  }

  get url(): string {
    const { port } = this.#server.address() as { port: number }
    return `http://127.0.0.1:${port}`
  }

  listen(port = 0): Promise<void> {
    return new Promise((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  /** Steps in for the next requests that match, `times` of them. */
  onNext(pattern: RegExp, intervene: Intervention, times = 1): void {
    this.#interventions.push({ pattern, intervene, left: times })
  }

  /** How many requests matched so far. */
  count(pattern: RegExp): number {
    return this.requests.filter((request) => pattern.test(request)).length
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const { pathname, search } = new URL(request.url ?? '/', this.url)
    const path = pathname.replace(/^\/api\/v3/, '')
    const line = `${request.method} ${path}`
    const isApi = path !== pathname
    this.requests.push(line)
    const pass = () =>
      isApi
        ? this.#answerApi(request, `${path}${search}`, body)
        : this.#answerGit(request, pathname, search.slice(1), body)
    const found = this.#interventions.find(({ pattern, left }) => left > 0 && pattern.test(line))
    if (found !== undefined) found.left -= 1
    const answer = await (found === undefined ? pass() : found.intervene(pass))
    if (answer === 'hang') return
    if (answer === 'cut') {
      request.socket.destroy()
      return
    }
    const isBytes = Buffer.isBuffer(answer.body)
    const type = isBytes ? {} : { 'content-type': 'application/json; charset=utf-8' }
    response.writeHead(answer.status, { ...type, ...answer.headers })
    response.end(isBytes ? answer.body : JSON.stringify(answer.body))
  }

  async #answerApi(request: IncomingMessage, path: string, body: Buffer): Promise<Answer> {
    const given = (request.headers.authorization ?? '').replace(/^(token|bearer) /i, '')
    // It repeats what it was given, so that nobody can rely on a server's discretion.
    if (given !== TOKEN) return { status: 401, body: { message: `Bad credentials: ${given}` } }
    const parsed = body.length === 0 ? undefined : JSON.parse(body.toString())
    return this.repository.answer(request.method ?? 'GET', path, parsed)
  }

  async #answerGit(
    request: IncomingMessage,
    path: string,
    query: string,
    body: Buffer,
  ): Promise<Answer> {
    const credentials = Buffer.from(`x-access-token:${TOKEN}`).toString('base64')
    if (request.headers.authorization !== `Basic ${credentials}`) {
      const headers = { 'www-authenticate': 'Basic realm="GitHub"' }
      return { status: 401, headers, body: Buffer.from('who are you?') }
    }
    const { method = 'GET', headers } = request
    const response = await serveGit(this.#root, { method, path, query, headers, body })
    if (path.endsWith('/git-receive-pack')) await this.repository.takeOver()
    return response
  }

  /** Somebody else's commit on a branch, pushed past everything that this machine knows. */
  async commitFromElsewhere(branch: string): Promise<string> {
    const { folder } = this.repository
    const parent = await remoteGit(folder, 'rev-parse', branch)
    this.#elsewhere += 1
    const message = `from elsewhere, number ${this.#elsewhere}`
    const commit = await remoteGit(
      folder,
      'commit-tree',
      `${parent}^{tree}`,
      '-p',
      parent,
      '-m',
      message,
    )
    await remoteGit(folder, 'update-ref', `refs/heads/${branch}`, commit)
    await this.repository.takeOver()
    return commit
  }
}
