/** What an exit code means, the same for every command. */
export const EXIT_CODE = {
  done: 0,
  failed: 1,
  usage: 2,
} as const
