import { z } from 'zod'
import { PathGuardError, replaceInside, writeInside } from '../guards/path-guard.ts'
import { countRedacted, REDACTED } from '../guards/redaction.ts'
import { writesMark } from '../guards/redaction-mark.ts'
import { explained, readBytes } from './read-tools.ts'
import { defineTool, refused, said } from './tool.ts'

const TEXT_CHARS_MAX = 500_000
const path = z.string().min(1).max(4_096)

/** For a model that takes the mark of what was taken out for what a file says. */
const NOT_SHOWN = `${REDACTED} stands for something that you are not shown. Leave that as it is, and change the file around it with edit_file; where the word itself is meant, put it together from two parts.`

const LONE_LINE_FEEDS = /(?<!\r)\n/g

const editFile = defineTool({
  name: 'edit_file',
  description:
    'Replaces one exact piece of a text file. The piece must occur once: give enough of what is around it.',
  schema: z.strictObject({
    path,
    old_text: z.string().min(1).max(TEXT_CHARS_MAX),
    new_text: z.string().max(TEXT_CHARS_MAX),
  }),
  isReadOnly: false,
  async run({ path, ...edit }, { workspace, outputs }) {
    return explained(async () => {
      const before = textOf(await readBytes(workspace, path), path)
      const old_text = inLinesOf(before, edit.old_text)
      const new_text = inLinesOf(before, edit.new_text)
      const first = before.indexOf(old_text)
      if (first === -1) {
        return refused(`old_text does not occur in ${path}${adviceFor(old_text, before)}`)
      }
      const again = before.indexOf(old_text, first + 1)
      if (again !== -1) {
        const times = before.split(old_text).length - 1
        return refused(`old_text occurs ${Math.max(2, times)} times in ${path}; make it longer`)
      }
      if (old_text === new_text) return refused('old_text and new_text are the same')
      const after = before.slice(0, first) + new_text + before.slice(first + old_text.length)
      if (!after.isWellFormed()) return refused('old_text or new_text has half a character')
      if (writesMark(before, after, outputs.clean)) return refused(NOT_SHOWN)
      await replaceInside(workspace, path, after)
      return said(`${path}: line ${before.slice(0, first).split('\n').length} changed`)
    })
  },
})

const writeFile = defineTool({
  name: 'write_file',
  description:
    'Writes a whole file, new or in the place of an old one. Folders are made as needed.',
  schema: z.strictObject({ path, text: z.string().max(TEXT_CHARS_MAX) }),
  isReadOnly: false,
  async run({ path, text }, { workspace, outputs }) {
    return explained(async () => {
      if (!text.isWellFormed()) return refused('text has half a character')
      const before = countRedacted(text) === 0 ? '' : await readBefore(workspace, path)
      if (writesMark(before, text, outputs.clean)) return refused(NOT_SHOWN)
      await writeInside(workspace, path, text)
      return said(`${path}: ${text.split('\n').length} lines written`)
    })
  },
})

/** A text with the line endings of a file, where all its lines end as those of Windows do. */
function inLinesOf(file: string, text: string): string {
  const isWindows = file.includes('\r\n') && file.search(LONE_LINE_FEEDS) === -1
  return isWindows ? text.replace(LONE_LINE_FEEDS, '\r\n') : text
}

/** Why a text may not have been found; empty where nothing is known. */
function adviceFor(text: string, file: string): string {
  if (countRedacted(text) > 0) return `: ${NOT_SHOWN}`
  const isMixed = text.includes('\n') && file.includes('\r\n')
  return isMixed ? ', some of whose lines end with \\r\\n' : ''
}

/** What a file says now; nothing where there is none, or one that is no text. */
async function readBefore(workspace: string, path: string): Promise<string> {
  const before = await readBytes(workspace, path).catch(() => '')
  return before.toString()
}

/** A text that comes out as the same bytes again. */
function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new PathGuardError(`${path} is not UTF-8: change it with the shell, or write it anew`)
  }
}

export const EDIT_TOOLS = [editFile, writeFile]
