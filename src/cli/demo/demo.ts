import { cp, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DEFAULT_LIMITS, ledgerOf } from '../../agents/team/protocol.ts'
import type { EffectId } from '../../agents/values.ts'
import { doEach } from '../../effects/do-each.ts'
import { openGit } from '../../effects/git/git.ts'
import { openProcesses } from '../../effects/process/processes.ts'
import { BoardKeys } from '../board-keys.ts'
import { serveControl } from '../engine/control.ts'
import { controlOf } from '../engine/engine.ts'
import { unconfinedNote } from '../engine/isolation-of-runs.ts'
import type { RunStart, Team } from '../engine/team.ts'
import { EXIT_CODE } from '../exit-code.ts'
import { printable } from '../printable.ts'
import { prepareStateFolder } from '../state-folder.ts'
import { styleFor } from '../style.ts'
import { columnsOf } from '../terminal-size.ts'
import { proseFor } from '../terminal-text.ts'
import { gatherEvidence } from '../view/evidence.ts'
import { printEvidence } from '../view/evidence-text.ts'
import { printMoney } from '../view/figures.ts'
import { followRun } from '../view/follow.ts'
import { journalSource } from '../view/run-source.ts'
import type { QuestionView, RunView } from '../view/run-view.ts'
import {
  DEMO_BRAIN,
  DEMO_FOLDER,
  DEMO_PRICES,
  DEMO_RUN,
  DEMO_TESTS,
  markDemo,
  openDemo,
} from './demo-team.ts'

export interface DemoOptions {
  readonly json?: true
}

const CODERS = 4

/** How long the demo waits for an answer before it gives one: on a terminal somebody may type. */
const ANSWER_AFTER_MS = { terminal: 8_000, elsewhere: 2_500 }

/** It asks one question. Who has to be answered more often goes round in a circle. */
const ANSWERS_MAX = 3

/** `slipway demo`: a whole run on a small repository, in which only the model is scripted. */
export async function demo({ json }: DemoOptions): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-demo-'))
  const repository = join(folder, 'tally')
  await makeRepository(repository)
  const talk = process.stderr
  const style = styleFor(talk)
  const say = (text: string) => talk.write(proseFor(talk, text))
  say(`${style.bold('slipway demo')}: seven stories on a small repository, ${repository}\n`)
  say('Everything is real but the model: clones, edits, tests, reviews, merges.\n')
  if (talk.isTTY) {
    say('It asks one question. Press a to answer it, or use a second terminal, or wait a moment:\n')
    say(`  cd ${repository} && ${ownCommand()} answer\n`)
  }
  const stateFolder = join(repository, '.slipway')
  prepareStateFolder(stateFolder)
  const opened = await openDemo(stateFolder)
  markDemo(stateFolder)
  const { team } = opened
  const control = controlOf(opened)
  const server = await serveControl(stateFolder, control, null)
  const note = unconfinedNote(team.isolation)
  if (note === null) say(style.dim(`${printable(team.isolation.description)}\n\n`))
  else say(style.warn(`${printable(note)} Here the demo wrote them.\n\n`))
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  const stuck = new AbortController()
  const signal = AbortSignal.any([interrupted.signal, stuck.signal])
  process.once('SIGINT', interrupt)
  const isBoard = talk.isTTY && !json
  const keys = isBoard
    ? new BoardKeys({ control, out: talk, leave: interrupt, interrupt, signal })
    : undefined
  try {
    await team.start(await startOf(repository))
    const view = await followRun(journalSource(team.journal), DEMO_RUN, {
      as: isBoard ? 'board' : 'lines',
      isWorkHere: true,
      out: talk,
      hint: 'a answers what is asked, q leaves the demo',
      signal,
      onView: answerWhenDue(team, talk, () => stuck.abort()),
      attend: async (view) => keys?.attend(view) ?? false,
    })
    if (interrupted.signal.aborted) {
      say(`The demo was left before its end. What it made is in ${repository}\n`)
      talk.write(`It goes on with: cd ${repository} && ${ownCommand()} resume --foreground\n`)
      return EXIT_CODE.interrupted
    }
    return await report(team, view, repository, json ?? false)
  } finally {
    keys?.close()
    process.off('SIGINT', interrupt)
    await doEach(
      () => server.close(),
      () => team.close(),
    )
  }
}

/** How this very program is started, also by somebody who has not installed it. */
function ownCommand(): string {
  const program = process.argv[1] ?? ''
  return basename(program) === 'slipway' ? 'slipway' : `node ${program}`
}

async function makeRepository(repository: string): Promise<void> {
  await cp(new URL('repository/', DEMO_FOLDER), repository, { recursive: true })
  const processes = openProcesses(repository)
  const git = openGit(processes)
  const own = { repository: join(repository, '.git'), workTree: repository }
  try {
    await git.run(['init', '--quiet', '--template=', '--initial-branch=main', repository])
    await git.run(['add', '--all'], own)
    await git.run(['commit', '--quiet', '--message', 'Count characters'], own)
  } finally {
    await processes.close()
  }
}

async function startOf(repository: string): Promise<RunStart> {
  const mind = {
    brain: DEMO_BRAIN,
    contextTokens: 100_000,
    outputTokensMax: 4_096,
    price: { inputPerMillion: DEMO_PRICES.input * 1e6, outputPerMillion: DEMO_PRICES.output * 1e6 },
    ledger: ledgerOf(DEMO_RUN),
  }
  return {
    id: DEMO_RUN,
    repository,
    settings: {
      run: DEMO_RUN,
      target: 'main',
      minds: { pm: mind, architect: mind, coder: mind },
      limits: { ...DEFAULT_LIMITS, codingTurns: 4 },
      planReview: 'model',
      tests: { commands: [{ argv: [...DEMO_TESTS.argv] }] },
    },
    spec: {
      document: await readFile(new URL('spec.md', DEMO_FOLDER), 'utf8'),
      preview: 'auto',
      isWish: false,
    },
    coders: CODERS,
    architects: 2,
    revisions: { coder: 'F', architect: 'I' },
    budget: { run: { microdollarsMax: 5_000_000 }, story: {}, allowUnpriced: false },
  }
}

/** Answers what only a human may answer, when no human has after a moment; not for ever. */
function answerWhenDue(
  team: Team,
  talk: NodeJS.WriteStream,
  giveUp: () => void,
): (view: RunView) => void {
  const answered = new Set<string>()
  const afterMs = ANSWER_AFTER_MS[talk.isTTY ? 'terminal' : 'elsewhere']
  const isDue = ({ id, askedMs }: QuestionView) =>
    !answered.has(id) && Date.now() - askedMs > afterMs
  return ({ questions }) => {
    for (const question of questions.filter(isDue)) {
      if (answered.size === ANSWERS_MAX) return giveUp()
      answered.add(question.id)
      const [choice = 'go on'] = question.choices
      void team.runtime.answer(question.id as EffectId, { choice, text: choice })
      if (!talk.isTTY) talk.write(`          the demo answers for you: ${choice}\n`)
    }
  }
}

async function report(
  team: Team,
  view: RunView,
  repository: string,
  json: boolean,
): Promise<number> {
  const evidence = await gatherEvidence(journalSource(team.journal), DEMO_RUN)
  const args = ['log', '--oneline', '--no-decorate', 'main']
  const { text: log } = await team.git.run(args, { repository: team.repositories.mirror })
  const isDone = view.status === 'done' && evidence.isComplete
  if (json) {
    const commits = log.split('\n')
    const data = { status: view.status, isComplete: evidence.isComplete, evidence, commits }
    process.stdout.write(`${JSON.stringify({ ...data, spent: view.spent, repository }, null, 2)}\n`)
    return isDone ? EXIT_CODE.done : EXIT_CODE.failed
  }
  const style = styleFor(process.stdout)
  const price = `$${DEMO_PRICES.input} and $${DEMO_PRICES.output} for a million tokens`
  process.stdout.write(
    [
      '',
      printEvidence(evidence, style, columnsOf(process.stdout, 100)),
      '',
      style.bold('Commits on main'),
      log,
      '',
      proseFor(
        process.stdout,
        `It would have cost ${printMoney(view.spent)} with a model at ${price}.`,
      ),
      isDone ? style.good('Done: every criterion is shown.') : style.warn('Not done.'),
      '',
      'Look at it:',
      `  git -C ${repository} fetch .slipway/git/mirror.git main:tally-done`,
      `  ${ownCommand()} replay ${DEMO_RUN} --state ${join(repository, '.slipway')}`,
      'Then, in a repository of your own:',
      `  ${ownCommand()} init`,
      '',
    ].join('\n'),
  )
  return isDone ? EXIT_CODE.done : EXIT_CODE.failed
}
