import { describeCondition } from './engine-condition.ts'
import { EXIT_CODE } from './exit-code.ts'
import { jsonText } from './json-text.ts'
import { printable } from './printable.ts'
import type { StateOptions } from './state-folder.ts'
import { styleFor } from './style.ts'
import { columnsOf } from './terminal-size.ts'
import { proseFor } from './terminal-text.ts'
import { drawBoard } from './view/board.ts'
import { chooseRun } from './view/open-source.ts'
import { asksElsewhere, othersLine, readJudgedView, readOthers } from './view/read-view.ts'
import { exitCodeOf } from './view/run-end.ts'
import type { RunSource } from './view/run-source.ts'
import type { RunView } from './view/run-view.ts'
import { findTask, taskExitCode } from './view/task-status.ts'

export interface StatusOptions extends StateOptions {
  readonly json?: true
}

/** `slipway status [run]`: the run as it is now. */
export async function status(name: string | undefined, options: StatusOptions): Promise<number> {
  const { source, run, hasEngine, readCondition, close } = await chooseRun(name, options)
  try {
    const engine = await readCondition()
    const view = await readJudgedView(source, run)
    const others = await readOthers(source, run)
    const { stdout } = process
    if (options.json) stdout.write(`${jsonText({ ...view, hasEngine, engine, others })}\n`)
    else {
      const lines = drawBoard(view, {
        style: styleFor(stdout),
        columns: columnsOf(stdout),
        rows: Infinity,
        nowMs: Date.now(),
        news: [],
        hint: '',
        isAskedElsewhere: await asksElsewhere(source, view),
      })
      const also = othersLine(others)
      stdout.write(`${lines.join('\n').trimEnd()}\n${also === undefined ? '' : `\n${also}\n`}`)
    }
    if (view.status === 'running' && !hasEngine) {
      const note = `Nobody works on it: its process has ended. slipway resume ${run} goes on with it.\n`
      process.stderr.write(proseFor(process.stderr, note))
    }
    for (const line of describeCondition(engine, view.isolation)) {
      process.stderr.write(proseFor(process.stderr, `${printable(line)}\n`))
    }
    return await exitCodeFor(source, view)
  } finally {
    await close()
  }
}

/** One that is under way, or rests, is nothing to worry about. */
async function exitCodeFor(source: RunSource, view: RunView): Promise<number> {
  if (view.status !== 'waiting' && view.status !== 'failed') return EXIT_CODE.done
  const task = findTask(await source.agents(view.run))
  return task === undefined ? exitCodeOf(view) : taskExitCode(task)
}
