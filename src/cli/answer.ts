import { reachEngine } from './engine/reach.ts'
import { EXIT_CODE } from './exit-code.ts'
import { printable } from './printable.ts'
import { answerTo, chooseQuestion, describeAnswer } from './question-choice.ts'
import { findPlace, type StateOptions } from './state-folder.ts'
import { UsageError } from './usage-error.ts'
import { openSource } from './view/open-source.ts'
import { choiceLines } from './view/question-lines.ts'
import { readView } from './view/read-view.ts'
import type { QuestionView } from './view/run-view.ts'

export interface AnswerOptions extends StateOptions {
  readonly json?: true
}

/**
 * `slipway answer [question] [words…]`: answers what only a human can. Without a question's id the
 * one that is open is meant; without anything, the open ones are shown.
 */
export async function answer(words: readonly string[], options: AnswerOptions): Promise<number> {
  const isLook = words.length === 0
  const open = await openQuestions(options, isLook ? 'look' : 'engine')
  if (isLook) return show(open, options)
  const { question, text } = chooseQuestion(open, words)
  const value = answerTo(question, text)
  const { root, stateFolder } = findPlace(options)
  const control = await reachEngine(root, stateFolder)
  const outcome = await control.answer(question.id, value)
  if (outcome === 'not_open') {
    throw new UsageError('The question is not open any more: it timed out, or was answered before.')
  }
  if (options.json) {
    const data = { question: question.id, about: question.about, ...value }
    process.stdout.write(`${JSON.stringify(data)}\n`)
  } else process.stderr.write(`${printable(describeAnswer(value))}\n`)
  return EXIT_CODE.done
}

async function openQuestions(
  options: StateOptions,
  wanted: 'look' | 'engine',
): Promise<readonly QuestionView[]> {
  const { source, close } = await openSource(options, wanted)
  try {
    const runs = await source.runs()
    const views = await Promise.all(runs.map(({ id }) => readView(source, id)))
    return views.flatMap(({ questions }) => questions)
  } finally {
    await close()
  }
}

function show(open: readonly QuestionView[], { json }: AnswerOptions): number {
  if (json) process.stdout.write(`${JSON.stringify(open, null, 2)}\n`)
  else if (open.length === 0) process.stderr.write('Nothing is asked at present.\n')
  else {
    const texts = open.map((asked) => {
      const { id, about, question } = asked
      const lines = [...question.split('\n'), ...choiceLines(asked, ', ', 'choices: ')]
      return printable([`${id}, about ${about}`, ...lines].join('\n  '))
    })
    process.stdout.write(`${texts.join('\n\n')}\n`)
  }
  return open.length === 0 ? EXIT_CODE.done : EXIT_CODE.waiting
}
