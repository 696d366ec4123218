import { Command, CommanderError, Option } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import type { ConfigOptions, TrustOptions } from './config.ts'
import type { DemoOptions } from './demo/demo.ts'
import type { DoctorOptions } from './doctor.ts'
import { EXIT_CODE } from './exit-code.ts'
import type { MachinesOptions } from './machines.ts'
import { printable } from './printable.ts'
import type { ReplayCommandOptions } from './replay.ts'
import { addRunCommands } from './run-commands.ts'
import { addTaskCommands } from './task-commands.ts'
import type { ToolsOptions, TrustToolsOptions } from './tools.ts'

const STATE = [
  '--state <folder>',
  'the state folder, .slipway in the repository unless named',
] as const

/** Each command's code is imported when it runs, so that no command waits for another's imports. */
function buildProgram(): Command {
  const program = new Command('slipway')
    .description(manifest.description)
    .version(manifest.version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(printable(text)) })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(slipway --help lists what there is)')

  program
    .command('demo')
    .description('a whole run on a small repository, without a key and without a network')
    .option('--json', 'data')
    .action(async (options: DemoOptions) => {
      const { demo } = await import('./demo/demo.ts')
      process.exitCode = await demo(options)
    })

  program
    .command('machines')
    .description('the state machines that agents obey')
    .argument('[name]', 'one machine, such as coder@F; without a revision, the default one')
    .addOption(
      new Option('--mermaid', 'a Mermaid diagram').conflicts(['markdown', 'json', 'audit']),
    )
    .addOption(new Option('--markdown', 'the whole document').conflicts(['json', 'audit']))
    .option('--json', 'data')
    .option('--audit', 'the holes in the tables, and what is done about each')
    .action(async (name: string | undefined, options: MachinesOptions) => {
      const { machines } = await import('./machines.ts')
      process.stdout.write(`${machines(name, options)}\n`)
    })

  program
    .command('replay')
    .description('fold the journal of a run again, and compare it with what is stored')
    .argument('[run]', 'the run; without one, the newest')
    .option(...STATE)
    .option('--at <seq>', 'show every agent as it was at that row')
    .option('--json', 'data')
    .action(async (run: string | undefined, options: ReplayCommandOptions) => {
      const { replay } = await import('./replay.ts')
      process.exitCode = await replay(run, options)
    })

  addRunCommands(program)
  addTaskCommands(program)
  addSetUp(program)
  return program
}

/** What is done before the first run, and when one does not work. */
function addSetUp(program: Command): void {
  program
    .command('init')
    .description('write a first configuration and a spec to fill in; nothing is overwritten')
    .option('--json', 'data')
    .action(async (options: { json?: true }) => {
      const { init } = await import('./init.ts')
      await init(options)
    })

  program
    .command('doctor')
    .description('see whether a run would work here, and what to do where it would not')
    .option(...STATE)
    .option('--json', 'data')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor.ts')
      process.exitCode = await doctor(options)
    })

  addConfig(program)
  addTools(program)
}

function addTools(program: Command): void {
  const tools = program.command('tools').description('MCP servers of .mcp.json, and your trust')
  tools
    .command('list', { isDefault: true })
    .description('the servers, and why one is not used; none is started')
    .option(...STATE)
    .option('--json', 'data')
    .action(async (options: ToolsOptions) => {
      const { listTools } = await import('./tools.ts')
      await listTools(options)
    })
  tools
    .command('trust')
    .description('see a server and its tools as they are now, and let agents use them')
    .argument('<server>', 'its name')
    .option('--variables <names>', 'the variables of your environment that it is given, as A,B')
    .option('--yes', 'do not ask: it is started')
    .option(...STATE)
    .option('--json', 'data')
    .action(async (name: string, options: TrustToolsOptions) => {
      const { trustTools } = await import('./tools.ts')
      process.exitCode = await trustTools(name, options)
    })
  tools
    .command('distrust')
    .description('trust a server no longer')
    .argument('<server>', 'its name')
    .option(...STATE)
    .option('--json', 'data')
    .action(async (name: string, options: ToolsOptions) => {
      const { distrustTools } = await import('./tools.ts')
      process.exitCode = await distrustTools(name, options)
    })
}

function addConfig(program: Command): void {
  const config = program.command('config').description('what is configured, and by whom')
  config
    .command('show', { isDefault: true })
    .description('the values that hold here, and where each came from')
    .option('--json', 'data')
    .action(async (options: ConfigOptions) => {
      const { showConfig } = await import('./config.ts')
      await showConfig(options)
    })
  config
    .command('schema')
    .description('the JSON Schema of slipway.config.yaml, for editors')
    .option('--json', 'the same: a schema is data')
    .action(async () => {
      const { showSchema } = await import('./config.ts')
      showSchema()
    })
  config
    .command('trust')
    .description('see what the configuration of this repository sets, and let it')
    .option('--yes', 'do not ask')
    .addOption(new Option('--revoke', 'trust it no longer').conflicts('yes'))
    .option('--json', 'data')
    .action(async (options: TrustOptions) => {
      const { trustConfig } = await import('./config.ts')
      process.exitCode = await trustConfig(options)
    })
}

const EXIT_CODES: Readonly<Record<string, number>> = {
  UsageError: EXIT_CODE.usage,
  ProviderError: EXIT_CODE.provider,
}

/** Errors that are about the user's world, not about a bug of ours: their message says what to do. */
const EXPECTED_ERRORS: readonly string[] = [
  'UsageError',
  'ProviderError',
  'EngineError',
  'IsolationError',
  'StateFolderError',
  'JournalError',
]

function isExpected(error: unknown): error is Error {
  return error instanceof Error && EXPECTED_ERRORS.includes(error.name)
}

async function main(argv: readonly string[]): Promise<number> {
  try {
    await buildProgram().parseAsync(argv)
    return EXIT_CODE.done
  } catch (error) {
    // Commander has printed its own message; its exit code for bad usage is 1, ours is 2.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODE.usage
    if (!isExpected(error)) throw error
    const exitCode = EXIT_CODES[error.name] ?? EXIT_CODE.failed
    const { stderr } = process
    const { proseFor } = await import('./terminal-text.ts')
    stderr.write(proseFor(stderr, `slipway: ${printable(error.message)}\n`))
    return exitCode
  }
}

/** A reader that went away (`slipway machines | head -1`) is no failure; a full disk is. */
function failOnWrite(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return
  process.exitCode = EXIT_CODE.failed
  process.stderr.write(`slipway: the output cannot be written (${error.code})\n`)
}

process.stdout.on('error', failOnWrite)
process.stderr.on('error', () => {})

const exitCode = await main(process.argv)
process.exitCode ??= exitCode
