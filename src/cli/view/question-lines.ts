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

/** A choice to show how an answer is typed; to give up is never the one. */
export function exampleAnswer({ choices }: Pick<QuestionView, 'choices'>): string {
  return choices.find((choice) => choice !== 'abandon') ?? '…'
}

/** A text in lines of at most so many characters, broken between words. */
export function wrapWords(text: string, charsMax: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < charsMax)
      lines.push(`${lines.pop()} ${word}`)
    else lines.push(word)
  }
  return lines
}
