import { constants } from 'node:fs'
import { access, open, realpath } from 'node:fs/promises'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'

/** A command as it can be started where nothing of the user's PATH is known. */
export interface Installation {
  readonly argv: readonly [string, ...string[]]
  /** The files and folders that it consists of. */
  readonly parts: readonly string[]
  /** Folders whose programs it may want to start by name. */
  readonly folders: readonly string[]
}

const INTERPRETER = /^#!\s*\/usr\/bin\/env\s+(?:-S\s+)?([\w.-]+)[ \t]*\r?\n/
const SHEBANG_BYTES_MAX = 256
const MODULES = '/node_modules/'

/** Finds a command as the user's shell would. Undefined when it is not installed. */
export async function findInstallation(
  [command, ...args]: readonly [string, ...string[]],
  path: string,
): Promise<Installation | undefined> {
  const file = await findProgram(command, path)
  if (file === undefined) return undefined
  const interpreter = await interpreterOf(file)
  const program = interpreter === undefined ? undefined : await findProgram(interpreter, path)
  if (interpreter !== undefined && program === undefined) return undefined
  const scripts = await Promise.all(args.filter(isAbsolute).map(readReal))
  const files = [program ?? [], file, ...scripts].flat().filter((one) => one !== undefined)
  const line = [...(program === undefined ? [] : [program]), file, ...args]
  return {
    argv: line as [string, ...string[]],
    parts: [...new Set(files.map(partOf))],
    folders: [dirname(program ?? file)],
  }
}

async function findProgram(command: string, path: string): Promise<string | undefined> {
  const places = isAbsolute(command)
    ? [command]
    : path.split(delimiter).flatMap((folder) => (folder === '' ? [] : [join(folder, command)]))
  for (const place of places) {
    const isThere = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return realpath(place)
  }
  return undefined
}

async function interpreterOf(file: string): Promise<string | undefined> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SHEBANG_BYTES_MAX))
    return INTERPRETER.exec(buffer.toString('latin1', 0, bytesRead))?.[1]
  } finally {
    await handle.close()
  }
}

function readReal(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined)
}

/** What belongs to a program: all packages beside a package, a Node with its own, or itself alone. */
function partOf(file: string): string {
  const modules = file.indexOf(MODULES)
  if (modules >= 0) return file.slice(0, modules + MODULES.length - 1)
  const folder = dirname(file)
  return basename(file) === 'node' && basename(folder) === 'bin' ? dirname(folder) : file
}
