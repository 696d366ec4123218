import type { TurnWatch } from './turn-watch.ts'

/** More than 64,000 tokens come to, at about 500 bytes a token with their frames. */
const REPLY_BYTES_MAX = 33_554_432

// JSON.stringify writes half a surrogate pair as an escape, and providers refuse it with a 400.
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/gi

/**
 * The `fetch` of one turn: the watch sees every byte, a reply has a limit, and a redirect is an
 * answer, since following it would hand the key to another host.
 */
export function openProviderFetch(watch: TurnWatch): typeof fetch {
  return async (input, init) => {
    const body = typeof init?.body === 'string' ? wellFormed(init.body) : init?.body
    const response = await fetch(input, { ...init, body: body ?? null, redirect: 'manual' })
    watch.touch()
    if (response.body === null) return response
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(meter(watch)), { status, statusText, headers })
  }
}

function wellFormed(body: string): string {
  return body.replace(LONE_SURROGATE, '$1\\ufffd')
}

function meter(watch: TurnWatch): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      watch.touch()
      if (bytes > REPLY_BYTES_MAX) {
        const message = `the reply has more than ${REPLY_BYTES_MAX} bytes`
        watch.end({ kind: 'invalid_output', message })
      }
      controller.enqueue(chunk)
    },
  })
}
