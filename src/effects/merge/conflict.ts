import { isUtf8 } from 'node:buffer'
import type { BytePath } from '../workspace/byte-path.ts'

/** Where two sides changed the same and nobody but a coder can say what is right. */
export interface Conflict {
  /** A name that is no text is written as git writes it, with each byte as a number. */
  readonly path: string
  /**
   * Git's name for it: `contents`, `modify/delete`, `rename/rename`, `binary` …; `likeness`, where a
   * change went into another file that is only alike; `unsettled`, where a coder left it as it was.
   */
  readonly kind: string
  readonly message: string
  /** What became of the file on each side; both are false where its names differ. */
  readonly onTarget: boolean
  readonly inStory: boolean
  /** Empty where there is no text to put side by side. */
  readonly hunks: readonly Hunk[]
  /** How many more hunks there are than fit. */
  readonly hunksLeftOut: number
}

/** Conflicts beyond those that are described. Their files have both sides, marked. */
export interface FurtherConflicts {
  /** As many as fit. */
  readonly paths: readonly string[]
  /** How many there are, those included whose names do not fit. */
  readonly count: number
  /** How many places of these files conflict. */
  readonly hunks: number
}

/**
 * One place of a file, as each side has it. Bytes that are no text are written as \xNN, and a last
 * line without its end is followed by a line that says so.
 */
export interface Hunk {
  /** The line of the merged file at which it begins. */
  readonly line: number
  readonly target: string
  readonly base: string
  readonly story: string
  /** Only the beginning of each side fits. */
  readonly cut?: true
}

/** A path as people read it: two that differ are told apart, also where they are no text. */
export function nameOf(path: BytePath): string {
  const bytes = Buffer.from(path, 'latin1')
  const text = bytes.toString()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a name with one could look like two.
  if (Buffer.from(text).equals(bytes) && !/^"|[\x00-\x1f\x7f]/.test(text)) return text
  const quoted = path.replace(/[^ -~]|["\\]/g, (char) => {
    const code = char.charCodeAt(0)
    return char === '"' || char === '\\' ? `\\${char}` : `\\${code.toString(8).padStart(3, '0')}`
  })
  return `"${quoted}"`
}

/** A hunk with no more than the beginning of each side. */
export function openingOf({ line, target, base, story }: Hunk, charsMax: number): Hunk {
  // Half of a character that takes two places would be none.
  const opening = (text: string) => text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '')
  const sides = { target: opening(target), base: opening(base), story: opening(story) }
  return { line, ...sides, cut: true }
}

/** For each side of a hunk. */
type Sides<T> = Record<'target' | 'base' | 'story', T>

/**
 * Reads the hunks out of a file that was merged with markers of that length, base included, each
 * character for one byte. `isOpen` says of each side whether its file ends without a line end, which
 * git adds before a marker.
 */
export function readHunks(
  merged: string,
  markerChars: number,
  isOpen: Sides<boolean>,
): readonly Hunk[] {
  const marker = (char: string) => char.repeat(markerChars)
  const hunks: Hunk[] = []
  let sides = emptySides()
  let side: keyof typeof sides | undefined
  let startLine = 0
  const lines = merged.split('\n')
  for (const [i, line] of lines.entries()) {
    if (line.startsWith(marker('<'))) {
      sides = emptySides()
      side = 'target'
      startLine = i + 1
    } else if (line.startsWith(marker('|'))) side = 'base'
    else if (line.startsWith(marker('='))) side = 'story'
    else if (line.startsWith(marker('>'))) {
      // Only after the last line, which ends with its marker, there is nothing more.
      const isLast = i + 2 >= lines.length
      hunks.push({ line: startLine, ...showSides(sides, isLast ? isOpen : NONE_OPEN) })
      side = undefined
    } else if (side !== undefined) sides[side].push(line)
  }
  return hunks
}

const NONE_OPEN: Sides<boolean> = { target: false, base: false, story: false }
const NO_LINE_END = '\\ No newline at end of file\n'

function emptySides(): Sides<string[]> {
  return { target: [], base: [], story: [] }
}

/** The sides of a hunk as people read them: two that differ also look so. */
function showSides(sides: Sides<readonly string[]>, isOpen: Sides<boolean>): Sides<string> {
  const bytes = (side: keyof typeof sides) => sides[side].map((line) => `${line}\n`).join('')
  const withoutReturns = (text: string) => text.replaceAll('\r', '')
  const [target, story] = [bytes('target'), bytes('story')]
  const differByReturns = target !== story && withoutReturns(target) === withoutReturns(story)
  const show = (side: keyof typeof sides) => {
    const text = readableText(bytes(side))
    const end = isOpen[side] && sides[side].length > 0 ? NO_LINE_END : ''
    return (differByReturns ? text.replaceAll('\r', '\\r') : text) + end
  }
  return { target: show('target'), base: show('base'), story: show('story') }
}

const BEYOND_ASCII =
  /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g

/** Text out of bytes; each that is none is written as a number. */
function readableText(bytes: string): string {
  return bytes.replace(BEYOND_ASCII, (found) => {
    const char = Buffer.from(found, 'latin1')
    if (isUtf8(char)) return char.toString()
    return [...char].map((byte) => `\\x${byte.toString(16)}`).join('')
  })
}
