import { join, normalize } from 'node:path'
import { makeScript, readMakefile } from './ecosystems/make.ts'
import { inlineScripts } from './ecosystems/package-scripts.ts'
import { judgeScript } from './ecosystems/script.ts'
import type { TestCommand } from './test-result.ts'
import { isObject, WorkspaceFiles } from './workspace-files.ts'

/** A command as somebody gave it. */
interface GivenCommand {
  readonly argv: readonly string[]
  readonly cwd?: string
}

/**
 * Test commands that were given, with what can be known of them in this workspace: whether what
 * they start must report, or runs nothing. Scripts and make targets are followed to their runner;
 * of a program that nobody knows nothing is said. It executes nothing, and never throws.
 */
export async function readCommands(
  workspace: string,
  commands: readonly GivenCommand[],
): Promise<readonly TestCommand[]> {
  const files = new WorkspaceFiles(workspace)
  return Promise.all(
    commands.map(async ({ argv, cwd }) => {
      const command = { argv: argv as TestCommand['argv'], reason: 'it is configured' }
      const place = cwd === undefined ? command : { ...command, cwd }
      return { ...place, ...judgeScript(await scriptOf(files, argv, cwd ?? '.')) }
    }),
  )
}

const PACKAGE_MANAGERS = ['npm', 'pnpm', 'yarn', 'bun']
const PLACE = /^(?:--prefix|--cwd|--dir|--directory|-C)(?:=(.+))?$/
const SHELLS = ['sh', 'bash', 'dash', 'zsh']

/** What a command starts, as far as that can be read; else the command itself. */
async function scriptOf(
  files: WorkspaceFiles,
  argv: readonly string[],
  cwd: string,
): Promise<string> {
  const { program, words, folder, line } = lineOf(argv, cwd)
  // One that leads outside is nothing of this workspace.
  if (folder.startsWith('..') || folder.startsWith('/')) return line
  if (program === 'make' || program === 'gmake') return makeLine(files, words, folder)
  if (program === 'deno' || program === 'composer') return taskLine(files, program, words, folder)
  if (!PACKAGE_MANAGERS.includes(program) && !SHELLS.includes(program)) return line
  const manifest = await files.readJson('package.json', folder)
  const whole = inlineScripts(line, manifest?.scripts)
  // npm is content without a script when it is told so, and then nothing runs.
  return whole === line && words.includes('--if-present') && !isSpread(words) ? '' : whole
}

/** A command line without what says where it runs, and without a shell around it. */
function lineOf(argv: readonly string[], cwd: string) {
  const [first = '', ...rest] = argv
  const program = first.slice(first.lastIndexOf('/') + 1)
  const isOfManager = PACKAGE_MANAGERS.includes(program) || program === 'make'
  const words = [...rest]
  let folder = cwd
  for (let at = 0; isOfManager && at < words.length; ) {
    const option = PLACE.exec(words[at] ?? '')
    if (option === null) at += 1
    else {
      const removed = words.splice(at, option[1] === undefined ? 2 : 1)
      folder = join(folder, option[1] ?? removed[1] ?? '')
    }
  }
  const script = SHELLS.includes(program) ? shellScript(words) : undefined
  const line = script ?? [program, ...words].join(' ')
  return { program, words, folder: normalize(folder).replace(/\/$/, ''), line }
}

/** What stands after `-c`, as in `bash -lc "npm test"`. */
function shellScript(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => /^-[a-z]*c$/.test(word))
  return at < 0 ? undefined : words[at + 1]
}

/** Whether the scripts of other packages are meant. */
function isSpread(words: readonly string[]): boolean {
  return words.some((word) => /^(?:-r|-w|--recursive|--workspaces?|--filter)(?:=|$)/.test(word))
}

async function makeLine(
  files: WorkspaceFiles,
  words: readonly string[],
  folder: string,
): Promise<string> {
  const { lines } = await readMakefile(files, folder)
  const targets = words.filter((word) => /^[\w.][\w./-]*$/.test(word))
  const line = ['make', ...words].join(' ')
  // Another file, or the first target of this one: nobody looks.
  if (targets.length === 0 || lines.length === 0 || words.includes('-f')) return line
  const texts = targets.map((target) => makeScript(lines, target))
  const manifest = await files.readJson('package.json', folder)
  return inlineScripts(texts.join('\n'), manifest?.scripts)
}

/** The task of Deno or the script of Composer that is named. */
async function taskLine(
  files: WorkspaceFiles,
  program: 'deno' | 'composer',
  words: readonly string[],
  folder: string,
): Promise<string> {
  const isDeno = program === 'deno'
  const manifest = await files.readJson(isDeno ? 'deno.json' : 'composer.json', folder)
  const tasks = isDeno ? manifest?.tasks : manifest?.scripts
  const names = words.filter((word) => /^[\w:.-]+$/.test(word) && !word.startsWith('-'))
  const starts = isDeno ? ['task'] : ['run', 'run-script']
  const isNamed = starts.includes(names[0] ?? '')
  const name = isNamed ? names[1] : isDeno ? undefined : names[0]
  const known = isObject(tasks) && name !== undefined && Object.hasOwn(tasks, name)
  const lines = known ? [tasks[name]].flat().filter((line) => typeof line === 'string') : []
  return lines.length > 0 ? lines.join('\n') : [program, ...words].join(' ')
}
