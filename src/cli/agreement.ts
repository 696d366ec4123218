import { createInterface } from 'node:readline'
import { UsageError } from './usage-error.ts'

/** Asks a user, and whatever is not yes is no. Throws a usage error where nobody can be asked. */
export async function agree(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError('There is no terminal to ask at. Look at what it sets, and pass --yes.')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await new Promise<string>((resolve) => {
    terminal.question(`${question} [y/N] `, resolve)
    // The end of the input is no answer, and an interruption ends more than the question.
    terminal.on('close', () => resolve(''))
    terminal.on('SIGINT', () => {
      terminal.close()
      process.kill(process.pid, 'SIGINT')
    })
  })
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}
