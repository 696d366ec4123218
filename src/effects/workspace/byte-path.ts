/**
 * A path below a folder, as the disk has it: each character stands for one byte, since names need
 * not be text.
 */
export type BytePath = string

/** What the functions of the file system take for such a path. */
export function bytesOf(folder: string, path: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')])
}

/** A path that is text, as the disk has it. */
export function bytePathOf(path: string): BytePath {
  return Buffer.from(path).toString('latin1')
}

/** A path as people read it; what is no text in it is shown as such. */
export function readable(path: BytePath): string {
  return Buffer.from(path, 'latin1').toString()
}
