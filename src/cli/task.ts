import { join } from 'node:path'
import type { Brought, TaskMode } from '../agents/coordinator/protocol.ts'
import { redact } from '../effects/guards/redaction.ts'
import { describeIgnored, loadConfig } from './config/load-config.ts'
import type { Control } from './engine/control.ts'
import { TASK_ROLES } from './engine/minds.ts'
import type { Beginning } from './engine/reach.ts'
import { refuseSameTask, requireOver, requireProposal } from './engine/task.ts'
import { EXIT_CODE } from './exit-code.ts'
import { workHere } from './foreground.ts'
import { jsonText } from './json-text.ts'
import { currentBranch, healthOf } from './run.ts'
import { nameAfter } from './run-name.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { proseFor } from './terminal-text.ts'
import { typedPath } from './typed-path.ts'
import { UsageError } from './usage-error.ts'
import { followRun } from './view/follow.ts'
import { chooseTask } from './view/open-source.ts'
import type { RunSource } from './view/run-source.ts'
import { taskMarkdown } from './view/task-report.ts'
import { findTask, isTaskOver, taskExitCode } from './view/task-status.ts'
import { readTask } from './view/task-view.ts'

export interface TaskOptions extends StateOptions {
  readonly mode?: TaskMode
  readonly yes?: true
  readonly followUp?: string
  readonly target?: string
  readonly detach?: true
  readonly foreground?: true
  readonly json?: true
}

/** How a task is set going, once there is an engine. */
interface Going extends Beginning {
  readonly id: string
  begin(control: Control): Promise<void>
}

const TEXT_CHARS_MAX = 20_000

/** `slipway task <text>`: has one thing done, or more of it with `--follow-up`. */
export async function task(text: string | undefined, options: TaskOptions): Promise<number> {
  if (text === undefined || text.trim() === '') throw new UsageError('Say what is to be done.')
  if (text.length > TEXT_CHARS_MAX) {
    throw new UsageError(
      `The task has ${text.length} characters; at most ${TEXT_CHARS_MAX} are taken.`,
    )
  }
  const { mode = 'proposal', yes, followUp } = options
  const brought: Brought = { text: text.trim(), mode, isConfirmed: yes ?? false }
  if (followUp !== undefined) {
    const id = await findTaskId(followUp, options)
    const begin = (control: Control) => control.followUp(id, brought)
    return go({ id, roles: [], refuse: refuseBy(requireOver, id), begin }, options)
  }
  const { root } = findPlace(options)
  const loaded = await loadConfig(root, process.env)
  const { stderr } = process
  for (const line of describeIgnored(loaded)) stderr.write(proseFor(stderr, `${line}\n`))
  const target = options.target ?? loaded.config.target ?? (await currentBranch(root))
  const id = nameAfter(text, 'task')
  const going: Going = {
    id,
    roles: TASK_ROLES,
    async refuse(control) {
      await refuseSameTask(control, redact(text))
      await control.takeIn(target)
    },
    begin: (control) => control.startTask({ ...brought, id, target }),
  }
  return go(going, options)
}

/** `slipway confirm [task]`: has done what was proposed. */
export async function confirm(name: string | undefined, options: TaskOptions): Promise<number> {
  const id = await findTaskId(name, options)
  const begin = (control: Control) => control.confirm(id)
  return go({ id, roles: [], refuse: refuseBy(requireProposal, id), begin }, options)
}

/** `slipway task report [task]`: the task round by round. */
export async function report(name: string | undefined, options: TaskOptions): Promise<number> {
  const { source, run, close } = await chooseTask(name, options)
  try {
    return await show(source, run, options, EXIT_CODE.done)
  } finally {
    await close()
  }
}

function refuseBy(require: typeof requireOver, id: string): Going['refuse'] {
  return async (control) => void (await require(control, id))
}

async function findTaskId(name: string | undefined, options: TaskOptions): Promise<string> {
  const { run, close } = await chooseTask(name, options, 'engine')
  await close()
  return run
}

async function go(going: Going, options: TaskOptions): Promise<number> {
  const { root, stateFolder } = findPlace(options)
  if (options.foreground) {
    return workHere(root, stateFolder, going.id, async (control, leaving) => {
      await going.begin(control)
      return followTask(control, going.id, options, leaving)
    })
  }
  const { reachFreshEngine } = await import('./engine/reach.ts')
  const control = await reachFreshEngine(root, stateFolder, going)
  await going.begin(control)
  if (!options.detach) return followTask(control, going.id, options)
  const data = { task: going.id, state: stateFolder }
  process.stdout.write(options.json ? `${JSON.stringify(data)}\n` : `${going.id}\n`)
  process.stderr.write(`It goes on by itself. slipway task report ${going.id} shows it.\n`)
  return EXIT_CODE.done
}

/** Follows a task until it rests, and says how it ended. Leaving it leaves it going. */
export async function followTask(
  source: RunSource,
  id: string,
  options: TaskOptions,
  signal?: AbortSignal,
): Promise<number> {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  const isOurs = signal === undefined
  if (isOurs) process.once('SIGINT', leave)
  const out = process.stderr
  const { status } = await followRun(source, id, {
    as: 'lines',
    isUnattended: true,
    isWorkHere: !isOurs,
    out,
    hint: '',
    signal: signal ?? leaving.signal,
    ...healthOf(source),
  }).finally(() => process.off('SIGINT', leave))
  const isOver = status === 'done' || status === 'failed'
  if (isOver || !(signal ?? leaving.signal).aborted) {
    if (status === 'paused')
      out.write(`The task is paused. slipway resume ${id} goes on with it.\n`)
    return show(source, id, options)
  }
  const left = `The task goes on by itself. slipway watch ${id} comes back to it.`
  const kept = `The task ${id} is kept. slipway resume ${id} goes on, slipway stop ${id} ends it.`
  out.write(proseFor(out, `${isOurs ? left : kept}\n`))
  return EXIT_CODE.interrupted
}

/** Prints the report, and gives the exit code: how the task ended, or that of one that has not. */
async function show(
  source: RunSource,
  id: string,
  options: TaskOptions,
  underWay: number = EXIT_CODE.interrupted,
): Promise<number> {
  const view = await readTask(source, id)
  const agent = findTask(await source.agents(id))
  if (view === undefined || agent === undefined) throw new UsageError(`${id} is no task.`)
  const { root, stateFolder } = findPlace(options)
  const work = typedPath(join(stateFolder, 'git', 'work.git'), root, process.cwd())
  process.stdout.write(options.json ? `${jsonText(view)}\n` : taskMarkdown(view, work))
  return isTaskOver(agent) || agent.halted ? taskExitCode(agent) : underWay
}
