/** The user asked for something that does not exist or makes no sense; the message names the fix. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
