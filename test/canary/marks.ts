import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Makes the programs that a vector would have somebody run; each leaves a mark when it runs. */
export interface Marks {
  /** A program that marks that this vector ran, planted at this place. Its path has no spaces. */
  program(vector: string, place: string): string
  /** A file that is a mark as soon as anybody writes it. */
  file(vector: string, place: string): string
  /** What ran, as `vector@place`. */
  read(): readonly string[]
  clear(): void
}

export function openMarks(folder: string): Marks {
  const programs = join(folder, 'programs')
  const marks = join(folder, 'marks')
  mkdirSync(programs, { recursive: true })
  mkdirSync(marks)
  const markOf = (vector: string, place: string) => join(marks, `${vector}@${place}`)
  return {
    program(vector, place) {
      const program = join(programs, `${vector}@${place}`)
      if (!existsSync(program)) {
        writeFileSync(program, `#!/bin/sh\n: > '${markOf(vector, place)}'\n`)
        chmodSync(program, 0o755)
      }
      return program
    },
    file: markOf,
    read: () => readdirSync(marks).sort(),
    clear() {
      rmSync(marks, { recursive: true })
      mkdirSync(marks)
    },
  }
}
