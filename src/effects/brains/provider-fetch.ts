import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { Socket } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { ApiProvider } from './api-model.ts'
import { PlainError, PlainErrorReader } from './plain-error.ts'
import { StreamMender } from './stream-mender.ts'
import type { TurnWatch } from './turn-watch.ts'

/** More than 64,000 tokens come to, at about 500 bytes a token with their frames. */
const REPLY_BYTES_MAX = 33_554_432

const BUFFERED_BYTES_MAX = 65_536
const CONNECTING_MS_MAX = 10_000

/** How long the end of a reply is waited for after its last word, to keep the connection. */
const END_MS_MAX = 1_000

type BodyController = ReadableStreamDefaultController<Uint8Array>

/** What a reply comes as; a page of somebody in between is none. */
const STREAM = /event-stream|ndjson/

/** Those to which no body belongs. */
const BODILESS: readonly (number | undefined)[] = [204, 205, 304]

// JSON.stringify writes half a surrogate pair as an escape, and providers refuse it with a 400.
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/gi

/**
 * The `fetch` of one turn: the watch sees every byte, a reply has a limit and is mended where its
 * provider sends events, and a redirect is an answer, since following it would hand the key to
 * another host. Over Node's own client, which sends a request in a third of the time that the global
 * `fetch` takes, and whose connection outlives a turn that was read to its last word but not to the
 * end of its stream.
 */
export function openProviderFetch(watch: TurnWatch, provider: ApiProvider): typeof fetch {
  return async (input, init) => {
    const response = await send(String(input), init ?? {}, watch)
    const { statusCode: status = 0, statusMessage: statusText = '' } = response
    if (status !== 200) watch.decline()
    if (status < 200 || status > 599) throw noStatus(response, status)
    const isMended = status === 200 && provider !== 'ollama'
    const mender = isMended ? new StreamMender(provider) : undefined
    const body = BODILESS.includes(status) ? null : bodyOf(response, watch, mender)
    if (body === null) response.resume()
    return new Response(body, { status, statusText, headers: headersOf(response) })
  }
}

/** What is no status of HTTP was not said by the provider, whoever is in between. */
function noStatus(response: IncomingMessage, status: number): Error {
  response.resume()
  return Object.assign(new Error(`the status ${status} is none of HTTP`), { code: 'EPROTO' })
}

/** Resolves as an answer begins. Rejects in the words of `fetch`, which the libraries know. */
function send(address: string, init: RequestInit, watch: TurnWatch): Promise<IncomingMessage> {
  const { signal } = watch
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw signal.reason
    const url = new URL(address)
    if (url.username !== '' || url.password !== '') throw new TypeError('a URL with a password')
    const headers = { accept: '*/*', 'accept-encoding': 'identity', ...plain(init.headers) }
    const open = url.protocol === 'http:' ? requestPlain : requestSecure
    const request = open(url, { method: init.method ?? 'GET', headers })
    signal.addEventListener('abort', () => {
      leave(request, watch)
      reject(signal.reason)
    })
    request.on('socket', (socket) => boundConnecting(request, socket))
    request.on('error', (cause) => reject(new TypeError('fetch failed', { cause })))
    request.on('finish', () => watch.send())
    request.on('response', resolve)
    request.end(typeof init.body === 'string' ? wellFormed(init.body) : undefined)
  })
}

/** A whole reply is followed by the end of its stream, and then its connection is free again. */
function leave(request: ClientRequest, { isAnswered }: TurnWatch): void {
  if (!isAnswered) {
    request.destroy()
    return
  }
  const timer = setTimeout(() => request.destroy(), END_MS_MAX).unref()
  request.once('close', () => clearTimeout(timer))
}

function boundConnecting(request: ClientRequest, socket: Socket): void {
  if (!socket.connecting) return
  const error = Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' })
  const timer = setTimeout(() => request.destroy(error), CONNECTING_MS_MAX)
  for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer))
}

function plain(headers: RequestInit['headers']): Record<string, string> {
  return Object.fromEntries(new Headers(headers))
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    headers.append(rawHeaders[i] as string, rawHeaders[i + 1] as string)
  }
  return headers
}

function wellFormed(body: string): string {
  return body.replace(LONE_SURROGATE, '$1\\ufffd')
}

function bodyOf(
  response: IncomingMessage,
  watch: TurnWatch,
  mender: StreamMender | undefined,
): ReadableStream<Uint8Array> {
  const content = decoded(response)
  const isSuccess = response.statusCode === 200
  const isStream = isSuccess && STREAM.test(String(response.headers['content-type']))
  const reader = new PlainErrorReader()
  let bytes = 0
  let isRead = true
  const close = (controller: BodyController) => {
    const said = reader.end()
    if (said === undefined) {
      hand(controller, mender?.end())
      return controller.close()
    }
    watch.decline()
    controller.error(new PlainError(said, headersOf(response)))
  }
  const start = (controller: BodyController) => {
    content.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength
      watch.touch()
      if (isStream) watch.answer()
      if (bytes > REPLY_BYTES_MAX) {
        const message = `the reply has more than ${REPLY_BYTES_MAX} bytes`
        watch.end({ kind: 'invalid_output', message })
      }
      if (!isRead) return
      if (isSuccess) reader.take(chunk)
      hand(controller, mender === undefined ? chunk : mender.take(chunk))
      if (mender?.isDone) return watch.onWhole()
      if ((controller.desiredSize ?? 0) <= 0) content.pause()
    })
    const end = () => {
      // The library passes an end on through its streams, which takes time and tells nobody anything.
      if (isRead && !watch.isAnswered) close(controller)
      isRead = false
    }
    // Some connections stay open, or break, after all has been said.
    watch.onWhole = () => {
      end()
      content.resume()
    }
    content.on('end', end)
    content.on('error', (cause) => {
      if (isRead) controller.error(new TypeError('terminated', { cause }))
    })
  }
  const leaveUnread = () => {
    isRead = false
    content.resume()
  }
  watch.signal.addEventListener('abort', leaveUnread)
  return new ReadableStream(
    { start, pull: () => void content.resume(), cancel: leaveUnread },
    { highWaterMark: BUFFERED_BYTES_MAX, size: (chunk) => chunk.byteLength },
  )
}

/** An empty chunk would wake the library for nothing. */
function hand(controller: BodyController, bytes: Uint8Array = new Uint8Array()): void {
  if (bytes.byteLength > 0) controller.enqueue(bytes)
}

/** Compressed although we asked for none: what stands between us and a provider may do that. */
function decoded(response: IncomingMessage): Readable {
  switch (response.headers['content-encoding']) {
    case 'gzip':
    case 'x-gzip':
      return pipeline(response, createGunzip(), () => {})
    case 'deflate':
      return pipeline(response, createInflate(), () => {})
    case 'br':
      return pipeline(response, createBrotliDecompress(), () => {})
    default:
      return response
  }
}
