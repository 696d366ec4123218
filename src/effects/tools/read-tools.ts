import type { Dirent } from 'node:fs'
import { z } from 'zod'
import { listInside, openInside, PathGuardError } from '../guards/path-guard.ts'
import { SHOWN_CHARS_MAX, shorten } from './output-files.ts'
import { defineTool, refused, said, type ToolAnswer } from './tool.ts'

export const FILE_BYTES_MAX = 2 * 1024 * 1024
const LINES_DEFAULT = 1_000

const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a text file of the workspace, or kept output by its name. Lines are numbered from 1.',
  schema: z.strictObject({
    path: z.string().min(1).max(4_096),
    from: z.int().min(1).optional(),
    column: z.int().min(1).optional(),
    lines: z.int().min(1).max(5_000).optional(),
  }),
  isReadOnly: true,
  async run({ path, from = 1, column = 1, lines = LINES_DEFAULT }, { workspace, outputs }) {
    return explained(async () => {
      const kept = await outputs.read(path)
      // Secrets are taken out of the whole: of a part of one, nobody would know what it is.
      const text = kept ?? outputs.cleanByLine(await readText(workspace, path))
      const all = text.split('\n')
      if (all.at(-1) === '') all.pop()
      const wanted = all.slice(from - 1, from - 1 + lines)
      const [first] = wanted
      if (first === undefined) return refused(`${path} has ${all.length} lines`)
      if (column > 1 && column > first.length) {
        return refused(`line ${from} has ${first.length} characters`)
      }
      const numbered = wanted.map((line, i) => `${from + i}\t${line}`).join('\n')
      // Kept output is read by parts; keeping it again under another name would never end.
      if (kept !== undefined) return said(partOf(numbered, from, column, all.length))
      const last = from - 1 + wanted.length
      const shown = await shorten(beginAt(numbered, column), outputs)
      return said(`${shown}${moreLines(last, all.length)}`)
    })
  },
})

/** As many whole lines as can be shown, or the beginning of one that is too long itself. */
function partOf(numbered: string, from: number, column: number, linesAll: number): string {
  const text = beginAt(numbered, column)
  const end = text.length <= SHOWN_CHARS_MAX ? text.length : text.lastIndexOf('\n', SHOWN_CHARS_MAX)
  if (end !== -1) {
    const shown = text.slice(0, end)
    return `${shown}${moreLines(from - 1 + shown.split('\n').length, linesAll)}`
  }
  // Half a surrogate pair is no character.
  const cut = /[\ud800-\udbff]/.test(text.charAt(SHOWN_CHARS_MAX - 1)) ? 1 : 0
  const shown = text.slice(0, SHOWN_CHARS_MAX - cut)
  const next = column + shown.length - numberOf(text).length
  return `${shown}\n[line ${from} goes on: read_file with from ${from}, column ${next}]`
}

/** Numbered lines without what stands before a column of the first, which may be within a pair. */
function beginAt(numbered: string, column: number): string {
  const number = numberOf(numbered)
  const lineEnd = `${numbered}\n`.indexOf('\n')
  return (number + numbered.slice(Math.min(number.length + column - 1, lineEnd))).toWellFormed()
}

function numberOf(numbered: string): string {
  return numbered.slice(0, numbered.indexOf('\t') + 1)
}

function moreLines(last: number, linesAll: number): string {
  return last < linesAll ? `\n[${linesAll - last} more lines, from ${last + 1}]` : ''
}

const listFiles = defineTool({
  name: 'list_files',
  description: 'Lists a folder of the workspace. Folders end with a slash.',
  schema: z.strictObject({ path: z.string().max(4_096).default('.') }),
  isReadOnly: true,
  async run({ path }, { workspace, outputs }) {
    return explained(async () => {
      const names = (await listInside(workspace, path)).map(nameOf).sort()
      return said((await shorten(names.join('\n'), outputs)) || '[empty]')
    })
  },
})

function nameOf(entry: Dirent): string {
  if (entry.isDirectory()) return `${entry.name}/`
  return entry.isSymbolicLink() ? `${entry.name}@` : entry.name
}

/** What a file of the workspace holds; rejects when it is no text. What is not UTF-8 is replaced. */
async function readText(workspace: string, path: string): Promise<string> {
  return (await readBytes(workspace, path)).toString()
}

/** The bytes of a text file of the workspace, in whatever encoding. */
export async function readBytes(workspace: string, path: string): Promise<Buffer> {
  const file = await openInside(workspace, path, 'read')
  try {
    const { size } = await file.stat()
    if (size > FILE_BYTES_MAX) throw new PathGuardError(`${path} has ${size} bytes: too long`)
    const bytes = await file.readFile()
    if (bytes.includes(0)) throw new PathGuardError(`${path} is no text`)
    return bytes
  } finally {
    await file.close()
  }
}

/** What the file system refuses is an answer that the model can do something about. */
export async function explained(work: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const words: Readonly<Record<string, string>> = {
      ENOENT: 'there is no such file',
      ENOTDIR: 'a part of the path is no folder',
      EISDIR: 'that is a folder',
      EACCES: 'that may not be opened',
      ENAMETOOLONG: 'a name in the path is too long',
      ENOSPC: 'the disk is full, and nothing was changed',
    }
    return refused((code && words[code]) ?? message)
  }
}

export const READ_TOOLS = [readFile, listFiles]
