/** The state folder cannot be used as it is; the message says why and what to do. */
export class StateFolderError extends Error {
  override readonly name = 'StateFolderError'
}
