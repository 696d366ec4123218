import { type Command, Option } from 'commander'
import type { TaskOptions } from './task.ts'

const STATE = [
  '--state <folder>',
  'the state folder, .slipway in the repository unless named',
] as const

/** The commands about single tasks. */
export function addTaskCommands(program: Command): void {
  const task = withGoing(
    program
      .command('task')
      .description('have one thing done by a coder, a reviewer and a tester')
      .argument('[text]', 'what is to be done')
      .addOption(
        new Option('--mode <mode>', 'discuss it first, or do it at once')
          .choices(['proposal', 'implementation'])
          .default('proposal'),
      )
      .option('--yes', 'confirm the proposal beforehand')
      .option(
        '--target <branch>',
        'the branch that it is for; the one that is checked out otherwise',
      )
      .addOption(
        new Option('--follow-up <task>', 'append to a task that is over').conflicts('target'),
      ),
  ).action(async (text: string | undefined, options: TaskOptions) => {
    const { task: run } = await import('./task.ts')
    process.exitCode = await run(text, options)
  })

  task
    .command('report')
    .description('a task round by round, as Markdown')
    .argument('[task]', 'the task; without one, the newest')
    .option(...STATE)
    .option('--json', 'data')
    .action(async (name: string | undefined, _: TaskOptions, command: Command) => {
      const { report } = await import('./task.ts')
      process.exitCode = await report(name, command.optsWithGlobals())
    })

  withGoing(
    program
      .command('confirm')
      .description('have a proposal done')
      .argument('[task]', 'the task; without one, the newest'),
  ).action(async (name: string | undefined, options: TaskOptions) => {
    const { confirm } = await import('./task.ts')
    process.exitCode = await confirm(name, options)
  })
}

function withGoing(command: Command): Command {
  return command
    .option('--detach', 'return at once; the task goes on')
    .addOption(
      new Option('--foreground', 'work in this process, for CI and containers').conflicts('detach'),
    )
    .option(...STATE)
    .option('--json', 'data')
}
