import { spawn } from 'node:child_process'
import type { IncomingHttpHeaders } from 'node:http'

/** A request to a git server. */
export interface GitRequest {
  readonly method: string
  /** Begins with the path of a repository below the root. */
  readonly path: string
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface GitResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Answers with git's own server, for the repositories below a folder. */
export async function serveGit(root: string, request: GitRequest): Promise<GitResponse> {
  const { headers } = request
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    // A push is let in because somebody is logged in.
    REMOTE_USER: 'somebody',
    REMOTE_ADDR: '127.0.0.1',
    REQUEST_METHOD: request.method,
    PATH_INFO: request.path,
    QUERY_STRING: request.query,
    CONTENT_TYPE: headers['content-type'] ?? '',
    CONTENT_LENGTH: String(request.body.length),
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
  }
  return readResponse(await run(env, request.body))
}

function run(env: NodeJS.ProcessEnv, stdin: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.once('error', reject)
    child.once('close', () => resolve(Buffer.concat(chunks)))
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
  })
}

/** CGI: header lines, an empty line, the body; the status is a header and 200 by default. */
function readResponse(output: Buffer): GitResponse {
  const end = output.indexOf('\r\n\r\n')
  const lines = output.subarray(0, end).toString().split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const { status = '200', ...others } = headers
  return { status: Number.parseInt(status, 10), headers: others, body: output.subarray(end + 4) }
}
