import type { QuestionView } from './run-view.ts'

/** What can be said to a question: what speaks for itself side by side, then what is explained. */
export function choiceLines(
  { choices, does, words }: Pick<QuestionView, 'choices' | 'does' | 'words'>,
  between: string,
  head = '',
): string[] {
  const plain = choices.filter((choice) => !Object.hasOwn(does, choice))
  return [
    ...(plain.length === 0 ? [] : [`${head}${plain.join(between)}`]),
    ...(words === '' ? [] : [`words of your own: ${words}`]),
    ...Object.entries(does).map(([choice, what]) => `${choice}: ${what}`),
  ]
}

/** The same without what comes of it, in one line. */
export function choiceNames(
  { choices, words }: Pick<QuestionView, 'choices' | 'words'>,
  between: string,
): string {
  return [...choices, ...(words === '' ? [] : ['words of your own'])].join(between)
}

/** A choice to show how an answer is typed; to give up is never the one. */
export function exampleAnswer({ choices }: Pick<QuestionView, 'choices'>): string {
  return choices.find((choice) => choice !== 'abandon') ?? '…'
}
