import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { redact, redactByLine } from '../guards/redaction.ts'
import { BoundedOutput, gapMark } from '../process/bounded-output.ts'

/** Where long output is kept for the model to read on. */
export interface OutputFiles {
  /** Gives the name to read it under. The same text has the same name. */
  keep(text: string): Promise<string>
  read(name: string): Promise<string | undefined>
  /** A text without secrets: they are taken out before anything is cut or kept. */
  clean(text: string): string
  /** The same with its lines where they were. */
  cleanByLine(text: string): string
}

/** The beginning of the names, which no path in a workspace has. */
const PREFIX = 'output:'
const NAME = /^output:[0-9a-f]{12}$/

export function openOutputFiles(folder: string, secrets: readonly string[] = []): OutputFiles {
  return {
    clean: (text) => redact(text, secrets),
    cleanByLine: (text) => redactByLine(text, secrets),
    async keep(text) {
      const name = `${PREFIX}${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(join(folder, `${name.slice(PREFIX.length)}.txt`), text, { mode: 0o600 })
      return name
    },
    async read(name) {
      if (!NAME.test(name)) return undefined
      const path = join(folder, `${name.slice(PREFIX.length)}.txt`)
      return readFile(path, 'utf8').catch(() => undefined)
    },
  }
}

/** The most of one answer that a model is shown. */
export const SHOWN_CHARS_MAX = 16_000

/** Longer than any secret. */
const SECRET_CHARS_MAX = 8_192

/** The most that is kept of one answer: what a command may print, and words around that. */
const KEPT_BYTES_MAX = 4_100_000

/**
 * A text as it is shown: what is too long is cut in its middle, and kept whole to be read. What is
 * dropped because there is too much even for that, here or by the caller before, is named.
 */
export async function shorten(
  whole: string,
  outputs: OutputFiles,
  droppedBefore = 0,
): Promise<string> {
  const held = hold(whole)
  const before = clearOfCut({ text: outputs.clean(held.text), droppedBytes: droppedBefore })
  const { text, droppedBytes } = clearOfCut({ ...held, text: before.text })
  if (text.length <= SHOWN_CHARS_MAX) return text
  const name = await outputs.keep(text)
  const where = whereToRead(name, before.droppedBytes + droppedBytes)
  return withoutMiddle(text, SHOWN_CHARS_MAX, where)
}

/** A part of a text, and how much of it is shown, the mark of what is left out included. */
export interface Portion {
  readonly text: string
  /** With 0 it is left out; all that are have one mark together, in the place of the first. */
  readonly charsMax: number
}

/** What stands between the parts of a text. */
export const GAP = '\n\n'

/** More than the longest mark for parts that are left out. */
export const LEFT_OUT_CHARS_MAX = 250

/** The same for a text of several parts: each is cut by itself, and all are kept together. */
export async function shortenParts(
  parts: readonly Portion[],
  outputs: OutputFiles,
  droppedBefore = 0,
): Promise<string> {
  const cleaned = parts.map(({ text, charsMax }) => ({ text: outputs.clean(text), charsMax }))
  const whole = cleaned.map(({ text }) => text).join(GAP)
  const isShort = cleaned.every(({ text, charsMax }) => text.length <= charsMax)
  if (isShort && whole.length <= SHOWN_CHARS_MAX) return whole
  const held = hold(whole)
  const name = await outputs.keep(held.text)
  const where = whereToRead(name, droppedBefore + held.droppedBytes)
  const leftOut = cleaned.filter(({ charsMax }) => charsMax === 0)
  const shown = cleaned.flatMap((part) => {
    if (part.charsMax > 0) return withoutMiddle(part.text, part.charsMax, where)
    return part === leftOut[0] ? `[${leftOut.length} outputs left out; ${where}]` : []
  })
  // What stands for a secret may be longer than the secret was.
  return withoutMiddle(shown.join(GAP), SHOWN_CHARS_MAX, where)
}

function withoutMiddle(text: string, charsMax: number, where: string): string {
  if (text.length <= charsMax) return text
  const markOf = (chars: number) => `\n[${chars} characters left out; ${where}]\n`
  const half = Math.max(0, Math.floor((charsMax - markOf(text.length).length) / 2))
  const [head, tail] = [text.slice(0, half), text.slice(text.length - half)]
  // A character may be cut in two.
  return `${head}${markOf(text.length - 2 * half)}${tail}`.toWellFormed()
}

function whereToRead(name: string, droppedBytes: number): string {
  const has =
    droppedBytes === 0
      ? 'everything'
      : `all but ${droppedBytes} bytes that are kept nowhere, and says "[… bytes left out]" in their place`
  return `read_file with path "${name}" has ${has}`
}

/** As much of a text as is kept, with a mark where the rest was. */
interface Held {
  readonly text: string
  readonly droppedBytes: number
}

function hold(text: string): Held {
  if (Buffer.byteLength(text) <= KEPT_BYTES_MAX) return { text, droppedBytes: 0 }
  const output = new BoundedOutput(KEPT_BYTES_MAX)
  output.add(Buffer.from(text))
  const { bytes, droppedBytes } = output.take()
  return { text: bytes.toString(), droppedBytes }
}

/**
 * Without what stands beside the cut: half of a secret is not known for one. To look through all of
 * the text before it is cut could take seconds, in which nobody else does anything.
 */
function clearOfCut({ text, droppedBytes }: Held): Held {
  if (droppedBytes === 0 || !text.includes(gapMark(droppedBytes))) return { text, droppedBytes }
  const [head = '', ...rest] = text.split(gapMark(droppedBytes))
  const tail = rest.join(gapMark(droppedBytes))
  const kept = [head.slice(0, -SECRET_CHARS_MAX), tail.slice(SECRET_CHARS_MAX)]
  const bytesOf = (texts: readonly string[]) => Buffer.byteLength(texts.join(''))
  const dropped = droppedBytes + bytesOf([head, tail]) - bytesOf(kept)
  return { text: kept.join(gapMark(dropped)).toWellFormed(), droppedBytes: dropped }
}
