import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openInside } from '../guards/path-guard.ts'
import { redact } from '../guards/redaction.ts'

/** The files in which repositories tell agents what they expect. The first is preferred. */
const NAMES = ['AGENTS.md', 'CLAUDE.md'] as const

const FILE_BYTES_MAX = 262_144
/** The most of one file that a model is shown with every turn. */
const SHOWN_CHARS_MAX = 10_000
const NESTED_MAX = 30
const FOLDERS_MAX = 2_000
const LEVELS_MAX = 8
const PATH_CHARS_MAX = 200

/** Where others keep what they made: hundreds of packages bring such files for their own makers. */
const SKIPPED = new Set(['node_modules', 'vendor', 'dist', 'build', 'target', 'third_party'])

/** Everything but tabs and the ends of lines. */
const CONTROL = /[\p{Cc}\p{Cf}]/gu

/**
 * What a repository asks of those who work on it, for the system part of a prompt; empty when it
 * asks for nothing. Nobody vouches for it: nothing outside the workspace is read, and secrets are
 * taken out. Never rejects.
 */
export async function readRepositoryInstructions(
  workspace: string,
  secrets: readonly string[] = [],
): Promise<string> {
  const found: (Instructions & { readonly name: string })[] = []
  for (const name of NAMES) {
    const { text: raw, isWhole } = await readInside(workspace, name)
    const text = redact(raw, secrets).trim()
    const isSame = found.some((other) => other.text === text || text === `@${other.name}`)
    if (text !== '' && !isSame) found.push({ name, text, isWhole })
  }
  const parts = found.map(({ name, text, isWhole }) => {
    return `${name}:\n${isWhole ? cutMiddle(name, text) : cutEnd(name, text)}`
  })
  const nested = redact(listNested(await findNested(workspace)), secrets)
  return [...parts, nested].filter((part) => part !== '').join('\n\n')
}

interface Instructions {
  readonly text: string
  /** Whether that is all of the file. */
  readonly isWhole: boolean
}

async function readInside(workspace: string, name: string): Promise<Instructions> {
  try {
    const file = await openInside(workspace, name, 'read')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(FILE_BYTES_MAX))
      const { size } = await file.stat()
      const raw = buffer.toString('utf8', 0, bytesRead).replaceAll('\r\n', '\n')
      const text = raw.replace(CONTROL, (character) => kept(character))
      return { text, isWhole: size <= FILE_BYTES_MAX }
    } finally {
      await file.close()
    }
  } catch {
    // There is none, or it is not the repository's.
    return { text: '', isWhole: true }
  }
}

const kept = (character: string) => (character === '\n' || character === '\t' ? character : '')

function cutMiddle(name: string, text: string): string {
  if (text.length <= SHOWN_CHARS_MAX) return text
  const half = SHOWN_CHARS_MAX / 2
  const left = text.length - SHOWN_CHARS_MAX
  const mark = `\n[${left} characters left out here; read ${name} for all of it]\n`
  // A character may be cut in two.
  return `${text.slice(0, half)}${mark}${text.slice(-half)}`.toWellFormed()
}

/** Of a file whose end was not read. */
function cutEnd(name: string, text: string): string {
  const mark = `\n[the rest is left out; read ${name} for all of it]`
  return `${text.slice(0, SHOWN_CHARS_MAX)}${mark}`.toWellFormed()
}

interface Nested {
  readonly paths: readonly string[]
  /** Whether there may be more than were found. */
  readonly isCut: boolean
}

/** Such files below the root, those of nearer folders first. Links are not followed. */
async function findNested(workspace: string): Promise<Nested> {
  const paths: string[] = []
  let level = ['.']
  let looked = 0
  for (let depth = 0; depth < LEVELS_MAX && level.length > 0; depth += 1) {
    const below: string[] = []
    for (const folder of level) {
      looked += 1
      if (looked > FOLDERS_MAX || paths.length > NESTED_MAX) return { paths, isCut: true }
      const { files, folders } = await list(workspace, folder)
      const name = NAMES.find((each) => files.has(each))
      if (name !== undefined && folder !== '.') paths.push(join(folder, name))
      below.push(...folders)
    }
    level = below
  }
  return { paths, isCut: level.length > 0 }
}

async function list(
  workspace: string,
  folder: string,
): Promise<{ readonly files: ReadonlySet<string>; readonly folders: readonly string[] }> {
  const entries = await readdir(join(workspace, folder), { withFileTypes: true }).catch(() => [])
  const folders = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .filter(({ name }) => !SKIPPED.has(name) && name.search(CONTROL) === -1)
    .map(({ name }) => join(folder, name))
    .filter((path) => path.length < PATH_CHARS_MAX)
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  return { files: new Set(files), folders: folders.sort() }
}

function listNested({ paths, isCut }: Nested): string {
  if (paths.length === 0) return ''
  const shown = paths.slice(0, NESTED_MAX).map((path) => `- ${path}`)
  const more = isCut || paths.length > NESTED_MAX ? ['[there may be more]'] : []
  const head = 'Further files like these, each for its own folder. Read one before you work there:'
  return [head, ...shown, ...more].join('\n')
}
