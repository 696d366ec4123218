import { readBytes } from './read-tools.ts'
import type { ToolContext } from './tool.ts'

/** A line that was found, and is of a private key for all that can be seen of it. */
const FOUND = /^(.{1,4096}?):(\d{1,9}):[ \t]*[A-Za-z0-9+/=]{24,128}\r?$/
const KEY = /PRIVATE KEY(?: BLOCK)?-----/

/** So much is looked at; whoever has more such lines has no keys, but data. */
const BYTES_MAX = 8 * 1024 * 1024

/**
 * What a search has found, without lines of private keys: by themselves they look like any other, so
 * the files that they are from are looked at.
 */
export async function withoutKeyLines(
  found: string,
  { workspace, outputs }: Pick<ToolContext, 'workspace' | 'outputs'>,
): Promise<string> {
  const shown: string[] = []
  let file: { readonly path: string; readonly lines: readonly string[] } | undefined
  let bytes = 0
  for (const line of found.split('\n')) {
    const [, path, number] = FOUND.exec(line) ?? []
    // What is found in one file comes together.
    if (path !== undefined && file?.path !== path && bytes < BYTES_MAX) {
      const text = (await readBytes(workspace, path).catch(() => '')).toString()
      bytes += text.length
      file = { path, lines: KEY.test(text) ? outputs.cleanByLine(text).split('\n') : [] }
    }
    const clean = file?.path === path ? file?.lines[Number(number) - 1] : undefined
    shown.push(clean === undefined ? line : `${path}:${number}:${clean}`)
  }
  return shown.join('\n')
}
