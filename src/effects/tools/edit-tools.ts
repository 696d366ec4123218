import { z } from 'zod'
import { PathGuardError, replaceInside, writeInside } from '../guards/path-guard.ts'
import { explained, readBytes } from './read-tools.ts'
import { defineTool, refused, said } from './tool.ts'

const TEXT_CHARS_MAX = 500_000
const path = z.string().min(1).max(4_096)

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
  async run({ path, old_text, new_text }, { workspace }) {
    return explained(async () => {
      const before = textOf(await readBytes(workspace, path), path)
      const first = before.indexOf(old_text)
      if (first === -1) return refused(`old_text does not occur in ${path}`)
      const again = before.indexOf(old_text, first + 1)
      if (again !== -1) {
        const times = before.split(old_text).length - 1
        return refused(`old_text occurs ${Math.max(2, times)} times in ${path}; make it longer`)
      }
      if (old_text === new_text) return refused('old_text and new_text are the same')
      const after = before.slice(0, first) + new_text + before.slice(first + old_text.length)
      if (!after.isWellFormed()) return refused('old_text or new_text has half a character')
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
  async run({ path, text }, { workspace }) {
    return explained(async () => {
      if (!text.isWellFormed()) return refused('text has half a character')
      await writeInside(workspace, path, text)
      return said(`${path}: ${text.split('\n').length} lines written`)
    })
  },
})

/** A text that comes out as the same bytes again. */
function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new PathGuardError(`${path} is not UTF-8: change it with the shell, or write it anew`)
  }
}

export const EDIT_TOOLS = [editFile, writeFile]
