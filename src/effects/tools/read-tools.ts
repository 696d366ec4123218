import { type Dirent, readdirSync } from 'node:fs'
import { z } from 'zod'
import { openInside, PathGuardError } from '../guards/path-guard.ts'
import { shorten } from './output-files.ts'
import { defineTool, refused, said, type ToolAnswer } from './tool.ts'

const FILE_BYTES_MAX = 2 * 1024 * 1024
const LINES_DEFAULT = 1_000
const ENTRIES_MAX = 1_000
const KEPT_CHARS_MAX = 16_000

const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a text file of the workspace, or kept output by its name. Lines are numbered from 1.',
  schema: z.strictObject({
    path: z.string().min(1).max(4_096),
    from: z.int().min(1).optional(),
    lines: z.int().min(1).max(5_000).optional(),
  }),
  isReadOnly: true,
  async run({ path, from = 1, lines = LINES_DEFAULT }, { workspace, outputs }) {
    return explained(async () => {
      const kept = await outputs.read(path)
      const text = kept ?? (await readText(workspace, path))
      const all = text.split('\n')
      if (all.at(-1) === '') all.pop()
      const wanted = all.slice(from - 1, from - 1 + lines)
      // Kept output is read by parts; keeping it again under another name would never end.
      const shown = kept === undefined ? wanted : withinLimit(wanted)
      if (shown.length === 0) return refused(`${path} has ${all.length} lines`)
      const numbered = shown.map((line, i) => `${from + i}\t${line}`).join('\n')
      const last = from - 1 + shown.length
      const rest = last < all.length ? `\n[${all.length - last} more lines, from ${last + 1}]` : ''
      return said(`${kept === undefined ? await shorten(numbered, outputs) : numbered}${rest}`)
    })
  },
})

/** As many whole lines as can be shown; a line that is too long itself is cut, and says so. */
function withinLimit(lines: readonly string[]): readonly string[] {
  const shown: string[] = []
  let chars = 0
  for (const line of lines) {
    const cut = line.length > KEPT_CHARS_MAX ? `${line.slice(0, KEPT_CHARS_MAX)} [cut]` : line
    chars += cut.length
    if (shown.length > 0 && chars > KEPT_CHARS_MAX) break
    shown.push(cut)
  }
  return shown
}

const listFiles = defineTool({
  name: 'list_files',
  description: 'Lists a folder of the workspace. Folders end with a slash.',
  schema: z.strictObject({ path: z.string().max(4_096).default('.') }),
  isReadOnly: true,
  async run({ path }, { workspace }) {
    return explained(async () => {
      const folder = await openInside(workspace, path, 'list')
      try {
        const entries = readdirSync(`/proc/self/fd/${folder.fd}`, { withFileTypes: true })
        const names = entries.map(nameOf).sort()
        const left = names.length - ENTRIES_MAX
        const more = left > 0 ? `\n[${left} more]` : ''
        return said(names.slice(0, ENTRIES_MAX).join('\n') + more || '[empty]')
      } finally {
        await folder.close()
      }
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
