import { setTimeout as sleep } from 'node:timers/promises'
import { awaitsOperator } from '../agents/coordinator/protocol.ts'
import { taskWorkOf } from '../agents/coordinator/task-work.ts'
import { StateFolderInUseError } from '../journal/state-folder-error.ts'
import type { AgentRecord } from '../runtime/records.ts'
import { connectControl } from './engine/control.ts'
import { EngineGoneError } from './engine/engine-error.ts'
import { reachFreshEngine } from './engine/reach.ts'
import { EXIT_CODE } from './exit-code.ts'
import { workHere } from './foreground.ts'
import { followToEnd } from './run.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { followTask } from './task.ts'
import { UsageError } from './usage-error.ts'
import { chooseRun, openSource } from './view/open-source.ts'
import { othersLine, readJudgedView, readOthers } from './view/read-view.ts'
import { failureReason, isRunOver } from './view/run-end.ts'
import type { RunSource } from './view/run-source.ts'
import type { RunView } from './view/run-view.ts'
import { findTask, isTaskOver } from './view/task-status.ts'

export interface SteerOptions extends StateOptions {
  /** Works in this process; only what goes on can be worked on. */
  readonly foreground?: true
  readonly json?: true
}

const CHANGING_MS_MAX = 15_000
const POLL_MS = 100

const SAID = {
  pause: 'Nothing new is begun; what is under way ends.',
  resume: 'The run goes on.',
  stop: 'Everything that was under way is ended. slipway resume goes on with it.',
} as const

/** What became of a task that was to be stopped; one that was over stays as it was. */
function saidOf(task: AgentRecord): string {
  const { outcome } = taskWorkOf(task)
  if (outcome === null) return SAID.stop
  return outcome === 'canceled'
    ? 'Everything that was under way is ended, and the task is given up.'
    : `The task was over already: ${outcome}.`
}

/** A run that has failed says why, and is no more gone on with than one that is done. */
function runOverAs(view: RunView, how: keyof typeof SAID): string | undefined {
  if (!isRunOver(view)) return undefined
  const { run, status } = view
  if (how !== 'resume' || status !== 'failed') return status
  throw new UsageError(
    `${run} is over: it failed. ${failureReason(view)} slipway run <spec> begins anew.`,
  )
}

/** How it is over, so that it cannot be steered; undefined where it can. */
async function overAs(
  source: RunSource,
  run: string,
  how: keyof typeof SAID,
): Promise<string | undefined> {
  const task = findTask(await source.agents(run))
  if (task === undefined) return runOverAs(await readJudgedView(source, run), how)
  const { outcome } = taskWorkOf(task)
  // To stop a task after its proposal is to decline that.
  if (!isTaskOver(task) || (how === 'stop' && awaitsOperator(outcome))) return undefined
  if (how !== 'resume') return outcome ?? undefined
  throw new UsageError(
    awaitsOperator(outcome)
      ? `${run} waits for you: slipway confirm ${run} has done what it proposes.`
      : `${run} is over: ${outcome}. slipway task --follow-up ${run} "…" has more done to it.`,
  )
}

/** Why there is nothing to steer; what is stopped rests already, and more than what is paused. */
async function idleAs(
  source: RunSource,
  run: string,
  how: keyof typeof SAID,
): Promise<string | undefined> {
  const over = await overAs(source, run, how)
  if (over !== undefined) return `over (${over})`
  const { status } = (await source.runs()).find(({ id }) => id === run) ?? {}
  return how === 'pause' && status === 'stopped' ? status : undefined
}

/**
 * An engine that works on it does that, and where there is none, nobody has to think for it. One
 * that begins or ends at this moment will answer, or be gone.
 */
async function rest(stateFolder: string, run: string, how: 'pause' | 'stop'): Promise<void> {
  const untilMs = Date.now() + CHANGING_MS_MAX
  for (;;) {
    try {
      return await restOnce(stateFolder, run, how)
    } catch (error) {
      const isChanging = error instanceof EngineGoneError || error instanceof StateFolderInUseError
      if (!isChanging || Date.now() > untilMs) throw error
      await sleep(POLL_MS)
    }
  }
}

async function restOnce(stateFolder: string, run: string, how: 'pause' | 'stop'): Promise<void> {
  const control = await connectControl(stateFolder)
  if (control !== undefined) return control[how](run)
  const { setToRest } = await import('./engine/rest.ts')
  await setToRest(stateFolder, run, how)
}

async function readTaskAgent(run: string, options: StateOptions): Promise<AgentRecord | undefined> {
  const { source, close } = await openSource(options)
  return findTask(await source.agents(run).finally(close))
}

/** Goes on with it in this process, to its end. */
async function resumeHere(run: string, options: SteerOptions): Promise<number> {
  const { root, stateFolder } = findPlace(options)
  return workHere(root, stateFolder, run, async (control, leaving) => {
    await control.resume(run)
    const isTask = findTask(await control.agents(run)) !== undefined
    const follow = isTask ? followTask : followToEnd
    return follow(control, run, options, leaving)
  })
}

/** `slipway pause|resume|stop [run]`. All of it can be undone, but the end of a task. */
export async function steer(
  how: keyof typeof SAID,
  name: string | undefined,
  options: SteerOptions,
): Promise<number> {
  const { source, run, close } = await chooseRun(name, options, 'engine')
  const look = async () => ({
    idle: await idleAs(source, run, how),
    // Whoever names no run may not think of the others.
    others: name === undefined && how !== 'resume' ? await readOthers(source, run) : [],
  })
  const { idle, others } = await look().finally(close)
  const also = othersLine(others)
  if (also !== undefined) process.stderr.write(`${run} is the newest. ${also}\n`)
  if (idle !== undefined) {
    if (options.json) process.stdout.write(`${JSON.stringify({ run, command: how, idle })}\n`)
    else process.stderr.write(`${run} is ${idle}: there is nothing to ${how}.\n`)
    return EXIT_CODE.done
  }
  const { root, stateFolder } = findPlace(options)
  if (options.foreground) return resumeHere(run, options)
  if (how === 'resume') await (await reachFreshEngine(root, stateFolder)).resume(run)
  else await rest(stateFolder, run, how)
  if (options.json) process.stdout.write(`${JSON.stringify({ run, command: how })}\n`)
  else {
    const task = how === 'stop' ? await readTaskAgent(run, options) : undefined
    process.stderr.write(`${run}: ${task === undefined ? SAID[how] : saidOf(task)}\n`)
  }
  return EXIT_CODE.done
}
