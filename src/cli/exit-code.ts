/** What an exit code means, the same for every command. */
export const EXIT_CODE = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Only a human can go on. */
  waiting: 3,
  budget: 4,
  provider: 5,
  interrupted: 130,
} as const
