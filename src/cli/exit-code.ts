/** What the exit code of every command means. */
export const EXIT_CODE = {
  done: 0,
  failed: 1,
  usage: 2,
  waitingForHuman: 3,
  budget: 4,
  provider: 5,
  interrupted: 130,
} as const
