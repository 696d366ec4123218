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

/** One place of a file, as each side has it. */
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

/** Reads the hunks out of a file that was merged with markers of that length, base included. */
export function readHunks(merged: string, markerChars: number): readonly Hunk[] {
  const marker = (char: string) => char.repeat(markerChars)
  const hunks: Hunk[] = []
  const sides: { target: string[]; base: string[]; story: string[] } = emptySides()
  let side: keyof typeof sides | undefined
  let startLine = 0
  for (const [i, line] of merged.split('\n').entries()) {
    if (line.startsWith(marker('<'))) {
      Object.assign(sides, emptySides())
      side = 'target'
      startLine = i + 1
    } else if (line.startsWith(marker('|'))) side = 'base'
    else if (line.startsWith(marker('='))) side = 'story'
    else if (line.startsWith(marker('>'))) {
      const text = (lines: readonly string[]) => lines.map((one) => `${one}\n`).join('')
      const { target, base, story } = sides
      hunks.push({ line: startLine, target: text(target), base: text(base), story: text(story) })
      side = undefined
    } else if (side !== undefined) sides[side].push(line)
  }
  return hunks
}

function emptySides() {
  return { target: [] as string[], base: [] as string[], story: [] as string[] }
}
