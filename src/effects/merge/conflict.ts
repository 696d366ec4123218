/** Where two sides changed the same and nobody but a coder can say what is right. */
export interface Conflict {
  readonly path: string
  /** Git's name for it: `contents`, `modify/delete`, `rename/rename`, `binary` … */
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
