import type { Git } from '../../src/effects/git/git.ts'

/** The process ends here; nothing after it happens. */
export class Crash extends Error {}

/** Git that ends the process at its n-th command, before or after git has done it. */
export function crashingGit(git: Git, atCommand: number, when: 'before' | 'after'): Git {
  let count = 0
  return {
    async find(repository, names) {
      if (count >= atCommand) throw new Crash()
      return git.find(repository, names)
    },
    async run(args, options) {
      count += 1
      if (count > atCommand) throw new Crash()
      if (count < atCommand) return git.run(args, options)
      if (when === 'after') await git.run(args, options)
      throw new Crash(`${when} ${args.find((arg) => !arg.startsWith('-') && !arg.includes('='))}`)
    },
  }
}
