/** The state folder cannot be used as it is; the message says why and what to do. */
export class StateFolderError extends Error {
  override readonly name = 'StateFolderError'
}

/** Nothing was begun there yet. */
export class NoJournalError extends StateFolderError {}

/** Another process writes there at present. */
export class StateFolderInUseError extends StateFolderError {}
