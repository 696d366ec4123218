/** A provider that is missing, or does not let us in; the message says what to do about it. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
}
