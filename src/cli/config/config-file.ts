import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml'
import { redact } from '../../effects/guards/redaction.ts'
import { UsageError } from '../usage-error.ts'
import { findJsonFault } from './json-fault.ts'
import { explainIssues, type Problem } from './problems.ts'
import { CONFIG_FILE, type ConfigFile } from './settings/schema.ts'
import { checkValues } from './value-checks.ts'

const ENDINGS = ['json', 'yaml', 'yml']
const FILE_BYTES_MAX = 256 * 1024
/** Far more than any section needs, and far less than exhausts the parser. */
const DEPTH_MAX = 32
const PROBLEMS_MAX = 20

/** A configuration file that was read. */
export interface ReadFile {
  readonly path: string
  /** What people call it. */
  readonly name: string
  /** Of the very bytes that were read. */
  readonly hash: string
  readonly content: ConfigFile
}

/** Whose file it is: a repository's is not followed to elsewhere. */
export type FileOwner = 'user' | 'repository'

/** The one file `stem.json`, `.yaml` or `.yml` of a folder, if any. Two are a usage error. */
export async function findConfigFile(folder: string, stem: string): Promise<string | undefined> {
  const names = ENDINGS.map((ending) => `${stem}.${ending}`)
  const stats = await Promise.all(
    names.map((name) => lstat(join(folder, name)).catch(() => undefined)),
  )
  const found = names.filter((_, i) => stats[i] !== undefined)
  if (found.length > 1) {
    throw new UsageError(`${folder} has ${found.join(' and ')}. Keep one of them.`)
  }
  return found[0] === undefined ? undefined : join(folder, found[0])
}

/** Reads and checks a file. Throws a usage error that names every problem with its place. */
export async function readConfigFile(
  path: string,
  name: string,
  owner: FileOwner,
): Promise<ReadFile> {
  const bytes = await readBytes(path, name, owner)
  const hash = createHash('sha256').update(bytes).digest('hex')
  const result = parseConfig(bytes.toString('utf8'), name)
  if (result.ok) return { path, name, hash, content: result.config }
  const shown = result.problems.slice(0, PROBLEMS_MAX)
  const rest = result.problems.length - shown.length
  const more = rest > 0 ? [`… and ${rest} more`] : []
  throw new UsageError(['The configuration cannot be used.', ...shown, ...more].join('\n'))
}

async function readBytes(path: string, name: string, owner: FileOwner): Promise<Buffer> {
  // Nobody waits at the other end of a pipe, and a link could show a file that is not for us.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  const noFollow = owner === 'repository' ? constants.O_NOFOLLOW : 0
  const file = await open(path, flags | noFollow).catch(({ code }: NodeJS.ErrnoException) => {
    const why = code === 'ELOOP' ? 'it is a link; put the file itself there' : String(code)
    throw new UsageError(`${name} cannot be read: ${why}.`)
  })
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new UsageError(`${name} cannot be read: it is not a file.`)
    const buffer = Buffer.alloc(FILE_BYTES_MAX + 1)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    if (bytesRead <= FILE_BYTES_MAX) return buffer.subarray(0, bytesRead)
    throw new UsageError(`${name} has more than ${FILE_BYTES_MAX} bytes. Make it smaller.`)
  } finally {
    await file.close()
  }
}

type Parsed =
  | { readonly ok: true; readonly config: ConfigFile }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Reads a configuration from YAML or JSON. Each problem begins with its place. */
export function parseConfig(text: string, name: string): Parsed {
  if (isTooDeep(text)) return { ok: false, problems: [`${name}: is nested too deeply`] }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  const fault = name.endsWith('.json') ? findJsonFault(text) : undefined
  if (fault !== undefined) {
    const problem = `${placeOf(fault.offset)}: is not JSON: ${fault.message}`
    return { ok: false, problems: [`${problem}. Mend it, or name it .yaml.`] }
  }
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }) => `${placeOf(pos[0])}: ${message}`)
    return { ok: false, problems: problems.map(clean) }
  }
  const value = readValue(document)
  if (value === ALIASES) return { ok: false, problems: [`${name}: aliases (*) are not used here`] }
  const parsed = CONFIG_FILE.safeParse(value ?? {})
  const found = parsed.success ? checkValues(parsed.data) : explainIssues(parsed.error.issues)
  if (parsed.success && found.length === 0) return { ok: true, config: parsed.data }
  const problems = found.map(
    (problem) => `${placeOf(offsetOf(document, problem))}: ${print(problem)}`,
  )
  return { ok: false, problems: [...new Set(problems.map(clean))] }
}

const ALIASES = Symbol('aliases')

function readValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    return ALIASES
  }
}

/** Brackets and indentation, counted roughly: the parser calls itself for each. */
function isTooDeep(text: string): boolean {
  let open = 0
  for (const character of text) {
    if (character === '[' || character === '{') open += 1
    else if (character === ']' || character === '}') open -= 1
    if (open > DEPTH_MAX) return true
  }
  // A level is opened by each dash or key of a line, or by its indentation.
  return text.split('\n').some((line) => {
    const dashes = /^[ \t]*(?:[-?:][ \t]+)*/.exec(line)?.[0] ?? ''
    return dashes.length > 8 * DEPTH_MAX
  })
}

/** Where a problem is: its key or value, or the nearest thing around it that is there. */
function offsetOf(document: Document, { path, isAboutKey }: Problem): number {
  if (isAboutKey) {
    const section = document.getIn(path.slice(0, -1), true)
    const pair = isMap(section)
      ? section.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))
      : undefined
    if (isScalar(pair?.key) && pair.key.range) return pair.key.range[0]
  }
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

function print({ path, message }: Problem): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
  return `${parts.join('').replace(/^\./, '') || 'the file'}: ${message}`
}

/** One line, and nothing secret: keys and the parser's messages are made of what was written. */
function clean(problem: string): string {
  return redact(problem).replaceAll('\n', ' ').slice(0, 400)
}
