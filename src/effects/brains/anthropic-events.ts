/** Those that the library knows. */
const KNOWN: readonly string[] = [
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'ping',
  'error',
]

/**
 * Whether a stream of Anthropic failed over nothing but an event of a new type. Its documentation
 * says that such events will come and are to be passed over; the library calls them errors.
 */
export function isNewEvent(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'AI_TypeValidationError') return false
  const { value } = error as { readonly value?: { readonly type?: unknown } | null }
  const type = value?.type
  return typeof type === 'string' && type !== '' && !KNOWN.includes(type)
}
