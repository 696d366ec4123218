/** Where a text stops being JSON, and what should be there. */
export interface JsonFault {
  readonly offset: number
  readonly message: string
}

/** Far more than a configuration needs, and far less than exhausts the stack. */
const DEPTH_MAX = 64

const SPACES = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y
const WORD = /(?:true|false|null)(?!\w)/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Finds the first thing that keeps a text from being JSON. Repeats nothing of it. */
export function findJsonFault(text: string): JsonFault | undefined {
  try {
    new Scanner(text).scan()
    return undefined
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

class Fault extends Error implements JsonFault {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/** Engines name the place of some mistakes only, and each in its own words. */
class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  scan(): void {
    this.#value(0)
    if (this.#next() !== '') this.#fail('nothing may follow the end')
  }

  #value(depth: number): void {
    if (depth > DEPTH_MAX) this.#fail('it is nested too deeply')
    const next = this.#next()
    if (next === '{') this.#list('}', () => this.#pair(depth))
    else if (next === '[') this.#list(']', () => this.#value(depth + 1))
    else if (next === '"') this.#string()
    else if (!this.#match(NUMBER) && !this.#match(WORD)) this.#fail('a value is expected')
  }

  #list(end: string, readEntry: () => void): void {
    this.#at += 1
    if (this.#next() === end) {
      this.#at += 1
      return
    }
    for (;;) {
      readEntry()
      const next = this.#next()
      if (next !== ',' && next !== end) this.#fail(`a comma or ${end} is expected`)
      const comma = this.#at
      this.#at += 1
      if (next === end) return
      if (this.#next() === end) this.#fail(`a comma before ${end} is one too many`, comma)
    }
  }

  #pair(depth: number): void {
    if (this.#next() !== '"') this.#fail('a key in double quotes is expected')
    this.#string()
    if (this.#next() !== ':') this.#fail('a colon is expected')
    this.#at += 1
    this.#value(depth + 1)
  }

  #string(): void {
    const start = this.#at
    this.#at += 1
    for (;;) {
      const next = this.#text[this.#at] ?? ''
      if (next === '' || next === '\n') this.#fail('the text has no closing double quote', start)
      if (next < ' ') this.#fail('a control character has to be written as \\u and four digits')
      if (next !== '\\') this.#at += 1
      else if (!this.#match(ESCAPE)) this.#fail('a backslash begins nothing known')
      if (next === '"') return
    }
  }

  /** What comes after the white space; empty at the end. */
  #next(): string {
    this.#match(SPACES)
    return this.#text[this.#at] ?? ''
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    if (!pattern.test(this.#text)) return false
    this.#at = pattern.lastIndex
    return true
  }

  #fail(message: string, offset = this.#at): never {
    const isComment = /[#/]/.test(this.#text[offset] ?? '')
    throw new Fault(offset, isComment ? 'JSON has no comments' : message)
  }
}
