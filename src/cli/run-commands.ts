import { type Command, Option } from 'commander'
import type { AnswerOptions } from './answer.ts'
import type { BudgetOptions } from './budget.ts'
import type { EngineOptions } from './engine-command.ts'
import type { EvidenceOptions } from './evidence.ts'
import type { LogsOptions } from './logs.ts'
import type { RunOptions } from './run.ts'
import type { StatusOptions } from './status.ts'
import type { SteerOptions } from './steer.ts'
import type { StoryOptions } from './story-choice.ts'
import type { WatchOptions } from './watch.ts'

const STATE = [
  '--state <folder>',
  'the state folder, .slipway in the repository unless named',
] as const
const RUN = ['[run]', 'the run; without one, the newest'] as const

/** The commands that start runs, look at them and steer them. */
export function addRunCommands(program: Command): void {
  addStarting(program)
  addLooking(program)
  addSteering(program)
}

function withStartOptions(command: Command): Command {
  return command
    .option('--target <branch>', 'the branch to merge into; the one that is checked out otherwise')
    .option('--detach', 'return at once; the run goes on')
    .addOption(
      new Option('--foreground', 'work in this process, for CI and containers').conflicts('detach'),
    )
    .option(...STATE)
    .option('--json', 'data')
}

function addStarting(program: Command): void {
  withStartOptions(
    program
      .command('run')
      .description('build what a spec says: merged, tested code, with evidence')
      .argument('<spec>', 'a Markdown file')
      .addOption(
        new Option(
          '--into <run>',
          'a further spec of that run: its team, budget and target',
        ).conflicts('target'),
      ),
  ).action(async (spec: string, options: RunOptions) => {
    const { run } = await import('./run.ts')
    process.exitCode = await run(spec, options)
  })

  withStartOptions(
    program
      .command('interview')
      .description('be asked what you want, and have it built')
      .argument('[wish]', 'what it is about'),
  ).action(async (wish: string | undefined, options: RunOptions) => {
    const { interview } = await import('./run.ts')
    process.exitCode = await interview(wish, options)
  })

  program
    .command('engine', { hidden: true })
    .requiredOption('--state <folder>')
    .action(async (options: EngineOptions) => {
      const { engineCommand } = await import('./engine-command.ts')
      process.exitCode = await engineCommand(options)
    })
}

function addLooking(program: Command): void {
  program
    .command('status')
    .description('how a run stands')
    .argument(...RUN)
    .option(...STATE)
    .option('--json', 'data')
    .action(async (name: string | undefined, options: StatusOptions) => {
      const { status } = await import('./status.ts')
      process.exitCode = await status(name, options)
    })

  program
    .command('watch')
    .description('the live board of a run')
    .argument(...RUN)
    .option(...STATE)
    .option('--json', 'data at the end')
    .action(async (name: string | undefined, options: WatchOptions) => {
      const { watch } = await import('./watch.ts')
      process.exitCode = await watch(name, options)
    })

  program
    .command('logs')
    .description('what happened in a run, a line for each transition')
    .argument(...RUN)
    .option('-f, --follow', 'go on until the run is over')
    .option(...STATE)
    .option('--json', 'every row of the journal')
    .action(async (name: string | undefined, options: LogsOptions) => {
      const { logs } = await import('./logs.ts')
      process.exitCode = await logs(name, options)
    })

  program
    .command('evidence')
    .description('for each criterion the stories, commits, and tests that show it')
    .argument(...RUN)
    .addOption(new Option('--html', 'a page').conflicts('json'))
    .option(...STATE)
    .option('--json', 'data')
    .action(async (name: string | undefined, options: EvidenceOptions) => {
      const { evidence } = await import('./evidence.ts')
      process.exitCode = await evidence(name, options)
    })
}

function addSteering(program: Command): void {
  program
    .command('answer')
    .description('answer what only a human can; without words, see what is asked')
    .argument('[words...]', 'the id of the question, if several are open, and the answer')
    .option(...STATE)
    .option('--json', 'data')
    .action(async (words: string[], options: AnswerOptions) => {
      const { answer } = await import('./answer.ts')
      process.exitCode = await answer(words, options)
    })

  addStoryChoices(program)
  addBudget(program)

  for (const [how, description] of [
    ['pause', 'begin nothing new; what is under way ends'],
    ['resume', 'go on with a run or a task, also after a crash of the machine'],
    ['stop', 'end what is under way at once; a run can be resumed, a task is given up'],
  ] as const) {
    const command = program
      .command(how)
      .description(description)
      .argument(...RUN)
      .option(...STATE)
      .option('--json', 'data')
    if (how === 'resume') {
      command.option('--foreground', 'work in this process until the end, for CI and containers')
    }
    command.action(async (name: string | undefined, options: SteerOptions) => {
      const { steer } = await import('./steer.ts')
      process.exitCode = await steer(how, name, options)
    })
  }
}

/** What a human may decide about a story that failed for good. */
function addStoryChoices(program: Command): void {
  for (const [choice, description] of [
    ['retry', 'try a story again that failed for good'],
    ['rewrite', 'say anew what a story that failed is, and have it tried again'],
    ['waive', 'do without a story that failed; what depends on it is built all the same'],
    ['cut', 'take a story out that failed or was not begun, with all that depends on it'],
  ] as const) {
    const command = program
      .command(choice)
      .description(description)
      .argument('<story>', 'its id')
      .option('--run <run>', 'the run, where several have a story of that name')
      .option(...STATE)
      .option('--json', 'data')
    if (choice === 'rewrite') command.argument('<words...>', 'what it is to be')
    command.action(async (story: string, ...rest: unknown[]) => {
      const words = choice === 'rewrite' ? (rest[0] as string[]) : []
      const { decideStory } = await import('./story-choice.ts')
      process.exitCode = await decideStory(choice, story, words, command.opts<StoryOptions>())
    })
  }
}

function addBudget(program: Command): void {
  program
    .command('budget')
    .description('what a run may spend and has spent; with options, other limits for it')
    .argument(...RUN)
    .option('--dollars <amount>', 'the most that the run may cost')
    .option('--tokens <count>', 'input and output together')
    .option('--iterations <count>', 'calls of models')
    .option('--hours <amount>', 'its time, from its first call')
    .option('--story-dollars <amount>', 'the most that each story may cost')
    .option('--story-tokens <count>', 'input and output of each story')
    .option('--story-iterations <count>', 'calls of models for each story')
    .option('--story-hours <amount>', 'the time of each story, from its first call')
    .option('--allow-unpriced', 'let models be asked whose price nobody knows')
    .option(...STATE)
    .option('--json', 'data')
    .action(async (name: string | undefined, options: BudgetOptions) => {
      const { budget } = await import('./budget.ts')
      process.exitCode = await budget(name, options)
    })
}
