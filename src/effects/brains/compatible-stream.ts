/** An event that says nothing, and would be no chunk of a reply. */
const EMPTY_EVENT = /^data:\s*null\s*$/

/** Inside a text of JSON its quotes would be escaped. */
const NO_ERROR = /(?<!\\)"error"\s*:\s*(?:null|false|"")(?=\s*[,}])/g

/**
 * The `fetch` for a server that only speaks like OpenAI. Some say in every chunk that there was no
 * error, and some send chunks of nothing: the library takes both for failures.
 */
export function mendStreams(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const { status, statusText, headers, body } = response
    if (body === null || status !== 200) return response
    return new Response(body.pipeThrough(mendLines()), { status, statusText, headers })
  }
}

function mendLines(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  /** Of a line that is not whole yet; joined once, since it may be long and come in little pieces. */
  let pieces: string[] = []
  const take = (text: string, controller: TransformStreamDefaultController<Uint8Array>) => {
    const lines = [...pieces, text].join('').split('\n')
    pieces = []
    controller.enqueue(encoder.encode(lines.map(mendLine).join('\n')))
  }
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true })
      const end = text.lastIndexOf('\n') + 1
      if (end > 0) take(text.slice(0, end), controller)
      pieces.push(text.slice(end))
    },
    flush: (controller) => take(decoder.decode(), controller),
  })
}

function mendLine(line: string): string {
  return EMPTY_EVENT.test(line) ? '' : line.replace(NO_ERROR, '"no_error":null')
}
