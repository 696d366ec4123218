/** More than any error has. What is longer is a reply. */
const BYTES_MAX = 65_536

/** An error that came with a 200, in the shape in which the others come. It has no status. */
export class PlainError {
  readonly responseBody: string
  readonly responseHeaders: Readonly<Record<string, string>>

  constructor(body: string, headers: Headers) {
    this.responseBody = body
    this.responseHeaders = Object.fromEntries(headers)
  }
}

/** The error that a server told, where the libraries say no more than that a success was none. */
export function unwrapPlainError(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof PlainError ? error.cause : error
}

/**
 * Reads along in the body of a success whether all of it is an error: some gateways answer so, and
 * the libraries look for nothing but the events of a stream.
 */
export class PlainErrorReader {
  #chunks: Buffer[] = []
  #bytes = 0

  take(chunk: Buffer): void {
    this.#bytes += chunk.byteLength
    if (this.#bytes <= BYTES_MAX) this.#chunks.push(chunk)
    else this.#chunks = []
  }

  /** What was said, once the body is at its end; undefined where that is no error. */
  end(): string | undefined {
    const body = Buffer.concat(this.#chunks).toString().trim()
    return isError(body) ? body : undefined
  }
}

function isError(body: string): boolean {
  if (!/^[{[]/.test(body)) return false
  try {
    const parsed = JSON.parse(body)
    const { error } = Array.isArray(parsed) ? parsed[0] : parsed
    return Boolean(error)
  } catch {
    return false
  }
}
