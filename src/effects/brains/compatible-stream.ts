/** Inside a text of JSON its quotes would be escaped. */
const NO_ERROR = /(?<!\\)"error"\s*:\s*(?:null|false|"")(?=\s*[,}])/g
const REASON = /(?<!\\)"finish_reason"\s*:\s*"([^"]*)"/g

/** The last word of a stream by OpenAI's older protocol, which gateways say after any other too. */
export const DONE = /^data:[ \t]*\[DONE\]/m
const STOPPED = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'

/**
 * Mends one reply of a server that only speaks like OpenAI. Some say in every chunk that there was
 * no error, and some that there is no reason for an end yet: the library takes an empty text for an
 * error, or for an end.
 */
export class CompatibleReply {
  #hasEmptyReason = false
  #hasReason = false

  /** The same lines, as the library understands them; they have to be whole. */
  mend(lines: string): string {
    const mended = lines.replace(NO_ERROR, '"no_error":null').replace(REASON, (said, reason) => {
      if (reason === '') this.#hasEmptyReason = true
      else this.#hasReason = true
      return reason === '' ? '"finish_reason":null' : said
    })
    // Some give no other reason, and this word of theirs alone tells an end from a break.
    const isUntold = this.#hasEmptyReason && !this.#hasReason
    return isUntold ? mended.replace(DONE, (done) => `${STOPPED}${done}`) : mended
  }
}
