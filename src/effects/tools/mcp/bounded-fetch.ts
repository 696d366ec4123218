/** More than any answer should have; a stream of events that lasts is opened again. */
const BODY_BYTES_MAX = 16 * 1024 * 1024

/** Fetches without following redirects, and breaks off an answer that does not end. */
export const boundedFetch: typeof fetch = async (url, init) => {
  const response = await fetch(url, { ...init, redirect: 'error' })
  if (response.body === null) return response
  let bytes = 0
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length
        if (bytes > BODY_BYTES_MAX) controller.error(new Error('it sent an answer without end'))
        else controller.enqueue(chunk)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(bounded, { status, statusText, headers })
}
