import type { Git } from '../git/git.ts'
import { changeRefs } from '../git/refs.ts'

/** Second copies of the records of pull requests, for when the first is damaged or lost. */
export interface RecordCopies {
  /** The numbers that there are copies of. */
  list(): Promise<readonly number[]>
  /** A copy as it was written; undefined when it cannot be read. */
  read(number: number): Promise<string | undefined>
  write(number: number, text: string): Promise<void>
}

/** So many numbers are looked for at once; a gap of as many ends the search. */
const AT_ONCE = 100

/** Keeps copies in a repository, beside the heads that were handed in. */
export function copiesInGit(git: Git, repository: string): RecordCopies {
  const refOf = (number: number) => `refs/pull/${number}/record`
  return {
    async list() {
      const listed: number[] = []
      for (let first = 1; ; first += AT_ONCE) {
        const numbers = Array.from({ length: AT_ONCE }, (_, i) => first + i)
        const found = await git.find(repository, numbers.map(refOf))
        listed.push(...numbers.filter((_, i) => found[i] !== undefined))
        // Numbers are given one after the other.
        if (found.every((blob) => blob === undefined)) return listed
      }
    },
    async read(number) {
      const args = ['cat-file', 'blob', refOf(number)]
      const { exitCode, text } = await git.run(args, { repository, accept: [0, 1, 128] })
      return exitCode === 0 ? text : undefined
    },
    async write(number, text) {
      const hash = ['hash-object', '-w', '--stdin']
      const { text: blob } = await git.run(hash, { repository, stdin: text })
      await changeRefs(git, repository, [{ ref: refOf(number), to: blob }])
    },
  }
}
