import { Readable } from 'node:stream'
import type { Command, Ended } from '../process/command.ts'
import type { Later } from '../process/process-run.ts'
import type { SandboxCommand } from './sandbox.ts'

/**
 * What follows a command, its result and the next request, goes before the preparation of the next:
 * starting a process takes us milliseconds in which nothing else is done. No model answers sooner.
 */
const PREPARE_AFTER_MS = 50

/** Some shells read their script byte by byte. */
const SCRIPT_CHARS_MAX = 16_384

/** What a spare runs while it waits: a shell that reads its script, and keeps its input apart. */
export function waitingShell(scriptFile: number): [string, ...string[]] {
  return ['/bin/sh', '-c', `exec sh 3<&0 0<&${scriptFile} ${scriptFile}<&-`]
}

/** A command whose folder is known. */
export type Placed = SandboxCommand & Pick<Command, 'onOutput'> & { readonly cwd: string }

/** Starts a launcher for a command that comes later; aborting ends it. */
export type LaunchAhead = (later: Later, signal: AbortSignal) => Promise<Ended>

/**
 * The launcher of the next command of a sandbox, started ahead of it. A spare has run nothing but
 * our own script when its command is given to it, and no other command can reach it: it is alone in
 * its process namespace, and its files are in nobody's hands but ours.
 */
export class SpareCommand {
  readonly #launch: LaunchAhead
  #spare: Spare | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(launch: LaunchAhead) {
    this.#launch = launch
  }

  /** Runs a command. Undefined when it has not begun, and has to be started in the plain way. */
  async run(command: Placed): Promise<Ended | undefined> {
    const spare = this.#spare
    const script = spare && scriptOf(command)
    if (spare === undefined || script === undefined || command.signal?.aborted) return undefined
    this.#spare = undefined
    return spare.run({ ...command, env: {} }, script)
  }

  /** Prepares one in a moment, unless there is one. */
  prepareSoon(): void {
    if (this.#isClosed || this.#spare !== undefined) return
    this.#timer ??= setTimeout(() => this.#prepare(), PREPARE_AFTER_MS).unref()
  }

  /** Ends the one that waits, and prepares no other. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#spare?.close()
  }

  #prepare(): void {
    this.#timer = undefined
    const spare = new Spare(this.#launch)
    this.#spare = spare
    void spare.ended.then(() => {
      // One that died while it waited; the next command is not given to it.
      if (this.#spare === spare) this.#spare = undefined
    })
  }
}

class Spare {
  readonly #abandon = new AbortController()
  readonly ended: Promise<Ended>
  #give: (given: Awaited<Later['given']>) => void = () => {}
  /** Undefined until the launcher has said it, or can say it no more. */
  #hasBegun: boolean | undefined

  constructor(launch: LaunchAhead) {
    const given = new Promise<Awaited<Later['given']>>((resolve) => {
      this.#give = resolve
    })
    const onAnswer = (chunk?: Buffer) => {
      this.#hasBegun ??= chunk !== undefined
    }
    this.ended = launch({ given, onAnswer }, this.#abandon.signal)
  }

  async run(command: Command, script: string): Promise<Ended | undefined> {
    this.#give({ command, script })
    const ended = await this.ended
    // What we ended ourselves is not tried again, nor is what may have begun.
    const isOurs = ['timed_out', 'aborted', 'flooded'].includes(ended.how)
    return isOurs || this.#hasBegun !== false ? ended : undefined
  }

  async close(): Promise<void> {
    this.#abandon.abort()
    await this.ended
  }
}

/**
 * What a waiting shell is told, in one compound command, which is read to its end before any of it is
 * done. It answers before it begins with the command, and only then: where the folder or the program
 * is not there, the plain way says so as it always does. Undefined for what a shell might change, or
 * where it could not know whether the program will start.
 */
function scriptOf(command: Placed): string | undefined {
  const { argv, cwd, env, stdin, onOutput, onStdout, isOwnWordEnough } = command
  if (Object.keys(env ?? {}).length > 0) return undefined
  if (stdin instanceof Readable || onOutput || onStdout) return undefined
  const line = lineOf(argv)
  if (line !== undefined && UNSAYABLE.test(line)) return undefined
  const doing = line === undefined ? becoming(argv) : doingItself(line, isOwnWordEnough)
  if (doing === undefined) return undefined
  const { before, after } = doing
  const script = [
    `cd ${quote(cwd)} 2>/dev/null || exit`,
    ...before,
    'unset OLDPWD',
    'echo >&0',
    ...after,
  ].join('; ')
  return script.includes('\0') || script.length > SCRIPT_CHARS_MAX ? undefined : `{ ${script}; }\n`
}

/** The input is the command's own from then on. */
const RELEASE = 'exec 0<&3 3<&-'

/** What comes before a shell has answered, and what after it, while its input is still the script. */
interface Doing {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/**
 * What a shell that has done such a line cannot say any more: with few files it cannot put its own
 * aside, and with another `command` its word would be the line's. Special built-ins, such as `trap`
 * and `exit`, no shell lets a function replace.
 */
const UNSAYABLE = /\b(?:ulimit|prlimit|command\s*\()/

/** The line of a command that is a line of shell, and that no shell takes for an option. */
function lineOf(argv: Placed['argv']): string | undefined {
  const [program, option, line = ''] = argv
  const isLine = program === 'sh' && option === '-c' && argv.length === 3
  return isLine && !/^[-+]/.test(line) ? line : undefined
}

/**
 * The waiting shell is one already, and to become another takes it longer than many a line. A line
 * that fails is told from a plain start by nothing but the word `eval` in some shells' messages.
 * Where its own word is enough it answers once more: with the traps that the line has set, which are
 * still to be carried out, and with what the line came to. Where the line ends the shell, its
 * launcher says that.
 */
function doingItself(line: string, isOwnWordEnough: true | undefined): Doing {
  const run = `eval ${quote(line)}`
  // Not seen where the line has asked to see every command.
  if (!isOwnWordEnough) return { before: [], after: [RELEASE, run, '{ exit; } 2>/dev/null'] }
  return {
    before: [],
    after: [
      // While the line runs, shells keep the script where nothing that they start finds it.
      `{ ${run}; } 0<&3 3<&-`,
      '{ set -- "$?"; trap; command echo "$1"; } >&0 2>/dev/null',
      '{ exit "$1"; } 2>/dev/null',
    ],
  }
}

/** Undefined for a program that is not looked for in PATH. */
function becoming(argv: Placed['argv']): Doing | undefined {
  const [program] = argv
  if (!/^[^-/][^/]*$/.test(program)) return undefined
  // Not `command -v`, which also finds what only a shell has.
  const file = `"$folder"/${quote(program)}`
  return {
    before: [
      `IFS=:; for folder in $PATH; do [ -f ${file} ] && [ -x ${file} ] && break; done || exit`,
    ],
    // What shells add of themselves.
    after: [RELEASE, 'unset SHLVL', `exec ${argv.map(quote).join(' ')}`],
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
