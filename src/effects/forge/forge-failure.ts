import { GitError } from '../git/git.ts'
import { GitGuardError } from '../guards/git-guard.ts'
import { redact } from '../guards/redaction.ts'
import { machineOf } from '../machine.ts'
import type { ForgeAnswer, ForgeError, ForgeErrorCode } from './forge.ts'

const MESSAGE_CHARS_MAX = 1_000

/** Whether asking again can help. */
const RETRY: Readonly<Record<ForgeErrorCode, ForgeError['retry']>> = {
  rate_limited: 'later',
  unauthorized: 'never',
  not_found: 'never',
  network: 'later',
  server_error: 'later',
  invalid: 'never',
  diverged: 'never',
  storage: 'later',
  aborted: 'later',
}

/** Ends one operation of a forge from within. `answer` turns it into the operation's answer. */
export class ForgeFailure extends Error {
  override readonly name = 'ForgeFailure'
  readonly error: ForgeError

  constructor(code: ForgeErrorCode, message: string, retryAfterMs?: number) {
    super(message)
    const error = { code, message: message.slice(0, MESSAGE_CHARS_MAX), retry: RETRY[code] }
    this.error = retryAfterMs === undefined ? error : { ...error, retryAfterMs }
  }
}

/** Carries out one operation. Rejects only for a bug; known secrets are taken out of messages. */
export async function answer<T>(
  work: () => Promise<T>,
  secrets: readonly string[] = [],
): Promise<ForgeAnswer<T>> {
  try {
    return { ok: true, value: await work() }
  } catch (cause) {
    const { error } = failureOf(cause)
    const message = redact(error.message, secrets)
    const lacking = error.code === 'storage' ? machineOf(cause) : {}
    return { ok: false, error: { ...error, message, ...lacking } }
  }
}

function failureOf(cause: unknown): ForgeFailure {
  if (cause instanceof ForgeFailure) return cause
  if (cause instanceof GitGuardError) return new ForgeFailure('invalid', cause.message)
  if (cause instanceof GitError || isSystemError(cause)) {
    return new ForgeFailure('storage', cause.message)
  }
  throw cause
}

/** A failure of the operating system, such as a full disk. */
function isSystemError(cause: unknown): cause is NodeJS.ErrnoException {
  return cause instanceof Error && 'syscall' in cause && 'code' in cause
}
