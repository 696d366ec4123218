import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openGit } from '../effects/git/git.ts'
import { redact } from '../effects/guards/redaction.ts'
import { openProcesses } from '../effects/process/processes.ts'
import { BoardKeys } from './board-keys.ts'
import { describeChanges } from './changed-files.ts'
import { describeIgnored, loadConfig } from './config/load-config.ts'
import type { NewRun } from './engine/configured-team.ts'
import type { Control } from './engine/control.ts'
import { TEAM_ROLES } from './engine/minds.ts'
import { refuseSameSpec, refuseSpecOf } from './engine/same-spec.ts'
import { EXIT_CODE } from './exit-code.ts'
import { workHere } from './foreground.ts'
import { SPEC_TEMPLATE } from './init-templates.ts'
import { nameAfter, titleOf } from './run-name.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { proseFor } from './terminal-text.ts'
import { typedPath } from './typed-path.ts'
import { UsageError } from './usage-error.ts'
import { evidenceFor } from './view/evidence-output.ts'
import { printTime } from './view/figures.ts'
import { type Followed, type FollowSettings, followRun } from './view/follow.ts'
import { chooseRun } from './view/open-source.ts'
import { readView } from './view/read-view.ts'
import { budgetHint, exitCodeOf, failureReason, unpricedNote } from './view/run-end.ts'
import type { RunSource } from './view/run-source.ts'
import type { RunView } from './view/run-view.ts'

export interface RunOptions extends StateOptions {
  readonly detach?: true
  readonly foreground?: true
  readonly json?: true
  readonly target?: string
  /** A run that the spec is to be a further one of. */
  readonly into?: string
}

const SPEC_CHARS_MAX = 200_000

/** Why a spec cannot be read, in the words of people. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder, and a spec is a file',
  EACCES: 'you may not read it',
}

/** `slipway run <spec>`: starts a run and follows it. */
export async function run(specFile: string, options: RunOptions): Promise<number> {
  const document = await readSpecFile(specFile)
  return startRun(document, false, options)
}

/** `slipway interview [wish]`: as run, but the product manager asks what is to be built. */
export async function interview(wish: string | undefined, options: RunOptions): Promise<number> {
  return startRun(wish ?? 'I would like to have something built.', true, options)
}

async function startRun(document: string, isWish: boolean, options: RunOptions): Promise<number> {
  const { root, stateFolder } = findPlace(options)
  const loaded = await loadConfig(root, process.env)
  const { stderr } = process
  for (const line of describeIgnored(loaded)) stderr.write(proseFor(stderr, `${line}\n`))
  const { id, target } =
    options.into === undefined
      ? {
          id: nameAfter(titleOf(document), 'run'),
          target: options.target ?? loaded.config.target ?? (await currentBranch(root)),
        }
      : await findRun(options.into, options)
  await warnOfChanges(root, target)
  const start: NewRun = { id, document, target, isWish }
  if (options.foreground) {
    return workHere(root, stateFolder, id, async (control, leaving) => {
      await begin(control, start, options)
      return followToEnd(control, id, options, leaving)
    })
  }
  const { reachFreshEngine } = await import('./engine/reach.ts')
  const control = await reachFreshEngine(root, stateFolder, {
    roles: options.into === undefined ? TEAM_ROLES : [],
    refuse: (other) => refuse(other, start, options),
  })
  await begin(control, start, options)
  if (options.detach) {
    const data = { run: id, state: stateFolder }
    process.stdout.write(options.json ? `${JSON.stringify(data)}\n` : `${id}\n`)
    process.stderr.write(`The run goes on by itself. slipway watch ${id} shows it.\n`)
    return EXIT_CODE.done
  }
  return followToEnd(control, id, options)
}

/** Whoever has not committed something may think that it is built on. */
async function warnOfChanges(root: string, target: string): Promise<void> {
  const changes = await describeChanges({ root, git: join(root, '.git') })
  if (changes === undefined) return
  process.stderr.write(`${changes}: the run works from the last commit on ${target}.\n`)
}

/** Throws what stands in the way, whatever engine is asked. */
async function refuse(control: Control, run: NewRun, { into }: RunOptions): Promise<void> {
  const stored = { ...run, document: redact(run.document) }
  if (into !== undefined) return refuseSpecOf(control, stored)
  await refuseSameSpec(control, stored)
  await control.takeIn(run.target)
}

/** Starts the run, or brings the spec to the one that was named. */
async function begin(control: Control, run: NewRun, { into }: RunOptions): Promise<void> {
  const { id, document, isWish } = run
  if (into === undefined) await control.start(run)
  else await control.bring(id, { document, isWish })
  const note = unpricedNote(await readView(control, id))
  if (note !== undefined) process.stderr.write(proseFor(process.stderr, `${note}\n`))
}

async function readSpecFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = UNREADABLE[error.code ?? ''] ?? error.message
    throw new UsageError(`${file}: ${why}. slipway init writes a spec.md to fill in.`)
  })
  if (text.trim() === '') throw new UsageError(`${file} is empty.`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\0-\x08\x0e-\x1f\uFFFD]/.test(text)) throw new UsageError(`${file} is not a text in UTF-8.`)
  if (text === SPEC_TEMPLATE) {
    throw new UsageError(`${file} is as slipway init wrote it. Say in it what is to be built.`)
  }
  if (text.length <= SPEC_CHARS_MAX) return text
  throw new UsageError(
    `${file} has ${text.length} characters; at most ${SPEC_CHARS_MAX} are taken.`,
  )
}

/** The branch that is checked out. Throws a usage error where there is none. */
export async function currentBranch(root: string): Promise<string> {
  const processes = openProcesses(root)
  // In a further work tree .git is a file, in which nothing can be started.
  const options = { repository: join(root, '.git'), workTree: root, accept: [0, 1, 128] }
  const args = ['symbolic-ref', '--quiet', '--short', 'HEAD']
  const { text } = await openGit(processes)
    .run(args, options)
    .finally(() => processes.close())
  if (text !== '') return text
  throw new UsageError('No branch is checked out. Name the one to merge into with --target.')
}

/** The run that was named, and the branch that it merges into, whatever is checked out. */
async function findRun(name: string, options: RunOptions): Promise<Pick<NewRun, 'id' | 'target'>> {
  const { source, run, close } = await chooseRun(name, options, 'engine')
  const { target } = await readView(source, run).finally(close)
  return { id: run, target: target ?? '' }
}

/**
 * Follows a run to its end; leaving it leaves it going. What is asked can be answered where the
 * source is an engine.
 */
export async function followToEnd(
  source: RunSource | Control,
  id: string,
  options: Pick<RunOptions, 'json' | 'state'>,
  ending?: AbortSignal,
): Promise<number> {
  const out = process.stderr
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  const isOurs = ending === undefined
  const signal = ending ?? leaving.signal
  if (isOurs) process.once('SIGINT', leave)
  const interrupt = () => process.kill(process.pid, 'SIGINT')
  const keys =
    out.isTTY && 'answer' in source
      ? new BoardKeys({ control: source, out, ...(isOurs && { leave }), interrupt, signal })
      : undefined
  const ways = isOurs ? 'q leaves the board, the run goes on' : 'Ctrl-C pauses the run'
  // Beside an engine that does not answer nobody can, and no key is listened to.
  const hint = keys ? `a answers what is asked, ${ways}` : 'Ctrl-C leaves the board'
  const view = await followRun(source, id, {
    as: out.isTTY ? 'board' : 'lines',
    isUnattended: !out.isTTY,
    isWorkHere: !isOurs,
    out,
    hint,
    signal,
    attend: async (view) => keys?.attend(view) ?? false,
    ...healthOf(source),
    describeOutage: (view) => describeOutage(view, options, !isOurs),
  }).finally(() => {
    keys?.close()
    process.off('SIGINT', leave)
  })
  const isOver = view.status === 'done' || view.status === 'failed'
  if (!isOver && signal.aborted) {
    const kept = `The run ${id} is kept. slipway resume ${id} goes on with it.`
    const left = `The run goes on without the board. slipway watch ${id} comes back to it.`
    out.write(proseFor(out, `${isOurs ? left : kept}\n`))
    return EXIT_CODE.interrupted
  }
  process.stdout.write(await evidenceFor(source, id, options.json ? 'json' : 'text'))
  // They end with commands, which can be copied only as long as they are not broken.
  for (const line of closingLines(view)) out.write(`${line}\n`)
  if (view.status === 'done') out.write(await describeResult(view, options))
  return view.isOut ? EXIT_CODE.provider : exitCodeOf(view)
}

/** How an engine is doing, where it is one that is followed. */
export function healthOf(source: RunSource | Control): Pick<FollowSettings, 'readHealth'> {
  if (!('condition' in source)) return {}
  // An older one does not know the question, and one that ends is noticed by others.
  return {
    readHealth: () =>
      source.condition().then(
        ({ health }) => health,
        () => null,
      ),
  }
}

/** How long a service is waited for, and what helps where the key is refused. */
async function describeOutage(
  { run, agents }: RunView,
  options: StateOptions,
  isWorkHere: boolean,
): Promise<string> {
  const { config } = await loadConfig(findPlace(options).root, process.env)
  const { probeSeconds, minutes } = config.outage
  const waits = `What does not answer is asked again every ${probeSeconds} s, for ${minutes} min.`
  const isKeyRefused = agents.some(({ outage }) => outage?.startsWith('auth'))
  const untilMs = Math.max(...agents.map(({ outageUntilMs }) => outageUntilMs ?? 0))
  if (!isKeyRefused && untilMs > 0 && config.outage.waitForReset) {
    return `It asked to be left alone until ${printTime(untilMs)}, and is asked again then. What is suspended goes on after that.`
  }
  if (!isKeyRefused) return `${waits} What is suspended goes on when it is back.`
  const again = isWorkHere
    ? `press Ctrl-C twice, set another, and type slipway resume ${run} --foreground`
    : `set another, and type slipway resume ${run}`
  return `${waits} If the key is wrong, ${again}`
}

/** How the work is taken over; on another forge it is where the user expects it. */
async function describeResult({ target }: Followed, options: StateOptions): Promise<string> {
  const { root, stateFolder } = findPlace(options)
  const { config } = await loadConfig(root, process.env)
  if (config.forge.kind !== 'local' || target === null) return ''
  const mirror = typedPath(join(stateFolder, 'git', 'mirror.git'), root, process.cwd())
  return `Take it over: git fetch ${mirror} ${target} && git merge FETCH_HEAD\n`
}

/** Why it did not come to its end, and what to type. */
function closingLines(view: Followed): readonly string[] {
  const { status, run, questions, isOut } = view
  const hint = budgetHint(view)
  const lines = hint === undefined ? [] : [hint]
  if (isOut) lines.push(`The services do not come back. slipway watch ${run} waits for them again.`)
  const reason = failureReason(view)
  if (reason !== undefined) lines.push(reason)
  if (status === 'paused' || status === 'stopped') {
    lines.push(`The run is ${status}. slipway resume ${run} goes on with it.`)
  }
  if (status !== 'waiting' || hint !== undefined) return lines
  const asked = questions.length === 1 ? 'a question' : `${questions.length} questions`
  return [`Only you can go on with ${run}: slipway answer shows ${asked}.`]
}
