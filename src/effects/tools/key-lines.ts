import { REDACTED } from '../guards/redaction.ts'
import { readBytes } from './read-tools.ts'
import type { ToolContext } from './tool.ts'

/** A line that was found, and is of a private key for all that can be seen of it, be it in quotes. */
const FOUND =
  /^(.{1,4096}?):(\d{1,9}):[^A-Za-z0-9+/=]{0,40}[A-Za-z0-9+/=]{24,300}(?:\\[nr])*(?:[^A-Za-z0-9+/=]|(?<= )\+){0,40}$/
/** Its edges, also in base64. */
const KEY = /PRIVATE KEY(?: BLOCK)?-----|LS0tLS1CRUdJTi/

/** So much is looked at; beyond it, and where nothing can be, no line is shown that could be one. */
export const LOOKED_AT_BYTES_MAX = 8 * 1024 * 1024

/**
 * What a search has found, without lines of private keys: by themselves they look like any other, so
 * the files that they are from are looked at.
 */
export async function withoutKeyLines(
  found: string,
  { workspace, outputs }: Pick<ToolContext, 'workspace' | 'outputs'>,
): Promise<string> {
  const shown: string[] = []
  let file: { readonly path: string; cleanLine(number: number): string | undefined } | undefined
  let bytes = 0
  const look = async (path: string) => {
    const content = await readBytes(workspace, path).catch(() => undefined)
    bytes += content?.length ?? 0
    const text = content?.toString()
    if (text === undefined) return { path, cleanLine: () => REDACTED }
    const lines = KEY.test(text) ? outputs.cleanByLine(text).split('\n') : []
    return { path, cleanLine: (number: number) => lines[number - 1] }
  }
  for (const line of found.split('\n')) {
    const [, path, number] = FOUND.exec(line) ?? []
    // What is found in one file comes together.
    if (path === undefined) {
      shown.push(line)
      continue
    }
    if (file?.path !== path && bytes < LOOKED_AT_BYTES_MAX) file = await look(path)
    const clean = file?.path === path ? file.cleanLine(Number(number)) : REDACTED
    shown.push(clean === undefined ? line : `${path}:${number}:${clean}`)
  }
  return shown.join('\n')
}
