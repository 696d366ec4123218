import { lstat } from 'node:fs/promises'
import { isAbsolute, normalize } from 'node:path'
import type { Json } from '../../agents/values.ts'
import type {
  Attempt,
  AttemptError,
  EffectContext,
  EffectHandler,
} from '../../runtime/effect-handler.ts'
import { readFields } from '../effect-input.ts'
import { MACHINE_SERVICE, machineOf } from '../machine.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { WatchedSandbox } from '../sandbox/watched-sandbox.ts'
import type { Owner } from '../workspace/place.ts'
import { detectTestCommands } from './detect-test-commands.ts'
import { plainText, tailOf } from './plain-text.ts'
import { readCommands } from './read-commands.ts'
import { runTests } from './run-tests.ts'
import type { TestResult } from './test-result.ts'
import { isObject, type Remark } from './workspace-files.ts'

/** What an effect `run_tests` asks for. */
export type RunTestsInput = {
  /** An absolute path. */
  readonly workspace: string
  /** As configured; found by looking at the workspace when absent. */
  readonly commands?: readonly { readonly argv: readonly string[]; readonly cwd?: string }[]
  /** Less than the handler's own limit. */
  readonly timeoutMs?: number
  /** Whether exit code 0 is not enough: see `TestRun`. */
  readonly requireReport?: boolean
  /**
   * Whose workspace it is, where its files are to be as in its last checkpoint, before the run and
   * after it.
   */
  readonly rewind?: { readonly run: string; readonly story: string }
}

/** What comes of it: failing tests too are an outcome, and no error. */
export type RunTestsValue = TestResult & {
  /** What stood in the way of knowing how to test the workspace. */
  readonly remarks: readonly {
    readonly path: string
    readonly code: string
    readonly message: string
  }[]
}

/** What the handler is given. */
export interface RunTestsParts {
  /** Opens a sandbox that may write to the workspace; it is closed after the run. */
  openSandbox(workspace: string): Promise<Sandbox>
  /** Brings the files of a workspace back to its last checkpoint, where that can be asked for. */
  rewind?(owner: Owner): Promise<void>
  /** For all commands of a run together. */
  readonly timeoutMs: number
  /** The most that is kept of each stream of a command. */
  readonly outputBytesMax: number
  /** Values that may not be kept. */
  readonly secrets: readonly string[]
}

/** Those that are configured, and those that a tester names besides. */
const COMMANDS_MAX = 32
const ARGV_BYTES_MAX = 8_192
const REMARKS_MAX = 10
const REMARK_BYTES_MAX = 200
const VALUE_BYTES_MAX = 60_000

/** Beyond the time of the tests: opening and closing the sandbox, ending processes, keeping output. */
const MARGIN_MS = 60_000

/** Carries out effects of the kind `run_tests`. */
export function runTestsHandler(parts: RunTestsParts): EffectHandler {
  return {
    policy: { timeoutMs: parts.timeoutMs + MARGIN_MS, attemptsMax: 3 },
    async run({ input }, context) {
      const request = parseInput(input)
      if (typeof request === 'string') return failed('invalid_input', request, 'never')
      const isFolder = await lstat(request.workspace).then(
        (stats) => stats.isDirectory(),
        () => false,
      )
      if (!isFolder) return failed('workspace_missing', `no folder ${request.workspace}`, 'never')
      return rewinding(parts, request, () => testWorkspace(parts, request, context))
    },
  }
}

/** What a run leaves behind would decide the next one, and be taken for somebody's work. */
async function rewinding(
  { rewind }: RunTestsParts,
  { rewind: owner }: RunTestsInput,
  run: () => Promise<Attempt>,
): Promise<Attempt> {
  if (owner === undefined) return run()
  if (rewind === undefined) return failed('invalid_input', 'nothing is rewound here', 'never')
  try {
    await rewind(owner)
    const attempt = await run()
    await rewind(owner)
    return attempt
  } catch (error) {
    return failed('workspace_not_restored', String(error), 'later', machineOf(error).service)
  }
}

async function testWorkspace(
  parts: RunTestsParts,
  request: RunTestsInput,
  context: EffectContext,
): Promise<Attempt> {
  const { commands, remarks } = request.commands
    ? { commands: await readCommands(request.workspace, request.commands), remarks: [] }
    : await detectTestCommands(request.workspace)
  let sandbox: WatchedSandbox
  try {
    sandbox = new WatchedSandbox(await parts.openSandbox(request.workspace))
  } catch (error) {
    return failed('sandbox_unavailable', String(error), 'later', MACHINE_SERVICE)
  }
  try {
    const result = await runTests({
      sandbox,
      workspace: request.workspace,
      commands,
      timeoutMs: Math.min(request.timeoutMs ?? parts.timeoutMs, parts.timeoutMs),
      outputBytesMax: parts.outputBytesMax,
      signal: context.signal,
      requireReport: request.requireReport ?? false,
      secrets: parts.secrets,
      saveOutput: async (output) => ({ ...(await context.blobs.put(output)) }),
    })
    return toAttempt(result, remarks, sandbox.standstill)
  } catch (error) {
    return failed('output_not_kept', String(error), 'later', machineOf(error).service)
  } finally {
    // What cannot be closed is the business of whoever opened it, and changes no test.
    await sandbox.close().catch(() => {})
  }
}

/** What the tests themselves cannot help is an error; everything else is for the agent to judge. */
function toAttempt(
  result: TestResult,
  remarks: readonly Remark[],
  standstill: string | undefined,
): Attempt {
  const { code, commands, message } = result
  if (code === 'aborted') return failed('aborted', message, 'later')
  if (standstill !== undefined) {
    const why = `no command can be started: ${standstill}`
    return failed('sandbox_failed', why, 'later', MACHINE_SERVICE)
  }
  const broken = commands.find((command) => command.code === 'not_started')
  if (broken) return failed('sandbox_failed', `${message}: ${broken.tail}`, 'later')
  const short = remarks.slice(0, REMARKS_MAX).map((remark) => ({
    path: toText(remark.path),
    code: remark.code,
    message: toText(remark.message),
  }))
  return { ok: true, value: fit({ ...result, remarks: short }) }
}

/** A name out of a repository, or a message about it, as harmless text. */
function toText(text: string): string {
  return tailOf(plainText(Buffer.from(text)), REMARK_BYTES_MAX)
}

/** Shortens what is quoted until the whole fits a row; the blobs have all of it. */
function fit(value: RunTestsValue): RunTestsValue {
  const isQuoting = value.commands.some(({ tail, failing }) => tail !== '' || failing.length > 0)
  if (Buffer.byteLength(JSON.stringify(value)) <= VALUE_BYTES_MAX || !isQuoting) return value
  const shorten = (text: string) => tailOf(text, Math.floor(Buffer.byteLength(text) / 2))
  const commands = value.commands.map((command) => ({
    ...command,
    tail: shorten(command.tail),
    failing: command.failing.slice(0, Math.floor(command.failing.length / 2)),
  }))
  return fit({ ...value, commands })
}

/** The input, or what is wrong with it. */
function parseInput(input: Json): RunTestsInput | string {
  if (!isObject(input)) return 'the input is no object'
  const { workspace, commands, timeoutMs, requireReport, rewind } = input
  if (typeof workspace !== 'string' || !isAbsolute(workspace) || workspace.includes('\0')) {
    return 'workspace is no absolute path'
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) {
    return 'timeoutMs is no positive number'
  }
  if (requireReport !== undefined && typeof requireReport !== 'boolean') {
    return 'requireReport is neither true nor false'
  }
  if (rewind !== undefined && readFields(rewind, ['run', 'story'], []) === undefined) {
    return 'rewind names no workspace'
  }
  return checkCommands(commands) ?? (input as RunTestsInput)
}

function checkCommands(commands: unknown): string | undefined {
  if (commands === undefined) return undefined
  if (!Array.isArray(commands) || commands.length > COMMANDS_MAX) {
    return `commands is no list of at most ${COMMANDS_MAX}`
  }
  if (Buffer.byteLength(JSON.stringify(commands)) > ARGV_BYTES_MAX) {
    return `commands takes more than ${ARGV_BYTES_MAX} bytes`
  }
  return commands.every(isCommand)
    ? undefined
    : 'a command has no argv, or a cwd that leads outside'
}

function isCommand(command: unknown): boolean {
  if (!isObject(command)) return false
  const { argv, cwd } = command
  const isText = (value: unknown) => typeof value === 'string' && !value.includes('\0')
  if (!Array.isArray(argv) || !argv.every(isText) || !argv[0]) return false
  if (cwd === undefined) return true
  return (
    typeof cwd === 'string' && isText(cwd) && !isAbsolute(cwd) && !normalize(cwd).startsWith('..')
  )
}

function failed(
  code: string,
  message: string,
  retry: AttemptError['retry'],
  service?: string,
): Attempt {
  const named = service === undefined ? {} : { service }
  return { ok: false, error: { code, message: message.slice(-2_000), retry, ...named } }
}
