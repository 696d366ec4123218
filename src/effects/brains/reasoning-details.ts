/** One piece of what a model reasoned, as routers tell it: a text, a summary or what is encrypted. */
export type ReasoningDetail = Readonly<Record<string, string | number | boolean | null>>

/** It is sent again with every turn. */
const CHARS_MAX = 1_048_576

/** What is told in pieces; anything else of a detail is told once. */
const IN_PIECES: readonly string[] = ['text', 'summary']

/** Puts the details of what was reasoned in one reply together from the chunks of its stream. */
export class ReasoningDetails {
  readonly #details: ReasoningDetail[] = []
  #chars = 0

  /** All of them; undefined where there are none, or more than can be kept: a part is refused. */
  get whole(): readonly ReasoningDetail[] | undefined {
    const isKept = this.#chars > 0 && this.#chars <= CHARS_MAX
    return isKept ? this.#details : undefined
  }

  /** Takes in what one chunk says, which may be anything. */
  take(said: unknown): void {
    if (!Array.isArray(said)) return
    for (const piece of said.filter(isDetail)) {
      const last = this.#details.at(-1)
      const isMore = last !== undefined && isContinued(last, piece)
      const news = isMore ? newsIn(piece, last) : piece
      this.#chars += JSON.stringify(news).length
      if (this.#chars > CHARS_MAX) return
      if (isMore) this.#details.splice(-1, 1, continued(last, news))
      else this.#details.push(news)
    }
  }
}

/** Nothing in it is deep, since most of what walks a value takes no depth. */
function isDetail(value: unknown): value is ReasoningDetail {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject && Object.values(value).every((one) => one === null || typeof one !== 'object')
}

function isContinued(last: ReasoningDetail, piece: ReasoningDetail): boolean {
  const isSame = last.type === piece.type && last.index === piece.index
  return isSame && (piece.type === 'reasoning.text' || piece.type === 'reasoning.summary')
}

/** Without what every piece repeats. */
function newsIn(piece: ReasoningDetail, last: ReasoningDetail): ReasoningDetail {
  const news = Object.entries(piece).filter(
    ([name, said]) => said !== null && (IN_PIECES.includes(name) || last[name] == null),
  )
  return Object.fromEntries(news)
}

function continued(last: ReasoningDetail, news: ReasoningDetail): ReasoningDetail {
  const whole = { ...last, ...news }
  for (const name of IN_PIECES) {
    if (name in news) whole[name] = `${last[name] ?? ''}${news[name]}`
  }
  return whole
}
